import { type Collection, type Index, isScalar, keysOf, leavesAt, type Scalar, type Stored } from 'pounce/sdk'
import { encode } from './text-keys.ts'

/** A document as MongoDB holds it. A tombstoned one with events still to be handed on has none of `r`, `b`, `d` and `k`. */
export interface Kept {
  readonly _id: string
  /** Revision. */
  readonly r?: number
  /** Made anew by each insert, so that a document is told from one of the same id and revision that it replaced. */
  readonly b?: string
  /** The document as JSON text. */
  readonly d?: string
  /** What indexes are made of: a field for each indexed path, null when absent, an array when the path may hold one. */
  readonly k?: Readonly<Record<string, Scalar | readonly Scalar[]>>
  /** A field for each unique index: the key as text, or one that nobody else has when a part of it is null. */
  readonly u: Readonly<Record<string, string>>
  /** Events that are still to be handed on. */
  readonly ev: readonly KeptEvent[]
  readonly gone?: boolean
}

/** An event inside the document that it came with. */
export interface KeptEvent {
  readonly id: string
  /** When it was committed, in milliseconds: a sweep looks for those that nobody handed on. */
  readonly at: number
  /** The event as JSON text; empty for the mark of a tombstone. */
  readonly e: string
  /** The consumers that were declared for it. */
  readonly to: readonly string[]
}

/** What a collection's indexes make of its documents. */
export interface Form {
  readonly name: string
  readonly indexes: Readonly<Record<string, Index>>
  /** Indexed paths and whether each may hold an array. */
  readonly paths: ReadonlyMap<string, boolean>
  readonly unique: readonly (readonly [name: string, index: Index])[]
}

const escaped = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`

/** The name of a path's field: MongoDB gives dots and dollar signs a meaning. */
export const memberOf = (path: string): string => path.replace(/[%/$\u0000]/g, escaped).replaceAll('.', '/')

/** The field that holds what a path reaches: `places.dataset` is `k.places/dataset`. */
export const fieldOf = (path: string): string => `k.${memberOf(path)}`

export const formOf = ({ name, indexes }: Collection<object>): Form => {
  const paths = new Map<string, boolean>()
  for (const { on, array } of Object.values(indexes)) for (const path of on) paths.set(path, paths.get(path) || path === array)
  return { name, indexes, paths, unique: Object.entries(indexes).filter(([, index]) => index.unique) }
}

const asScalar = (leaf: unknown): Scalar => (isScalar(leaf) ? encode(leaf) : null)

/** Throws `Invalid` when a path holds an array that its index does not declare. */
const membersOf = (form: Form, document: unknown): Record<string, Scalar | readonly Scalar[]> => {
  for (const index of Object.values(form.indexes)) keysOf(index, document)
  const members: Record<string, Scalar | readonly Scalar[]> = {}
  for (const [path, isArray] of form.paths) {
    const leaves = [...new Set(leavesAt(document, path).map(asScalar))]
    members[memberOf(path)] = isArray ? leaves : (leaves[0] ?? null)
  }
  return members
}

/** A key that is free: no other document's can be equal, for a key is the text of an array. */
const freeKey = (id: string): string => `-${id}`

const uniqueKeysOf = (form: Form, document: Stored): Record<string, string> => {
  const keys: Record<string, string> = {}
  for (const [name, index] of form.unique) {
    const key = keysOf(index, document)[0] ?? [null]
    keys[memberOf(name)] = key.includes(null) ? freeKey(document.id) : JSON.stringify(key)
  }
  return keys
}

/** The unique keys of a document that is gone. */
export const freeKeysOf = (form: Form, id: string): Record<string, string> =>
  Object.fromEntries(form.unique.map(([name]) => [memberOf(name), freeKey(id)]))

/** The parts that say what a document is; throws `Invalid` for one that the indexes cannot take. */
export const partsOf = (form: Form, document: Stored, text: string): Required<Pick<Kept, 'r' | 'd' | 'k' | 'u'>> => ({
  r: document.revision,
  d: text,
  k: membersOf(form, document),
  u: uniqueKeysOf(form, document),
})
