import { hash } from 'node:crypto'

/** The type of a metadata value, by which it is compared. */
export type FieldType = 'number' | 'date' | 'text'

/** Fields that every document may have, by their names in queries; some have a text field of their own for their words. */
export const fixedFields = {
  name: 'name',
  description: 'description',
  tag: 'tags',
  comment: 'comments',
  created_as: 'created_as',
  creator: undefined,
  email: undefined,
  content_type: undefined,
} as const

export type FixedField = keyof typeof fixedFields

export const isFixedField = (field: string): field is FixedField => Object.hasOwn(fixedFields, field)

/** The metadata path of a field in a query. */
export const metadataPath = (field: string): string => (field.startsWith('metadata.') ? field.slice('metadata.'.length) : field)

const known = new Map<string, string>()
const maxKnown = 50_000

/**
 * The key of a field in terms of the index: 14 characters, whatever its name. Users choose the names of metadata, in any form and number,
 * so they never become fields of the mapping.
 */
function keyOf(name: string): string {
  const found = known.get(name)
  if (found !== undefined) return found
  if (known.size >= maxKnown) known.clear()
  const key = hash('sha1', name.toWellFormed()).slice(0, 14)
  known.set(name, key)
  return key
}

/** Key of a part of a metadata path. */
export const pathKey = (path: string): string => keyOf(`m ${path}`)

/** Key of one of the fields that every document may have. */
export const fixedKey = (field: FixedField): string => keyOf(`f ${field}`)

const initials = { number: 'n', date: 'd', text: 't' } as const

/** The key together with a type. */
export const typedKey = (key: string, type: FieldType): string => `${key}${initials[type]}`

/** A longer path is indexed as a whole and by its last parts. */
const maxParts = 32

/** The path and all its suffixes that begin after a dot: `a.b.c`, `b.c`, `c`. */
export function endsOf(path: string): readonly string[] {
  const ends: string[] = []
  for (let dot = path.lastIndexOf('.'); dot >= 0 && ends.length < maxParts; dot = dot === 0 ? -1 : path.lastIndexOf('.', dot - 1))
    ends.push(path.slice(dot + 1))
  return [...ends, path]
}

/** All proper prefixes of the path, and their suffixes: `a.b`, `b` and `a` for `a.b.c`. */
export function above(path: string): readonly string[] {
  const parts = path.split('.').slice(-maxParts)
  return parts.slice(1).flatMap((_, at) => endsOf(parts.slice(0, at + 1).join('.')))
}
