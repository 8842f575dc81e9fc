import { createHash } from 'node:crypto'
import type { Collection, Stored } from 'pounce/sdk'
import { type Index, isScalar, keysOf, leavesAt, type Scalar } from 'pounce/sdk/store-kit'

const high = /[\ud800-\uffff]/

const parts = /[\u{10000}-\u{10ffff}]|[\ud800-\uffff]/gu

const encodePart = (part: string): string => {
  if (part.length === 2) return `\ue001${part}`
  return part >= '\ue000' ? `\ue000${part}` : `\ue002${part.charCodeAt(0).toString(16)}`
}

/**
 * Text as it is stored where order counts: by code point on servers that compare UTF-8 bytes and on those that compare UTF-16 units
 * alike. Text below U+D800 stays as it is. Half a surrogate pair, which UTF-8 cannot hold, becomes something of its own.
 */
export const encodeText = (text: string): string => (high.test(text) ? text.replace(parts, encodePart) : text)

/** A scalar as it is stored in a key. */
export const encode = (value: Scalar): Scalar => (typeof value === 'string' ? encodeText(value) : value)

/** Above every text that has this one, encoded, as its beginning. */
export const afterPrefix = (encoded: string): string => `${encoded}\ue003`

/** A document as MongoDB holds it. A tombstoned one with undelivered events has none of `r`, `b`, `f`, `d` and `k`. */
export interface Kept {
  readonly _id: string
  /** Revision. */
  readonly r?: number
  /** Created by each insert, so that a document is distinguished from one of the same id and revision that it replaced. */
  readonly b?: string
  /** The document as JSON text. */
  readonly d?: string
  /** Which indexes `k` and `u` were made for: see `fillingOf`. */
  readonly f?: string
  /** What indexes are made of: a field for each indexed path, null when absent, an array when the path may hold one. */
  readonly k?: Readonly<Record<string, Scalar | readonly Scalar[]>>
  /** A field for each unique index: the key as text, or one that no one else has when a part of it is null. */
  readonly u: Readonly<Record<string, string>>
  /** Undelivered events. */
  readonly ev: readonly KeptEvent[]
  readonly gone?: boolean
}

/** An event inside the document that it came with. */
export interface KeptEvent {
  readonly id: string
  /** When it was committed, in milliseconds: a sweep looks for stale ones. */
  readonly at: number
  /** The event as JSON text; empty for the mark of a tombstone. */
  readonly e: string
  /** The consumers that were declared for it. */
  readonly to: readonly string[]
}

/** What a collection's indexes make of its documents. */
export interface RecordFormat {
  readonly name: string
  readonly indexes: Readonly<Record<string, Index>>
  /** Indexed paths and whether each may hold an array. */
  readonly paths: ReadonlyMap<string, boolean>
  readonly unique: readonly (readonly [name: string, index: Index])[]
  /** Names what documents must hold for these indexes; another one means that they must be filled again. */
  readonly filling: string
}

const escaped = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`

/** The name of a path's field: MongoDB gives dots and dollar signs a meaning. */
export const memberOf = (path: string): string => path.replace(/[%/$\u0000]/g, escaped).replaceAll('.', '/')

/** The field that holds what a path reaches: `places.dataset` is `k.places/dataset`. */
export const fieldOf = (path: string): string => `k.${memberOf(path)}`

const fillingOf = (paths: RecordFormat['paths'], unique: RecordFormat['unique']): string => {
  const text = JSON.stringify([[...paths].sort(), unique.map(([name, { on }]) => [name, on]).sort()])
  return createHash('sha256').update(text).digest('base64url').slice(0, 8)
}

export const recordFormatOf = ({ name, indexes }: Collection<object>): RecordFormat => {
  const paths = new Map<string, boolean>()
  for (const { on, array } of Object.values(indexes)) for (const path of on) paths.set(path, paths.get(path) || path === array)
  const unique = Object.entries(indexes).filter(([, index]) => index.unique)
  return { name, indexes, paths, unique, filling: fillingOf(paths, unique) }
}

const asScalar = (leaf: unknown): Scalar => (isScalar(leaf) ? encode(leaf) : null)

/** Throws `Invalid` when a path holds an array that its index does not declare. */
const membersOf = (format: RecordFormat, document: unknown): Record<string, Scalar | readonly Scalar[]> => {
  for (const index of Object.values(format.indexes)) keysOf(index, document)
  const members: Record<string, Scalar | readonly Scalar[]> = {}
  for (const [path, isArray] of format.paths) {
    const leaves = [...new Set(leavesAt(document, path).map(asScalar))]
    members[memberOf(path)] = isArray ? leaves : (leaves[0] ?? null)
  }
  return members
}

/** The name of a unique index's field below `u`, and of the index: another one when it is defined otherwise. */
export const uniqueMember = (name: string, { on }: Index): string => `${memberOf(name)}:${on.map(memberOf).join(',')}`

/** A key that is free: no other document's can be equal, for a key is the text of an array. */
const freeKey = (id: string): string => `-${id}`

const uniqueKeysOf = (format: RecordFormat, document: Stored): Record<string, string> => {
  const keys: Record<string, string> = {}
  for (const [name, index] of format.unique) {
    const key = keysOf(index, document)[0] ?? [null]
    keys[uniqueMember(name, index)] = key.includes(null) ? freeKey(document.id) : JSON.stringify(key)
  }
  return keys
}

/** The unique keys of a document that is gone. */
export const freeKeysOf = (format: RecordFormat, id: string): Record<string, string> =>
  Object.fromEntries(format.unique.map(([name, index]) => [uniqueMember(name, index), freeKey(id)]))

/** The parts that say what a document is; throws `Invalid` for one that the indexes cannot take. */
export const partsOf = (format: RecordFormat, document: Stored, text: string): Required<Pick<Kept, 'r' | 'f' | 'd' | 'k' | 'u'>> => ({
  r: document.revision,
  f: format.filling,
  d: text,
  k: membersOf(format, document),
  u: uniqueKeysOf(format, document),
})
