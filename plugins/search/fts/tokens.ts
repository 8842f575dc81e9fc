import { hash } from 'node:crypto'
import { foldValue } from 'pounce/sdk/search'

/**
 * What is not text is in the full-text index too, as made-up words that begin with `_`, which no word of a person does. A search with
 * its rights is then one boolean expression that the index merges by itself, newest first, without looking at a single row.
 */
export const tokens = {
  /** Every entry has it. */
  all: '_all',
  kind: (kind: string) => `_k${alnum(kind)}`,
  space: (id: string) => `_s${alnum(id)}`,
  author: (id: string) => `_a${alnum(id)}`,
  isPublic: '_public',
  /** A file in no dataset. */
  isUnplaced: '_unplaced',
  within: (id: string) => `_i${alnum(id)}`,
  /** The field is there. */
  has: (field: string) => (isPlace(field) ? `_x_${field}` : `_x${field}`),
  /** The field has this whole value. */
  equals: (field: string, value: string | number | boolean | Date) => `_e${field}_${digest(canonical(value))}`,
  /** The field has this word. */
  word: (field: string, word: string) => `_w${field}_${word}`,
} as const

/**
 * The fields that every document may have, by the name that queries use. Their whole values are in the index as tokens under `token`
 * (fields of metadata have a number there, which never begins with `_`), their words in a column of their own or, where a bare word must
 * not find them, as tokens too.
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

export const isFixedField = (field: string): field is FixedField => Object.hasOwn(fixedFields, field)

const places = ['in', 'resource_type'] as const

/** Fields that take the id of a place, or a kind. */
export type PlaceField = (typeof places)[number]

export const isPlace = (field: string): field is PlaceField => places.some(place => place === field)

/** The name in tokens of the metadata field with that number. */
export const fieldToken = (id: number): string => id.toString(36)

/** The same text for values that are equal. */
export function canonical(value: string | number | boolean | Date): string {
  if (typeof value === 'number') return `n${value}`
  return value instanceof Date ? `d${value.getTime()}` : `t${foldValue(String(value))}`
}

const digest = (text: string): string => hash('sha1', text).slice(0, 16)

const alnum = (text: string): string => (/^[0-9a-z]+$/.test(text) ? text : `_${digest(text)}`)
