import type { SchemaShape } from './schema-shape.ts'

/** Removes from a value the members that its schema does not name. */
export type Strip = (value: unknown) => void

/**
 * Makes the function that removes unknown members from a checked body, so that nothing is stored by accident; undefined when there is
 * nothing to remove. Objects that allow further members (`additionalProperties`, patterns, open schemas) keep them all.
 */
export const stripping = (schema: SchemaShape | undefined): Strip | undefined => {
  if (!schema) return undefined
  const branches = branchesOf(schema)
  const objects = branches.filter(branch => branch.properties)
  const ofItems = stripping(combined(branches.flatMap(branch => (isSchema(branch.items) ? [branch.items] : []))))
  const ofMembers = objects.length > 0 && branches.every(isClosed) ? memberStripping(objects) : undefined
  if (!ofItems && !ofMembers) return undefined
  return value => {
    if (Array.isArray(value)) for (const item of value) ofItems?.(item)
    else if (typeof value === 'object' && value !== null) ofMembers?.(value)
  }
}

const memberStripping = (objects: readonly SchemaShape[]): ((value: object) => void) => {
  const known = new Map<string, Strip | undefined>()
  for (const name of new Set(objects.flatMap(branch => Object.keys(branch.properties ?? {})))) {
    known.set(name, stripping(combined(objects.flatMap(branch => branch.properties?.[name] ?? []))))
  }
  return value => {
    const members = value as Record<string, unknown>
    for (const name of Object.keys(members)) {
      if (known.has(name)) known.get(name)?.(members[name])
      else delete members[name]
    }
  }
}

/** All alternatives and parts of a schema, flat: a name known to any of them is known. */
const branchesOf = (schema: SchemaShape): readonly SchemaShape[] => {
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap(branchesOf)
  return inner.length > 0 ? (schema.properties ? [schema, ...inner] : inner) : [schema]
}

const isClosed = (schema: SchemaShape): boolean =>
  !schema.additionalProperties &&
  !schema.patternProperties &&
  (schema.properties !== undefined || (schema.type !== undefined && schema.type !== 'object') || 'const' in schema || 'enum' in schema)

const combined = (schemas: readonly SchemaShape[]): SchemaShape | undefined => (schemas.length > 1 ? { anyOf: schemas } : schemas[0])

const isSchema = (items: SchemaShape['items']): items is SchemaShape => items !== undefined && !Array.isArray(items)
