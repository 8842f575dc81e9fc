import { collection } from 'pounce/sdk'

/** A file that was registered, as it was then. */
export interface Registration {
  /** Absolute, with links resolved. */
  readonly path: string
  readonly sizeBytes: number
  readonly sha256: string
  /** Time of the last change in nanoseconds, as text: it is more than a number holds. */
  readonly modifiedNs: string
  readonly registered: string
}

/** Registered files, found by id only. */
export const registrations = collection<Registration>('in-place-files')

const prefix = 'in-place/'

export const keyOf = (id: string): string => `${prefix}${id}`

/** The id in a key of ours; undefined for the store's own keys. */
export const idIn = (key: string): string | undefined => (key.startsWith(prefix) ? key.slice(prefix.length) : undefined)
