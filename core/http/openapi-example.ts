import { s } from 'pounce/sdk'
import type { SchemaShape } from './json-schema.ts'
import { idPattern } from './json-schema.ts'
import { valuesByModel } from './openapi-example-models.ts'
import { anId, valuesByName } from './openapi-example-values.ts'

type Source = SchemaShape & Readonly<Record<string, unknown>>

/**
 * A value of a schema, for readers of the API: the first of its `examples`, or made of those of its members; what has none is told by what a
 * description says ("Such as `…`"), the default, and the name of the member. Undefined of bytes.
 */
export const exampleOf = (schema: SchemaShape, name = ''): unknown => {
  const source = schema as Source
  const { examples } = source
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if ('const' in source) return source.const
  if (source.enum) return source.enum[0]
  const told = suchAs(source)
  if (told !== undefined) return told
  if (source.default !== undefined && source.default !== '' && source.default !== null) return source.default
  if (source.allOf) return Object.assign({}, ...source.allOf.map(part => exampleOf(part, name)))
  const branches = source.anyOf ?? source.oneOf
  if (branches) return exampleOf(branches.find(({ type }) => type !== 'null') ?? {}, name)
  return ofType(source, name)
}

const ofType = (source: Source, name: string): unknown => {
  const type = Array.isArray(source.type) ? source.type[0] : source.type
  switch (type) {
    case 'object':
      return objectOf(source, name)
    case 'array':
      return arrayOf(source, name)
    case 'string':
      return textOf(source, name)
    case 'integer':
    case 'number':
      return numberOf(source, name)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return name in valuesByName ? valuesByName[name] : { depth: 30 }
  }
}

const objectOf = ({ properties, patternProperties, additionalProperties, [s.modelName]: model }: Source, name: string): unknown => {
  const known = valuesByModel[typeof model === 'string' ? model : name] ?? {}
  const valueOfMember = (key: string, member: SchemaShape): unknown => (key in known ? known[key] : exampleOf(member, key))
  if (properties) return Object.fromEntries(Object.entries(properties).map(([key, member]) => [key, valueOfMember(key, member)]))
  const further = Object.values(patternProperties ?? {})[0] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
  const usual = valuesByName[name]
  if (typeof usual === 'object' && (further === undefined || Object.keys(further).length === 0)) return usual
  return further ? { depth: exampleOf(further, 'depth') } : {}
}

const arrayOf = ({ items, minItems = 1, ...rest }: Source, name: string): unknown => {
  const tuple = Array.isArray(items) ? items : (rest['prefixItems'] as readonly SchemaShape[] | undefined)
  if (tuple) return tuple.map(each => exampleOf(each, name))
  const item = exampleOf((items ?? {}) as SchemaShape, name in valuesByName ? name : name.replace(/ies$/, 'y').replace(/s$/, ''))
  return item === undefined ? [] : Array.from({ length: Math.max(minItems, 1) }, () => item)
}

const textOf = ({ format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Source, name: string): unknown => {
  if (pattern === idPattern) return anId
  const known = valuesByName[name]
  if (typeof known === 'string' && known.length >= minLength && known.length <= maxLength) return known
  if (format === 'binary') return undefined
  if (format === 'date-time') return '2026-03-05T10:15:00Z'
  if (format === 'date') return '2026-03-05'
  if (format === 'email') return 'ada@example.org'
  if (format === 'uri') return 'https://example.org/soil'
  return /(?:^id|Id|ID|_id|_ids)$/.test(name) ? anId : undefined
}

const numberOf = ({ minimum, maximum }: Source, name: string): unknown => {
  const known = valuesByName[name]
  if (typeof known === 'number' && known >= (minimum ?? known) && known <= (maximum ?? known)) return known
  return minimum ?? Math.min(maximum ?? 3, 3)
}

/** The value that a description gives: "Such as `Wed Jun 20 11:40:25 UTC 2018`". */
const suchAs = ({ type, description = '' }: Source): string | undefined =>
  type === 'string' ? /\b[Ss]uch as `([^`]+)`/.exec(description)?.[1] : undefined
