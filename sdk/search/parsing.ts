import { Invalid } from '../problem.ts'
import { type Expectation, parse, SyntaxError as Unreadable } from './grammar/query-parser.js'

/** Maximum nesting of parentheses. */
const maxDepth = 50

/** A syntax error at a 1-based position, with what was expected there. */
export function refusal(at: number, message: string, expected: readonly string[] = []): Invalid {
  return new Invalid(`${message} (position ${at + 1})`, { details: { position: at + 1, ...(expected.length === 0 ? {} : { expected }) } })
}

/** Parses a query. `Invalid` with the position of the syntax error and what was expected there. */
export function parseQuery(text: string) {
  mustNotNest(text)
  return withPlace(0, text, () => parse(text, { startRule: 'Query' }))
}

/** Parses the text between the slashes of an expression; `at` is its position. */
export function parseRegex(text: string, at: number) {
  mustNotNest(text, at)
  return withPlace(at, text, () => parse(text, { startRule: 'Regex' }))
}

function withPlace<T>(at: number, text: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const { offset } = error.location.start
    if (error.expected === null) throw refusal(at + offset, `The query cannot be parsed: ${error.message}`)
    const expected = inWords(error.expected)
    const found = offset < text.length ? `found ${String.fromCodePoint(text.codePointAt(offset) ?? 0)}` : 'the query ends'
    throw refusal(at + offset, `The query cannot be parsed: expected ${listed(expected)}, but ${found}`, expected)
  }
}

const names: Readonly<Record<string, string>> = {
  '(': 'an opening parenthesis',
  ')': 'a closing parenthesis',
  '[': 'a class such as [a-z]',
}
const untold = new Set(['a blank', ':', '^', '-', '?:'])

function inWords(expected: readonly Expectation[]): readonly string[] {
  const words = expected.map(({ description, text }) => description ?? names[text ?? ''] ?? text ?? '')
  return [...new Set(words)].filter(word => word !== '' && !untold.has(word)).sort()
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words[words.length - 1]}`

/** The parser recurses for each parenthesis. */
function mustNotNest(text: string, at = 0): void {
  let depth = 0
  for (let n = 0; n < text.length; n += 1) {
    if (text[n] === '(') depth += 1
    if (text[n] === ')') depth = Math.max(depth - 1, 0)
    if (depth > maxDepth) throw refusal(at + n, `The query has more than ${maxDepth} levels of parentheses`)
  }
}
