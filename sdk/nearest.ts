/** Edit distance of two strings: insertions, deletions, substitutions and swaps of adjacent characters. */
export const editDistance = (from: string, to: string): number => {
  let before: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let row = 1; row <= from.length; row++) {
    const now = [row]
    for (let at = 1; at <= to.length; at++) {
      const cost = from[row - 1] === to[at - 1] ? 0 : 1
      let best = Math.min((last[at] ?? 0) + 1, (now[at - 1] ?? 0) + 1, (last[at - 1] ?? 0) + cost)
      if (row > 1 && at > 1 && from[row - 1] === to[at - 2] && from[row - 2] === to[at - 1])
        best = Math.min(best, (before[at - 2] ?? 0) + 1)
      now.push(best)
    }
    before = last
    last = now
  }
  return last[to.length] ?? 0
}

/** The candidate closest to a misspelt name, ignoring case; undefined when there is none. */
export const nearest = (name: string, candidates: Iterable<string>): string | undefined => {
  const wanted = name.toLowerCase()
  let best: { readonly candidate: string; readonly distance: number } | undefined
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (!best || distance < best.distance) best = { candidate, distance }
  }
  return best?.candidate
}

/** ` (did you mean x?)`, or an empty string. `within` excludes candidates that differ by more than this fraction of the name. */
export const didYouMean = (name: string, candidates: Iterable<string>, within = Number.POSITIVE_INFINITY): string => {
  const candidate = nearest(name, candidates)
  if (candidate === undefined || editDistance(name, candidate) > within * name.length) return ''
  return ` (did you mean ${candidate}?)`
}
