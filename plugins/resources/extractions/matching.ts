const twoParts = (text: string): readonly [string, string] | undefined => {
  const slash = text.indexOf('/')
  return slash > 0 && slash === text.lastIndexOf('/') && slash < text.length - 1 ? [text.slice(0, slash), text.slice(slash + 1)] : undefined
}

/**
 * Whether a pattern such as `image/*` takes a media type. Both must have exactly two parts, each equal or `*` in the pattern:
 * a bare `*` never matches. New: only the slash parts them, so a subtype with a dot can be named; v1 also split at dots.
 */
export const takes = (pattern: string, mediaType: string): boolean => {
  const wanted = twoParts(pattern.toLowerCase())
  const given = twoParts(mediaType.toLowerCase())
  if (!wanted || !given) return false
  return wanted.every((part, at) => part === '*' || part === given[at])
}
