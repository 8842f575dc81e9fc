import type { ErrorObject } from 'ajv'
import { idPattern, type SchemaShape } from './schema-shape.ts'

/** What is wrong with a value, for the person who sent it: `name must be text of 1 to 500 characters`. */
export const faultMessage = (errors: readonly ErrorObject[], whole: string): string => {
  // A union reports the faults of each branch first and itself last.
  const error = errors.at(-1)
  if (!error) return `${whole} is not right`
  const field = fieldOf(error.instancePath)
  const schema = (error.parentSchema ?? {}) as SchemaShape
  const at = field || whole
  switch (error.keyword) {
    case 'required': {
      const name = String(error.params['missingProperty'])
      return `${field ? `${field}.` : ''}${name} is required: ${describe(schema.properties?.[name] ?? {})}`
    }
    case 'additionalProperties':
      return `${field ? `${field}.` : ''}${String(error.params['additionalProperty'])} is not known here`
    case 'uniqueItems':
      return `${at} must not name anything twice`
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

/** What a schema allows, in words. */
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
    email: 'an e-mail address',
    uri: 'a complete address such as https://example.org/',
  })[name] ?? 'text'

const range = (least: number | undefined, most: number | undefined, unit: string): string => {
  if (least && most !== undefined) return least === most ? ` of ${count(least, unit)}` : ` of ${least} to ${count(most, unit)}`
  if (most !== undefined) return ` of at most ${count(most, unit)}`
  return least ? ` of at least ${count(least, unit)}` : ''
}

const count = (n: number, unit: string): string => `${n} ${unit}${n === 1 ? '' : 's'}`

const bounds = ({ minimum, maximum }: SchemaShape): string => {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` of at least ${minimum}`
  return maximum === undefined ? '' : ` of at most ${maximum}`
}

const pattern = ({ pattern: expression, description }: SchemaShape): string => {
  if (expression === undefined) return ''
  if (expression.includes('\\u0000')) return ', without control characters'
  return description ? ` (${description})` : ` that matches ${expression}`
}
