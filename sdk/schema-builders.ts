import type * as TypeBox from 'typebox'

/** TypeBox's marker for optional members: a non-enumerable property, so it is neither spread nor serialized. */
const optional = '~optional'

const asSchema = (schema: Readonly<Record<string, unknown>>): never => schema as never

const text: typeof TypeBox.String = (options?: object) => asSchema({ type: 'string', ...options })
const integer: typeof TypeBox.Integer = (options?: object) => asSchema({ type: 'integer', ...options })
const number: typeof TypeBox.Number = (options?: object) => asSchema({ type: 'number', ...options })
const boolean: typeof TypeBox.Boolean = (options?: object) => asSchema({ type: 'boolean', ...options })
const nothing: typeof TypeBox.Null = (options?: object) => asSchema({ type: 'null', ...options })
const unknown: typeof TypeBox.Unknown = (options?: object) => asSchema({ ...options })
const unsafe: typeof TypeBox.Unsafe = (schema: object) => asSchema({ ...schema })

const literal: typeof TypeBox.Literal = (value: unknown, options?: object) => asSchema({ type: typeof value, const: value, ...options })

const array: typeof TypeBox.Array = (items: object, options?: object) => asSchema({ type: 'array', items, ...options })

const tuple: typeof TypeBox.Tuple = (items: readonly object[], options?: object) =>
  asSchema({ type: 'array', additionalItems: false, items, minItems: items.length, ...options })

const union: typeof TypeBox.Union = (anyOf: readonly object[], options?: object) => asSchema({ anyOf, ...options })

const intersect: typeof TypeBox.Intersect = (allOf: readonly object[], options?: object) => asSchema({ allOf, ...options })

const member: typeof TypeBox.Optional = (schema: object) => Object.defineProperty({ ...schema }, optional, { value: true }) as never

const object: typeof TypeBox.Object = (properties: Readonly<Record<string, object>>, options?: object) => {
  const required = Object.keys(properties).filter(name => !(optional in (properties[name] as object)))
  return asSchema({ type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options })
}

const record: typeof TypeBox.Record = (key: { readonly pattern?: string }, value: object, options?: object) =>
  asSchema({ type: 'object', patternProperties: { [key.pattern ?? '^.*$']: value }, ...options })

/**
 * TypeBox's constructors, with its names and types, without loading TypeBox: at run time only ajv reads the schemas, and TypeBox's 300 modules would take a
 * quarter of the startup time and 22 MB (docs/decisions/0003).
 */
export {
  array as Array,
  boolean as Boolean,
  integer as Integer,
  intersect as Intersect,
  literal as Literal,
  member as Optional,
  nothing as Null,
  number as Number,
  object as Object,
  record as Record,
  text as String,
  tuple as Tuple,
  union as Union,
  unknown as Unknown,
  unsafe as Unsafe,
}
