import { createRequire } from 'node:module'
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import type { s } from 'pounce/sdk'

/** The JSON Schema keywords that Pounce reads. */
export interface SchemaShape {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly SchemaShape[]
  readonly oneOf?: readonly SchemaShape[]
  readonly allOf?: readonly SchemaShape[]
  readonly properties?: Readonly<Record<string, SchemaShape>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | SchemaShape
  readonly patternProperties?: Readonly<Record<string, SchemaShape>>
  readonly items?: SchemaShape | readonly SchemaShape[]
  readonly pattern?: string
  readonly format?: string
  readonly description?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly default?: unknown
  readonly 'x-body'?: string
  readonly 'x-kind'?: string
  readonly 'x-content'?: Readonly<Record<string, SchemaShape>>
}

/** The pattern of `s.id()`. */
export const idPattern = '^[0-9a-f]{24}$'

/** All types that a value may have; empty if the schema does not restrict them. */
export const typesOf = (schema: SchemaShape): readonly string[] => {
  if (typeof schema.type === 'string') return [schema.type]
  if (schema.type) return schema.type
  const values = 'const' in schema ? [schema.const] : schema.enum
  if (values) return [...new Set(values.map(value => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)))]
  return [...new Set((schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []).flatMap(typesOf))]
}

type Formats = Readonly<Record<string, (text: string) => boolean>>
type PlainRule = (expected: never, value: unknown, formats: Formats) => boolean

/** Keywords that do not restrict a value, or that the caller checks (`required`). */
const withoutEffect = new Set(['default', 'description', 'secret', 'formerName', 'required'])

const plainTypes: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: value => value instanceof Object && !Array.isArray(value),
  array: Array.isArray,
  integer: Number.isInteger,
  null: value => value === null,
}

const plainRules: Readonly<Record<string, PlainRule>> = {
  type: (type: string, value) => (plainTypes[type] ?? ((one: unknown) => typeof one === type))(value),
  properties: (members: NonNullable<SchemaShape['properties']>, value, formats) =>
    value instanceof Object && Object.entries(value).every(([key, item]) => plainlyFits(members[key] ?? {}, item, formats)),
  anyOf: (alternatives: readonly SchemaShape[], value, formats) => alternatives.some(one => plainlyFits(one, value, formats)),
  const: (expected: unknown, value) => value === expected,
  minimum: (least: number, value) => Number(value) >= least,
  maximum: (max: number, value) => Number(value) <= max,
  minLength: (least: number, value) => [...String(value)].length >= least,
  format: (format: string, value, formats) => formats[format]?.(String(value)) === true,
}

/** True if the given members of a value are valid by the keywords above. A value that gives false may still be valid: ajv checks all keywords. */
export const plainlyFits = (schema: SchemaShape, value: unknown, formats: Formats): boolean =>
  Object.entries(schema).every(
    ([keyword, expected]) => withoutEffect.has(keyword) || plainRules[keyword]?.(expected as never, value, formats) === true,
  )

/** A time with an offset, such as `2026-01-05T10:00:00Z`. */
const isDateTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:?\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))

const options = {
  strict: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allowUnionTypes: true,
  useDefaults: true,
  verbose: true,
  // Optimizing takes a third of the compile time, and the code is as fast without it.
  code: { optimize: false },
  // Schemas live as long as the process: caching by object identity is enough, ids are not needed.
  addUsedSchema: false,
  formats: {
    binary: true,
    'date-time': isDateTime,
    date: /^\d{4}-\d\d-\d\d$/,
    email: /^[^\s@]{1,64}@[^\s@]{1,255}$/,
    uri: (text: string) => URL.canParse(text),
  },
  keywords: ['secret'],
} satisfies ConstructorParameters<typeof Ajv>[0]

/** 63 modules, loaded at the first request that needs validation to keep the start fast. */
let sharedAjv: Ajv | undefined
const theAjv = (): Ajv => {
  sharedAjv ??= new (createRequire(import.meta.url)('ajv') as typeof import('ajv')).Ajv(options)
  return sharedAjv
}

/** Annotations that are already registered; ajv does not expose them. */
const known = new Set<string>()

/** Compiles a schema in strict mode; members named `x-…` are annotations. Throws if the schema itself is invalid. */
export const compileSchema = (schema: s.TSchema): ValidateFunction => {
  const ajv = theAjv()
  for (const name of annotations(schema)) {
    if (known.has(name)) continue
    known.add(name)
    ajv.addKeyword(name)
  }
  return ajv.compile(schema)
}

const annotations = (value: unknown, found = new Set<string>()): ReadonlySet<string> => {
  if (typeof value !== 'object' || value === null) return found
  for (const [name, child] of Object.entries(value)) {
    if (name.startsWith('x-')) found.add(name)
    annotations(child, found)
  }
  return found
}

/** ajv reports the errors of each union branch first and the union itself last. The error of a member is more specific if only one branch got that far. */
const mainOf = (errors: readonly ErrorObject[]): ErrorObject | undefined => {
  const last = errors.at(-1)
  if (last?.keyword !== 'anyOf') return last
  const within = errors.filter(({ keyword, instancePath }) => keyword === 'required' || instancePath.length > last.instancePath.length)
  return within.length === 1 ? within[0] : last
}

/** A validation error as a message for the client: `name must be text of 1 to 500 characters`. */
export const faultMessage = (errors: readonly ErrorObject[], whole: string): string => {
  const error = mainOf(errors)
  if (!error) return `${whole} is invalid`
  const field = fieldOf(error.instancePath)
  const schema = (error.parentSchema ?? {}) as SchemaShape
  const at = field || whole
  switch (error.keyword) {
    case 'required': {
      const name = String(error.params['missingProperty'])
      return `${field ? `${field}.` : ''}${name} is required: ${describe(schema.properties?.[name] ?? {})}`
    }
    case 'additionalProperties':
      return `${field ? `${field}.` : ''}${String(error.params['additionalProperty'])} is not allowed`
    case 'minProperties':
      return `${at} must have at least one of ${Object.keys(schema.properties ?? {}).join(', ')}`
    case 'uniqueItems':
      return `${at} must not contain duplicates`
    case 'pattern':
      return String(error.data).trim() === '' ? `${at} must not be blank` : `${at} must be ${describe(schema)}`
    default:
      return `${at} must be ${describe(schema)}`
  }
}

/** `/tags/0/name` → `tags[0].name`. */
const fieldOf = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path ? `${path}.${step}` : step), '')

/** Describes the values that a schema allows. */
export const describe = (schema: SchemaShape): string => {
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return oneOf(schema.enum)
  const branches = schema.anyOf ?? schema.oneOf
  if (branches?.every(branch => 'const' in branch)) return oneOf(branches.map(branch => branch.const))
  if (branches) return [...new Set(branches.map(describe))].join(' or ')
  if (schema.pattern === idPattern) return 'an id: 24 lower-case hex digits'
  return plain(schema)
}

const oneOf = (values: readonly unknown[]): string =>
  `one of ${values.map(value => (typeof value === 'string' ? value : JSON.stringify(value))).join(', ')}`

const plain = (schema: SchemaShape): string => {
  switch (schema.type) {
    case 'string':
      return `${schema.format ? format(schema.format) : 'text'}${range(schema.minLength, schema.maxLength, 'character')}${pattern(schema)}`
    case 'integer':
      return `a whole number${bounds(schema)}`
    case 'number':
      return `a number${bounds(schema)}`
    case 'boolean':
      return 'true or false'
    case 'array': {
      const items = Array.isArray(schema.items) ? undefined : (schema.items as SchemaShape | undefined)
      return `a list${range(schema.minItems, schema.maxItems, 'item')}${items?.type ? `, each ${describe(items)}` : ''}`
    }
    case 'object':
      return 'an object'
    case 'null':
      return 'null'
    default:
      return schema.description ?? 'another value'
  }
}

const format = (name: string): string =>
  ({
    'date-time': 'a time such as 2026-01-05T10:00:00Z',
    date: 'a date such as 2026-01-05',
    email: 'an email address',
    uri: 'a complete address such as https://example.org/',
  })[name] ?? 'text'

const range = (min: number | undefined, max: number | undefined, unit: string): string => {
  if (min && max !== undefined) return min === max ? ` of ${count(min, unit)}` : ` of ${min} to ${count(max, unit)}`
  if (max !== undefined) return ` of at most ${count(max, unit)}`
  return min ? ` of at least ${count(min, unit)}` : ''
}

const count = (n: number, unit: string): string => `${n} ${unit}${n === 1 ? '' : 's'}`

const bounds = ({ minimum, maximum }: SchemaShape): string => {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` of at least ${minimum}`
  return maximum === undefined ? '' : ` of at most ${maximum}`
}

const pattern = ({ pattern: expression, description }: SchemaShape): string => {
  if (expression === undefined) return ''
  if (description) return ` (${description})`
  return expression.includes('\\u0000') ? ', without control characters' : ` that matches ${expression}`
}
