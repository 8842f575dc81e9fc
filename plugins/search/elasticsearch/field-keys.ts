import { hash } from 'node:crypto'

/** What a value of metadata is: what it is compared with. */
export type FieldType = 'number' | 'date' | 'text'

/** Fields that every document may have, by the name that queries use; the words of some are in a text field of their own. */
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

/** The field by its name in metadata. */
export const metadataPath = (field: string): string => (field.startsWith('metadata.') ? field.slice('metadata.'.length) : field)

const known = new Map<string, string>()
const mostKnown = 50_000

/**
 * The key of a field in terms of the index: 14 characters, whatever the name is. Names of metadata are people's and so can be anything and
 * many; they never become fields of the mapping.
 */
function keyOf(name: string): string {
  const found = known.get(name)
  if (found !== undefined) return found
  if (known.size >= mostKnown) known.clear()
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

/** A path of more parts is known by its last ones, and whole. */
const mostParts = 32

/** The path and every end of it that begins after a dot: `a.b.c`, `b.c`, `c`. */
export function endsOf(path: string): readonly string[] {
  const ends: string[] = []
  for (let dot = path.lastIndexOf('.'); dot >= 0 && ends.length < mostParts; dot = dot === 0 ? -1 : path.lastIndexOf('.', dot - 1))
    ends.push(path.slice(dot + 1))
  return [...ends, path]
}

/** What stands above the path, and every end of that: `a.b` and `b`, `a` for `a.b.c`. */
export function above(path: string): readonly string[] {
  const parts = path.split('.').slice(-mostParts)
  return parts.slice(1).flatMap((_, at) => endsOf(parts.slice(0, at + 1).join('.')))
}
