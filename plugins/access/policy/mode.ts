import { type Membership, type Permission, readingPermissions } from 'pounce/sdk'

/** How the installation is set. */
export interface Mode {
  readonly isPrivate: boolean
  /** Everybody who may look at something may also download it. */
  readonly isDownloadOpen: boolean
  /** Everybody may read geostreams, on a private server too. */
  readonly areGeostreamsOpen: boolean
}

/** True of what everybody may do on a public server, and on public things of a private one. */
export const isReading = (mode: Mode, permission: Permission): boolean =>
  readingPermissions.has(permission) || (mode.isDownloadOpen && permission === 'DownloadFiles')

/** True of what everybody may read, signed in or not, whatever it is in. */
export const isOpen = (mode: Mode, permission: Permission): boolean =>
  isReading(mode, permission) && (!mode.isPrivate || (permission === 'ViewGeoStream' && mode.areGeostreamsOpen))

/** Where downloads are open, a role that lets one see files lets one download them (Clowder 1.x, Permission.READONLY). */
export const roleHolds = (mode: Mode, membership: Membership, permission: Permission): boolean =>
  membership.permissions.has(permission) ||
  (mode.isDownloadOpen && permission === 'DownloadFiles' && membership.permissions.has('ViewFile'))
