/**
 * A parsed regular expression. It must match a whole word: where the user wrote no `^` or `$`, it begins or ends with a repeated `any`. Letters are normalized
 * like those of words. `regexLimits` apply to every expression parsed from text.
 */
export type Regex =
  /** These literal characters. Empty: the empty string. */
  | { readonly is: 'text'; readonly text: string }
  /** Any one character. */
  | { readonly is: 'any' }
  /** One character in (or, if negated, outside of) these ranges of code points, both ends inclusive. */
  | { readonly is: 'class'; readonly ranges: readonly (readonly [from: number, to: number])[]; readonly isNegated: boolean }
  | { readonly is: 'sequence'; readonly of: readonly Regex[] }
  | { readonly is: 'either'; readonly of: readonly Regex[] }
  /** At least `from` and at most `to` times; unbounded without `to`. */
  | { readonly is: 'repeat'; readonly what: Regex; readonly from: number; readonly to?: number }

/** Maximum length of the source, maximum count in `{n,m}`, and maximum number of states of the automaton. */
export const regexLimits = { chars: 200, repeats: 100, states: 1000 } as const

/** Converts to Lucene's regular expression syntax, as used by Elasticsearch; everything this language does not have is escaped. */
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

/** A backslash before a letter or digit could have a meaning, and before a character of two UTF-16 units it breaks ranges of a class. */
const escaped = (text: string): string => text.replace(/[!-/:-@[-`{-~]/g, '\\$&')
const inClass = (point: number): string => escaped(String.fromCodePoint(point))
