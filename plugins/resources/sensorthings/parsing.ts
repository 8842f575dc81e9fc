import { Invalid } from 'pounce/sdk'
import { type Expectation, type Parsed, parse, SyntaxError as Unreadable } from './grammar/sensorthings-parser.js'

const maxLength = 4000
/** Maximum nesting of parentheses. */
const maxDepth = 30

/** An error at a position of a text, counted from 1. `of` names the text, such as `$filter`. */
export const refusal = (of: string, at: number, message: string): Invalid =>
  new Invalid(`${of}: ${message} (position ${at + 1})`, { details: { position: at + 1 } })

/** Parses a text by a rule of the grammar. Throws `Invalid` with the position of the error and what was expected there. */
export const read = <R extends keyof Parsed>(rule: R, text: string, of: string): Parsed[R] => {
  if (text.length > maxLength) throw refusal(of, maxLength, `it has ${text.length} characters; at most ${maxLength} are read`)
  mustNotNest(text, of)
  try {
    return parse(text, { startRule: rule })
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const { offset } = error.location.start
    if (error.expected === null) throw refusal(of, offset, error.message)
    const found = offset < text.length ? `${String.fromCodePoint(text.codePointAt(offset) ?? 0)} stands` : 'the text ends'
    throw refusal(of, offset, `expected ${listed(inWords(error.expected))} where ${found}`)
  }
}

const inWords = (expected: readonly Expectation[]): readonly string[] => {
  const words = expected.map(({ description, text }) => description ?? text ?? '')
  return [...new Set(words)].filter(word => word !== '' && word !== 'a blank').sort()
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') || 'a blank' : `${words.slice(0, -1).join(', ')} or ${words[words.length - 1]}`

/** The parser recurses for each parenthesis. */
const mustNotNest = (text: string, of: string): void => {
  let depth = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (char === "'") isQuoted = !isQuoted
    if (isQuoted) continue
    if (char === '(') depth += 1
    if (char === ')') depth = Math.max(depth - 1, 0)
    if (depth > maxDepth) throw refusal(of, at, `more than ${maxDepth} parentheses are inside each other`)
  }
}
