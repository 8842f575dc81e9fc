import type { Column } from '../callers.ts'
import type { Mode } from './letters.ts'
import { looks, ofExtractionKeys, ofReadOnlyAccounts, readOnly, roles } from './roles.ts'

/** The properties of a caller: its role in the space `lab`, the status of its account, and the limits of its key. */
interface Who {
  readonly role?: ReadonlySet<string>
  readonly isAnonymous?: true
  /** Status Admin. */
  readonly isServerAdmin?: true
  /** The same with `superAdmin=true`. */
  readonly isSuperAdmin?: true
  /** Permissions that the status of the account or the key allows; all by default. */
  readonly lets?: (permission: string) => boolean
  /** A key limited to a space that is unrelated to the states. */
  readonly isElsewhere?: true
}

/** `author` is not a member of any space and therefore only has the rights of an author. The keys are those of `spaceAdmin`. */
export const callers: Readonly<Record<Column, Who>> = {
  anonymous: { isAnonymous: true },
  stranger: {},
  viewer: { role: roles.viewer },
  editor: { role: roles.editor },
  grouped: { role: roles.editor },
  spaceAdmin: { role: roles.admin },
  author: {},
  readOnly: { role: roles.admin, lets: permission => ofReadOnlyAccounts.has(permission) },
  serverAdmin: { isServerAdmin: true },
  superAdmin: { isServerAdmin: true, isSuperAdmin: true },
  extractor: { role: roles.admin, lets: permission => ofExtractionKeys.has(permission) },
  readKey: { role: roles.admin, lets: looks },
  otherSpaceKey: { role: roles.admin, lets: looks, isElsewhere: true },
}

/** Geostreams have the rights of their sensor; everyone may view them if `makeGeostreamsPublicReadable` is on. A public space does not publish them (0032). */
const readings: ReadonlySet<string> = new Set(['sensor', 'stream', 'datapoint'])

/** The permission without which a resource is hidden. Attached resources have the permission of their parent. */
const looking: Readonly<Record<string, string>> = {
  space: 'ViewSpace',
  collection: 'ViewCollection',
  dataset: 'ViewDataset',
  folder: 'ViewDataset',
  file: 'ViewFile',
  section: 'ViewSection',
  preview: 'ViewFile',
  thumbnail: 'ViewFile',
  metadata: 'ViewMetadata',
  comment: 'ViewComments',
  relation: 'ViewRelation',
  vocabulary: 'ViewVocabulary',
  term: 'ViewVocabularyTerm',
  definition: 'ViewSpace',
  logo: 'ViewSpace',
  logoPath: 'ViewSpace',
  sensor: 'ViewGeoStream',
  stream: 'ViewGeoStream',
  datapoint: 'ViewGeoStream',
  user: 'ViewUser',
  mail: 'ViewUser',
}

/** A resource, by its kind and its state from the caller's point of view. */
export interface Thing {
  readonly kind: string
  readonly state: string
}

const isUser = ({ kind }: Thing): boolean => kind === 'user' || kind === 'mail'

const liesInLab = ({ state }: Thing): boolean => ['lab', 'archived', 'attached', 'trashed', 'trashedShared', 'halfTrashed'].includes(state)

/** Author of file, dataset, collection, creator of a space, user agent of metadata, the account itself. */
const owns = (caller: Column, thing: Thing): boolean => thing.state === 'own' || (caller === 'author' && liesInLab(thing))

const isPublic = (mode: Mode, { kind, state }: Thing): boolean =>
  mode === 'public' || (readings.has(kind) ? mode === 'private' : state === 'shown')

/** Rights that affect a file everywhere: a role needs them in each of its datasets (0021). */
const undivided: ReadonlySet<string> = new Set(['DeleteFile', 'ArchiveFile'])

/** True if the caller's role in a space of the resource contains the permission. */
export const holdsByRole = (caller: Column, permission: string, thing: Thing): boolean => {
  const { role, lets = () => true, isElsewhere } = callers[caller]
  if (thing.state === 'attached' && undivided.has(permission)) return false
  return isElsewhere !== true && liesInLab(thing) && lets(permission) && role?.has(permission) === true
}

/** Rights on accounts: the user, server admins, and for viewing also members of a common space (0021). */
const holdsOnUser = (mode: Mode, caller: Column, permission: string, thing: Thing): boolean => {
  const { role, isServerAdmin } = callers[caller]
  if (thing.state === 'own' || isServerAdmin) return true
  return permission === 'ViewUser' && (mode === 'public' || (thing.state === 'lab' && role !== undefined))
}

/**
 * `owner`: only owners and superadmin mode. `author`: only the author. `live`: anybody, if it is not in the trash. `reading`: anybody, and the request
 * only reads, regardless of its method.
 */
export type By = 'anybody' | 'owner' | 'author' | 'live' | 'reading'

/** Superadmin and owner: always. Otherwise by a role in a space of the resource, or if it is public and the permission READONLY (api-platform §2). */
export const holds = (mode: Mode, caller: Column, permission: string, thing: Thing, by: By = 'anybody'): boolean => {
  const { isSuperAdmin, isElsewhere, lets = () => true } = callers[caller]
  if (isElsewhere) return isUser(thing) && thing.state === 'own' && permission === 'ViewUser'
  if (!lets(permission)) return false
  if (isUser(thing)) return holdsOnUser(mode, caller, permission, thing)
  if (owns(caller, thing) || (isSuperAdmin && by !== 'author')) return true
  if (by === 'owner' || by === 'author') return false
  return holdsByRole(caller, permission, thing) || (isPublic(mode, thing) && readOnly.has(permission))
}

/** False if the resource is hidden from the caller. */
export const sees = (mode: Mode, caller: Column, thing: Thing): boolean => holds(mode, caller, looking[thing.kind] ?? '', thing)
