/** Type and subtype as in routing keys of Clowder 1.x, with `.` replaced by `_`. Undefined unless there are exactly two parts. */
const partsOf = (text: string): readonly [string, string] | undefined => {
  const at = text.includes('/') ? text.indexOf('/') : text.indexOf('.')
  const [first, second] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]
  if (first === '' || second === '' || second.includes('/')) return undefined
  return [first.replaceAll('.', '_'), second.replaceAll('.', '_')]
}

/**
 * Whether a pattern in an extractor's `process` matches an operation: a media type such as `text/csv`, or an event such as `file.added`. `/`, or else the first
 * dot, separates type and subtype; each part must be equal or `*` in the pattern; `*` alone matches everything. Further dots are equivalent to `_`, so
 * `application/vnd.ms-excel` is also `application.vnd_ms-excel`, as in the routing keys of Clowder 1.x. Case-insensitive.
 */
export const takesOperation = (pattern: string, operation: string): boolean => {
  if (pattern === '*') return true
  const wanted = partsOf(pattern.toLowerCase())
  const given = partsOf(operation.toLowerCase())
  return wanted !== undefined && given !== undefined && wanted.every((part, at) => part === '*' || part === given[at])
}
