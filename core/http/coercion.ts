import { idPattern, type SchemaShape, typesOf } from './schema-shape.ts'

type Raw = Readonly<Record<string, string | readonly string[] | undefined>>
type Coercer = (text: string) => unknown

const yes = new Set(['true', '1', 'yes', 'on'])
const no = new Set(['false', '0', 'no', 'off'])

/**
 * Turns the texts of a path or a query into values of the declared types, as far as they fit: what does not stays text, for the
 * validation to refuse. Names that are not declared are left out; of a repeated name that is not a list the first counts.
 */
export const coercion = (schema: SchemaShape): ((raw: Raw) => Record<string, unknown>) => {
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => ({ name, ...memberOf(member) }))
  return raw => {
    const values: Record<string, unknown> = {}
    for (const { name, isList, skipsEmpty, coerce } of members) {
      const given = raw[name]
      if (given === undefined) continue
      if (isList) {
        const texts = typeof given === 'string' ? [given] : given
        values[name] = texts.map(coerce)
        continue
      }
      const text = typeof given === 'string' ? given : (given[0] ?? '')
      if (text === '' && skipsEmpty) continue
      values[name] = coerce(text)
    }
    return values
  }
}

const memberOf = (schema: SchemaShape): { isList: boolean; skipsEmpty: boolean; coerce: Coercer } => {
  const types = typesOf(schema)
  const isList = types.includes('array')
  const items = Array.isArray(schema.items) ? schema.items[0] : schema.items
  return {
    isList,
    // Forms send fields that were left empty; an empty number or id says as much as none.
    skipsEmpty: !types.includes('string') || schema.pattern === idPattern,
    coerce: coercerOf(isList && items ? typesOf(items) : types),
  }
}

const coercerOf = (types: readonly string[]): Coercer => {
  const takesNumber = types.includes('number') || types.includes('integer')
  const takesBoolean = types.includes('boolean')
  if (!takesNumber && !takesBoolean) return text => text
  return text => {
    if (takesNumber && /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return Number(text)
    const word = text.toLowerCase()
    if (takesBoolean && yes.has(word)) return true
    if (takesBoolean && no.has(word)) return false
    return text
  }
}
