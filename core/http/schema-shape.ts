/** The members of a JSON Schema that this program reads. */
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
}

/** The pattern of `s.id()`. */
export const idPattern = '^[0-9a-f]{24}$'

/** Every type a value may have; empty when the schema leaves it open. */
export const typesOf = (schema: SchemaShape): readonly string[] => {
  if (typeof schema.type === 'string') return [schema.type]
  if (schema.type) return schema.type
  const values = 'const' in schema ? [schema.const] : schema.enum
  if (values) return [...new Set(values.map(value => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)))]
  return [...new Set((schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []).flatMap(typesOf))]
}
