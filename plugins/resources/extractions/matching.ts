const inTwo = (text: string, separator: RegExp): readonly string[] | undefined => {
  const parts = text.split(separator)
  return parts.length === 2 && parts.every(part => part !== '') ? parts : undefined
}

const matches = (pattern: string, given: string, separator: RegExp): boolean => {
  const wanted = inTwo(pattern, separator)
  const parts = inTwo(given, separator)
  return wanted !== undefined && parts !== undefined && wanted.every((part, at) => part === '*' || part === parts[at])
}

/**
 * Whether a pattern such as `image/*` takes a media type. Both must have exactly two parts, each equal or `*` in the pattern:
 * a bare `*` never matches. New: only the slash parts them, so a subtype with a dot can be named; v1 also split at dots.
 */
export const takes = (pattern: string, mediaType: string): boolean => matches(pattern.toLowerCase(), mediaType.toLowerCase(), /\//)

/** Whether a pattern of `process.dataset` or `process.metadata`, such as `file.added` or `added.*`, takes an operation. */
export const takesOperation = (pattern: string, operation: string): boolean => matches(pattern, operation, /[./]/)
