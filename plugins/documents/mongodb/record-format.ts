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
 * Text as stored for sorting: ordered by code point both on servers that compare UTF-8 bytes and on those that compare UTF-16 units.
 * Text below U+D800 is unchanged. Lone surrogates, which UTF-8 cannot represent, are escaped.
 */
export const encodeText = (text: string): string => (high.test(text) ? text.replace(parts, encodePart) : text)

/** A scalar as it is stored in a key. */
export const encode = (value: Scalar): Scalar => (typeof value === 'string' ? encodeText(value) : value)

/** The upper bound of all texts with this encoded prefix. */
export const afterPrefix = (encoded: string): string => `${encoded}\ue003`

/** A document as stored in MongoDB. A tombstone with undelivered events has none of `r`, `b`, `f`, `d` and `k`. */
export interface StoredRecord {
  readonly _id: string
  /** Revision. */
  readonly r?: number
  /** Created by each insert; distinguishes a document from one with the same ID and revision that it replaced. */
  readonly b?: string
  /** The document as JSON text. */
  readonly d?: string
  /** Which indexes `k` and `u` were computed for: see `fillingOf`. */
  readonly f?: string
  /** Index fields: one for each indexed path, null when absent, an array when the path may hold one. */
  readonly k?: Readonly<Record<string, Scalar | readonly Scalar[]>>
  /** One field for each unique index: the key as text, or a random unique value when part of it is null. */
  readonly u: Readonly<Record<string, string>>
  /** Undelivered events. */
  readonly ev: readonly OutboxEvent[]
  /** ID of the last event, delivered or not: those of the next change are greater, whichever kernel makes it. */
  readonly l?: string
  readonly gone?: boolean
}

/** An event embedded in the document it was committed with. */
export interface OutboxEvent {
  readonly id: string
  /** Commit time, in milliseconds: a sweep looks for stale ones. */
  readonly at: number
  /** The event as JSON text; empty for a tombstone's marker. */
  readonly e: string
  /** The consumers that were declared for it. */
  readonly to: readonly string[]
}

/** What a collection's indexes derive from its documents. */
export interface RecordFormat {
  readonly name: string
  readonly indexes: Readonly<Record<string, Index>>
  /** Indexed paths and whether each may contain an array. */
  readonly paths: ReadonlyMap<string, boolean>
  readonly unique: readonly (readonly [name: string, index: Index])[]
  /** Identifies the fields that these indexes need; when it differs, documents must be filled again. */
  readonly filling: string
}

const escaped = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`

/** The field name of a path: dots and dollar signs are special to MongoDB. */
export const memberOf = (path: string): string => path.replace(/[%/$\u0000]/g, escaped).replaceAll('.', '/')

/** The field with the value at a path: `places.dataset` is `k.places/dataset`. */
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

/** The field name of a unique index below `u`, and the index name; it changes with the definition. */
export const uniqueMember = (name: string, { on }: Index): string => `${memberOf(name)}:${on.map(memberOf).join(',')}`

/** A key that no other document can have, since ordinary keys are the text of an array. */
const freeKey = (id: string): string => `-${id}`

const uniqueKeysOf = (format: RecordFormat, document: Stored): Record<string, string> => {
  const keys: Record<string, string> = {}
  for (const [name, index] of format.unique) {
    const key = keysOf(index, document)[0] ?? [null]
    keys[uniqueMember(name, index)] = key.includes(null) ? freeKey(document.id) : JSON.stringify(key)
  }
  return keys
}

/** The unique keys of a deleted document. */
export const freeKeysOf = (format: RecordFormat, id: string): Record<string, string> =>
  Object.fromEntries(format.unique.map(([name, index]) => [uniqueMember(name, index), freeKey(id)]))

/** The fields derived from a document; throws `Invalid` for one that the indexes cannot take. */
export const partsOf = (
  format: RecordFormat,
  document: Stored,
  text: string,
): Required<Pick<StoredRecord, 'r' | 'f' | 'd' | 'k' | 'u'>> => ({
  r: document.revision,
  f: format.filling,
  d: text,
  k: membersOf(format, document),
  u: uniqueKeysOf(format, document),
})
