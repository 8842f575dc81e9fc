/**
 * An independent implementation of the reference's permission rules, which the responses of the server are compared with. It does not use any code of
 * the server.
 */

/** The callers. `nobody` has no key. */
export type Person = 'ann' | 'bob' | 'cyd' | 'nobody'
export const people: readonly Person[] = ['ann', 'bob', 'cyd', 'nobody']
export type Role = 'Viewer' | 'Editor' | 'Admin'
export const roles: readonly Role[] = ['Viewer', 'Editor', 'Admin']
export type Kind = 'space' | 'collection' | 'dataset' | 'file'

export interface Thing {
  readonly kind: Kind
  readonly id: string
  readonly author: Person
  name: string
  isGone: boolean
}
export interface Space extends Thing {
  readonly kind: 'space'
  access: 'TRIAL' | 'PRIVATE' | 'PUBLIC'
  readonly members: Map<Person, Role>
}
export interface Collection extends Thing {
  readonly kind: 'collection'
  isTrashed: boolean
  readonly spaces: Set<Space>
  readonly rootSpaces: Set<Space>
  readonly parents: Set<Collection>
}
export interface Dataset extends Thing {
  readonly kind: 'dataset'
  access: 'DEFAULT' | 'PRIVATE' | 'PUBLIC'
  isTrashed: boolean
  readonly spaces: Set<Space>
  readonly collections: Set<Collection>
  tags: string[]
  readonly comments: string[]
}
export interface Folder {
  readonly id: string
  dataset: Dataset
  parent: Folder | undefined
  name: string
  isGone: boolean
}
export interface Place {
  readonly dataset: Dataset
  readonly folder: Folder | undefined
}
export interface File extends Thing {
  readonly kind: 'file'
  places: Place[]
  readonly content: string
  tags: string[]
  readonly comments: string[]
}
export type AnyThing = Space | Collection | Dataset | File

const onlyAdmins: ReadonlySet<string> = new Set(['DeleteSpace', 'EditSpace', 'DeleteDataset', 'DeleteCollection', 'DeleteFile'])

const roleHolds = (role: Role | undefined, permission: string): boolean =>
  role !== undefined && (permission.startsWith('View') || role === 'Admin' || (role === 'Editor' && !onlyAdmins.has(permission)))

const viewOf: Readonly<Record<Kind, string>> = {
  space: 'ViewSpace',
  collection: 'ViewCollection',
  dataset: 'ViewDataset',
  file: 'ViewFile',
}

/** Permissions that roles still grant in the trash: to purge the whole resource, and to restore it. */
const purging: Readonly<Partial<Record<Kind, string>>> = { dataset: 'DeleteDataset', collection: 'DeleteCollection' }

export const isPurging = (permission: string, { kind }: AnyThing): boolean => purging[kind] === permission

const isPublic = (thing: Space | Collection | Dataset): boolean => {
  if (thing.kind === 'space') return thing.access === 'PUBLIC'
  if (thing.kind === 'dataset' && thing.access !== 'DEFAULT') return thing.access === 'PUBLIC'
  return [...thing.spaces].some(space => space.access === 'PUBLIC')
}

const isTrashed = (thing: Space | Collection | Dataset): boolean => thing.kind !== 'space' && thing.isTrashed

/** The existing datasets of a file. */
export const datasetsOf = (file: File): readonly Dataset[] => [
  ...new Set(file.places.map(({ dataset }) => dataset).filter(dataset => !dataset.isGone)),
]

export const exists = (thing: AnyThing): boolean =>
  !thing.isGone && (thing.kind !== 'file' || thing.places.length === 0 || datasetsOf(thing).length > 0)

/** Whether a resource is in the trash, directly or because all of its parents are. */
export const isOutOfSight = (thing: AnyThing): boolean => {
  if (thing.kind !== 'file') return isTrashed(thing)
  return thing.places.length > 0 && datasetsOf(thing).every(dataset => dataset.isTrashed)
}

const holdsByRole = (person: Person, permission: string, thing: Space | Collection | Dataset): boolean => {
  const spaces = thing.kind === 'space' ? [thing] : [...thing.spaces]
  return spaces.some(space => !space.isGone && roleHolds(space.members.get(person), permission))
}

/** The rules for a server that is private or public. */
export class Rights {
  readonly isPrivate: boolean

  constructor(isPrivate: boolean) {
    this.isPrivate = isPrivate
  }

  may(person: Person, permission: string, thing: AnyThing): boolean {
    if (!exists(thing)) return false
    if (person === thing.author) return true
    if (thing.kind === 'file') return this.#mayOnFile(person, permission, thing)
    const isForRoles = !isTrashed(thing) || isPurging(permission, thing)
    if (isForRoles && holdsByRole(person, permission, thing)) return true
    return !isTrashed(thing) && permission.startsWith('View') && (!this.isPrivate || isPublic(thing))
  }

  /** A file is deleted from all its datasets, so each of them has to grant that; beside a live one, those in the trash count as before. */
  #mayOnFile(person: Person, permission: string, file: File): boolean {
    const datasets = datasetsOf(file)
    if (permission !== 'DeleteFile') return datasets.some(dataset => this.may(person, permission, dataset))
    const grants = (dataset: Dataset): boolean =>
      person === dataset.author || ((!dataset.isTrashed || !isOutOfSight(file)) && holdsByRole(person, permission, dataset))
    return datasets.length > 0 && datasets.every(grants)
  }

  /** Whether a caller with this right gets the error that the resource is in the trash. */
  isFrozen(person: Person, permission: string, thing: AnyThing): boolean {
    return this.may(person, permission, thing) && isOutOfSight(thing) && this.may(person, viewOf[thing.kind], thing)
  }

  /** Whether the resource is in lists for this caller. */
  sees(person: Person, thing: AnyThing): boolean {
    return !isOutOfSight(thing) && this.may(person, viewOf[thing.kind], thing)
  }

  /** Status of the refusal for a caller without this permission; `isReading` for routes that change nothing. */
  refusal(person: Person, permission: string, thing: AnyThing, isReading: boolean): number {
    const isSeen = viewOf[thing.kind] !== permission && this.may(person, viewOf[thing.kind], thing)
    if (person === 'nobody' && !(isReading && !isSeen && !this.isPrivate)) return 401
    return isSeen ? 403 : 404
  }
}
