/** Formats an OpenAPI document with one operation, schema, parameter or response per line, for readable diffs. */
export const openapiPage = (document: object): string => `${written(document, [])}\n`

/** Paths of the objects whose members get separate lines; `*` matches any name. */
const opened: readonly (readonly string[])[] = [[], ['paths'], ['paths', '*'], ['components'], ['components', '*']]

const isOpened = (at: readonly string[]): boolean =>
  opened.some(names => names.length === at.length && names.every((name, place) => name === '*' || name === at[place]))

const written = (value: unknown, at: readonly string[]): string => {
  if (!isOpened(at) || typeof value !== 'object' || value === null) return JSON.stringify(value)
  const blanks = ' '.repeat(at.length)
  const lines = Object.entries(value).map(([name, each]) => `${blanks} ${JSON.stringify(name)}: ${written(each, [...at, name])}`)
  return lines.length > 0 ? `{\n${lines.join(',\n')}\n${blanks}}` : '{}'
}
