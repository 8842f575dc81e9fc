/**
 * A regular expression as data. It fits a word as a whole: where the person gave no `^` or `$`, a repeated `any` stands at that end.
 * Letters are simplified as those of words are. `regexLimits` hold for every one that was read from text.
 */
export type Regex =
  /** These characters, none of them with a meaning. Empty: nothing at all. */
  | { readonly is: 'text'; readonly text: string }
  /** Any one character. */
  | { readonly is: 'any' }
  /** One character of (or, negated, outside of) these ranges of code points, both ends included. */
  | { readonly is: 'class'; readonly ranges: readonly (readonly [from: number, to: number])[]; readonly isNegated: boolean }
  | { readonly is: 'sequence'; readonly of: readonly Regex[] }
  | { readonly is: 'either'; readonly of: readonly Regex[] }
  /** At least `from` times; at most `to` times where that is given. */
  | { readonly is: 'repeat'; readonly what: Regex; readonly from: number; readonly to?: number }

/** Longest source, highest count in `{n,m}`, and states of the automaton that an expression may take. */
export const regexLimits = { chars: 200, repeats: 100, states: 1000 } as const

/** In the syntax of Lucene's regular expressions, which Elasticsearch reads; only what this language has, everything else escaped. */
export function toLuceneRegex(regex: Regex): string {
  switch (regex.is) {
    case 'text':
      return regex.text === '' ? '()' : escaped(regex.text)
    case 'any':
      return '.'
    case 'class':
      return `[${regex.isNegated ? '^' : ''}${regex.ranges.map(([from, to]) => `${inClass(from)}-${inClass(to)}`).join('')}]`
    case 'sequence':
      return regex.of.length === 0
        ? '()'
        : regex.of.map(part => (part.is === 'either' ? `(${toLuceneRegex(part)})` : toLuceneRegex(part))).join('')
    case 'either':
      return regex.of.map(toLuceneRegex).join('|')
    case 'repeat':
      return `(${toLuceneRegex(regex.what)})${times(regex.from, regex.to)}`
  }
}

function times(from: number, to: number | undefined): string {
  if (to === undefined) return from === 0 ? '*' : from === 1 ? '+' : `{${from},}`
  return from === 0 && to === 1 ? '?' : `{${from},${to}}`
}

/** A backslash before a letter or digit could have a meaning, and those need none. */
const escaped = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '\\$&')
const inClass = (point: number): string => escaped(String.fromCodePoint(point))
