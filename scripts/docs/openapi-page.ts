/** An OpenAPI document as text: an operation, schema, parameter or response a line, so that a change of one is a change of its line. */
export const openapiPage = (document: object): string => `${written(document, [])}\n`

/** Members that lie on lines of their own, by the names above them; `*` is any. */
const opened: readonly (readonly string[])[] = [[], ['paths'], ['paths', '*'], ['components'], ['components', '*']]

const isOpened = (at: readonly string[]): boolean =>
  opened.some(names => names.length === at.length && names.every((name, place) => name === '*' || name === at[place]))

const written = (value: unknown, at: readonly string[]): string => {
  if (!isOpened(at) || typeof value !== 'object' || value === null) return JSON.stringify(value)
  const blanks = ' '.repeat(at.length)
  const lines = Object.entries(value).map(([name, each]) => `${blanks} ${JSON.stringify(name)}: ${written(each, [...at, name])}`)
  return lines.length > 0 ? `{\n${lines.join(',\n')}\n${blanks}}` : '{}'
}
