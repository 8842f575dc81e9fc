import { isAbout, type MatchCondition, type MatchedPart, type SearchedValue } from './match-conditions.ts'

/** Where a hit matches the query. */
export interface MatchedFragment {
  readonly field: string
  /** Plain text; offsets of `marks` are UTF-16 units in it. */
  readonly text: string
  readonly marks: readonly MatchedPart[]
}

const maxFragments = 5
const maxMarks = 20
const maxFragmentLength = 200
/** Minimum number of characters before the first mark of a fragment. */
const leadLength = 40

/** Different fragments of the values, in order, and the conditions that match none of the values. */
export const fragmentsOf = (
  values: readonly SearchedValue[],
  conditions: readonly MatchCondition[],
): { readonly fragments: readonly MatchedFragment[]; readonly unexplained: readonly MatchCondition[] } => {
  const explained = new Set<MatchCondition>()
  const fragments: MatchedFragment[] = []
  for (const value of values) {
    const marks: MatchedPart[] = []
    for (const condition of conditions) {
      if (!isAbout(condition, value.field)) continue
      const found = condition.marksIn(value)
      if (found.length === 0) continue
      explained.add(condition)
      marks.push(...found)
    }
    if (marks.length === 0 || fragments.length >= maxFragments) continue
    const fragment = fragmentOf(value, merged(marks))
    if (!fragments.some(({ field, text }) => field === fragment.field && text === fragment.text)) fragments.push(fragment)
  }
  return { fragments, unexplained: conditions.filter(condition => !explained.has(condition)) }
}

export const withinLimit = (fragments: readonly MatchedFragment[]): readonly MatchedFragment[] => fragments.slice(0, maxFragments)

/** In order, with adjacent ones merged. */
const merged = (marks: readonly MatchedPart[]): readonly MatchedPart[] => {
  const result: MatchedPart[] = []
  for (const mark of [...marks].sort((a, b) => a.start - b.start)) {
    const last = result.at(-1)
    if (last && mark.start <= last.end) result[result.length - 1] = { start: last.start, end: Math.max(last.end, mark.end) }
    else result.push(mark)
  }
  return result
}

const fragmentOf = ({ field, text }: SearchedValue, marks: readonly MatchedPart[]): MatchedFragment => {
  const from = text.length <= maxFragmentLength ? 0 : startBefore(text, marks[0]?.start ?? 0)
  const to = Math.min(text.length, from + maxFragmentLength)
  const [before, after] = [from > 0 ? '…' : '', to < text.length ? '…' : '']
  const shift = before.length - from
  return {
    field,
    text: `${before}${text.slice(from, to).toWellFormed()}${after}`,
    marks: marks
      .filter(({ start }) => start < to)
      .slice(0, maxMarks)
      .map(({ start, end }) => ({ start: start + shift, end: Math.min(end, to) + shift })),
  }
}

/** The start of a word some way before the mark. */
const startBefore = (text: string, mark: number): number => {
  const earliest = mark - leadLength
  if (earliest <= 0) return 0
  const blank = text.slice(earliest, mark).search(/\s/)
  return blank < 0 ? earliest : earliest + blank + 1
}
