import { hash } from 'node:crypto'
import { foldValue } from 'pounce/sdk/search'

/**
 * Properties other than text are also in the full-text index, as synthetic words that begin with `_`, which words of user text never do. A search
 * with its rights is then one boolean expression, which the index evaluates newest first without reading any row.
 */
export const tokens = {
  /** In every entry. */
  all: '_all',
  kind: (kind: string) => `_k${alnum(kind)}`,
  space: (id: string) => `_s${alnum(id)}`,
  author: (id: string) => `_a${alnum(id)}`,
  isPublic: '_public',
  /** A file in no dataset. */
  isUnplaced: '_unplaced',
  within: (id: string) => `_i${alnum(id)}`,
  /** The field exists. */
  has: (field: string) => (isPlace(field) ? `_x_${field}` : `_x${field}`),
  /** The field has this whole value. */
  equals: (field: string, value: string | number | boolean | Date) => `_e${field}_${digest(canonical(value))}`,
  /** The field has this word. */
  word: (field: string, word: string) => `_w${field}_${word}`,
} as const

/**
 * The fields that every document may have, by their names in queries. Their whole values are indexed as tokens with `token`
 * (metadata fields have a number instead, which never begins with `_`); their words are in a column of their own or, where a bare word must
 * not find them, also tokens.
 */
export const fixedFields = {
  name: { token: '_name', column: 'name' },
  description: { token: '_description', column: 'description' },
  tag: { token: '_tag', column: 'tags' },
  comment: { token: '_comment', column: 'comments' },
  created_as: { token: '_createdas', column: 'createdas' },
  creator: { token: '_creator', column: undefined },
  email: { token: '_email', column: undefined },
  content_type: { token: '_contenttype', column: undefined },
} as const

export type FixedField = keyof typeof fixedFields

/** The columns with the words of a fixed field. */
export type TextColumn = Exclude<(typeof fixedFields)[FixedField]['column'], undefined>

export const isFixedField = (field: string): field is FixedField => Object.hasOwn(fixedFields, field)

const places = ['in', 'resource_type'] as const

/** Fields whose value is the ID of a container, or a kind. */
export type PlaceField = (typeof places)[number]

export const isPlace = (field: string): field is PlaceField => places.some(place => place === field)

/** The name of a metadata field in tokens, by its number. */
export const fieldToken = (id: number): string => id.toString(36)

/** A text that is the same for equal values. */
export function canonical(value: string | number | boolean | Date): string {
  if (typeof value === 'number') return `n${value}`
  return value instanceof Date ? `d${value.getTime()}` : `t${foldValue(String(value))}`
}

const digest = (text: string): string => hash('sha1', text).slice(0, 16)

const alnum = (text: string): string => (/^[0-9a-z]+$/.test(text) ? text : `_${digest(text)}`)
