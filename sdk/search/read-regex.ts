import type { ParsedAlternative, ParsedPart } from './grammar/query-parser.js'
import { parseRegex, refusal } from './parsing.ts'
import { type Regex, regexLimits } from './regex.ts'
import { RegexAutomaton, TooComplex } from './regex-automaton.ts'
import { simplify } from './text.ts'

const anyRun: Regex = { is: 'repeat', what: { is: 'any' }, from: 0 }

/** Parses the text between the slashes; `at` is its position in the query. Unless anchored, the expression matches anywhere in a word. */
export function readRegex(source: string, at = 0): Regex {
  if (source.length > regexLimits.chars)
    throw refusal(at, `An expression has at most ${regexLimits.chars} characters, and this one has ${source.length}`)
  const regex = either(parseRegex(source, at).map(each => anchored(each, at)))
  try {
    new RegexAutomaton(regex)
  } catch (error) {
    if (error instanceof TooComplex) throw refusal(at, `${error.message}; simplify it`)
    throw error
  }
  return regex
}

function anchored({ isStart, parts, isEnd }: ParsedAlternative, at: number): Regex {
  return sequence([...(isStart ? [] : [anyRun]), ...parts.map(part => toRegex(part, at)), ...(isEnd ? [] : [anyRun])])
}

function toRegex(part: ParsedPart, at: number): Regex {
  switch (part.is) {
    case 'text':
      return { is: 'text', text: folded(part.text) }
    case 'any':
      return part
    case 'class':
      return { is: 'class', isNegated: part.isNegated, ranges: part.ranges.flatMap(([from, to]) => toRanges(from, to, at)) }
    case 'sequence':
      return sequence(part.of.map(each => toRegex(each, at)))
    case 'either':
      return either(part.of.map(each => toRegex(each, at)))
    case 'repeat':
      mustBeCount(part.from, part.to, at)
      return { ...part, what: toRegex(part.what, at) }
  }
}

function mustBeCount(from: number, to: number | undefined, at: number): void {
  if (from > regexLimits.repeats || (to ?? 0) > regexLimits.repeats)
    throw refusal(at, `A count in an expression is at most ${regexLimits.repeats}`)
  if (to !== undefined && to < from) throw refusal(at, `{${from},${to}} ends before it begins`)
}

/** Characters as they occur in words; characters other than letters match nothing there and stay unchanged. */
const folded = (char: string): string => simplify(char).trim()

/** Words are lower case, so capital letters in classes stand for their lower-case forms. */
function toRanges(first: string, last: string, at: number): readonly (readonly [number, number])[] {
  const [from, to] = [pointOf(first), pointOf(last)]
  if (to < from) throw refusal(at, `${first}-${last} ends before it begins`)
  const small = smallLetters(from, to)
  const single = from === to ? [...folded(first)] : []
  const other = single.length === 1 ? [pointOf(single[0] ?? first)] : []
  return [[from, to] as const, ...small, ...other.filter(point => point !== from).map(point => [point, point] as const)]
}

function smallLetters(from: number, to: number): readonly (readonly [number, number])[] {
  const [start, end] = [Math.max(from, pointOf('A')), Math.min(to, pointOf('Z'))]
  return start <= end ? [[start + 32, end + 32]] : []
}

const pointOf = (char: string): number => char.codePointAt(0) ?? 0

/** Merges adjacent texts. */
function sequence(parts: readonly Regex[]): Regex {
  const joined: Regex[] = []
  for (const part of parts.flatMap(each => (each.is === 'sequence' ? each.of : [each]))) {
    const last = joined[joined.length - 1]
    if (part.is === 'text' && last?.is === 'text') joined[joined.length - 1] = { is: 'text', text: last.text + part.text }
    else joined.push(part)
  }
  return joined.length === 1 ? (joined[0] as Regex) : { is: 'sequence', of: joined }
}

const either = (of: readonly Regex[]): Regex => (of.length === 1 ? (of[0] as Regex) : { is: 'either', of })
