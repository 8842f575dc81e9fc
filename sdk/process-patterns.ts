/** Type and subtype as routing keys of Clowder 1.x write them: dots of either are `_`. Undefined for anything that has not two parts. */
const partsOf = (text: string): readonly [string, string] | undefined => {
  const at = text.includes('/') ? text.indexOf('/') : text.indexOf('.')
  const [first, second] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]
  if (first === '' || second === '' || second.includes('/')) return undefined
  return [first.replaceAll('.', '_'), second.replaceAll('.', '_')]
}

/**
 * Whether a pattern of an extractor's `process` takes an operation: a media type such as `text/csv`, or what happened, such as `file.added`.
 * `/`, or else the first dot, parts type from subtype; a part is equal or `*` in the pattern, and `*` alone takes everything. Later dots count as `_`,
 * so `application/vnd.ms-excel` is also `application.vnd_ms-excel`, as in the routing keys of Clowder 1.x. Letter case does not matter.
 */
export const takesOperation = (pattern: string, operation: string): boolean => {
  if (pattern === '*') return true
  const wanted = partsOf(pattern.toLowerCase())
  const given = partsOf(operation.toLowerCase())
  return wanted !== undefined && given !== undefined && wanted.every((part, at) => part === '*' || part === given[at])
}
