import { beginningOf, isAnything, isPattern, patternsOf, type Regex, RegexAutomaton, startOf, TooComplex, wordsOf } from 'pounce/sdk/search'
import { allOf, anyOf, anyOfMany, quote } from './condition.ts'
import { InvalidQuery } from './invalid-query.ts'
import { tokens } from './tokens.ts'
import type { Vocabulary } from './vocabulary.ts'

const indexedPrefixChars = 3
const maxBeginnings = 30
const maxPatternTerms = 4000

const noMatch = quote('_none')

/** A query for words, of which the last may go on, or for patterns. */
interface WordQuery {
  readonly fts: string
  /** The same for whole words; absent for patterns. */
  readonly whole?: string
}

/** Translates words, patterns and regular expressions to queries of the full-text index. */
export class WordCompiler {
  readonly #vocabulary: Vocabulary

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary
  }

  /** Adjacent words, the last of them as a prefix; with patterns among them, all of them in any position. */
  words(text: string): WordQuery {
    const pieces = patternsOf(text)
    if (pieces.length === 0) return { fts: noMatch }
    if (pieces.some(isPattern)) return { fts: this.#all(pieces) }
    const whole = quote(...pieces)
    return { fts: pieces.length === 1 ? this.#all(pieces) : `${whole} *`, whole }
  }

  /** All pieces, in this column. */
  inColumn(column: string, pieces: readonly string[]): WordQuery {
    const fts = `${column} : (${this.#all(pieces)})`
    return pieces.some(isPattern) ? { fts } : { fts, whole: `${column} : (${pieces.map(piece => quote(piece)).join(' AND ')})` }
  }

  /** A piece that is anything says something only if it is alone. */
  #all(pieces: readonly string[]): string {
    const specific = pieces.filter(piece => !isAnything(piece))
    return allOf((specific.length === 0 ? pieces.slice(0, 1) : specific).map(piece => this.#piece(piece)))
  }

  /** All pieces, each in any of the fields. */
  inFields(names: readonly string[], pieces: readonly string[]): string {
    return allOf(pieces.map(piece => this.#pieceIn(names, piece)))
  }

  /** Words that match the regular expression, in any column or in one. */
  regex(regex: Regex, column?: string): string {
    const words = anyOfMany(this.#fitting(regex).map(word => quote(word)))
    return column ? `${column} : (${words})` : words
  }

  /** Words that match the regular expression, in any of the fields. */
  regexIn(names: readonly string[], regex: Regex): string {
    return this.#wordsIn(names, this.#fitting(regex), 'Too many words match the regular expression; make it narrower')
  }

  #fitting(regex: Regex): readonly string[] {
    const automaton = automatonOf(regex)
    return this.#vocabulary.fitting(startOf(regex), word => automaton.fits(word))
  }

  #piece(piece: string): string {
    if (isAnything(piece)) return quote('_all')
    const begin = beginningOf(piece)
    if (!begin && isPattern(piece)) return anyOfMany(this.#vocabulary.matching(piece).map(word => quote(word)))
    return this.#beginning(begin ?? piece)
  }

  /** Few words with a prefix are merged while the index is read; for a prefix query, FTS5 first collects all matches, which takes longer. */
  #beginning(word: string): string {
    if (word.length <= indexedPrefixChars) return `${quote(word)} *`
    const words = this.#vocabulary.beginningWith(word, maxBeginnings + 1)
    return words.length > maxBeginnings ? `${quote(word)} *` : anyOf(words.map(each => quote(each)))
  }

  #pieceIn(names: readonly string[], piece: string): string {
    const begin = isPattern(piece) ? beginningOf(piece) : piece
    if (begin) return anyOf(names.map(name => `${quote(tokens.word(name, begin))} *`))
    return this.#wordsIn(names, this.#vocabulary.matching(piece), `Too many words match ${piece}; use a longer prefix`)
  }

  /** Any of the words in any of the fields. If these are very many, only words and fields that the caller may view. */
  #wordsIn(names: readonly string[], words: readonly string[], refusal: string): string {
    const isFew = (some: readonly string[], others: readonly string[]): boolean => some.length * others.length <= maxPatternTerms
    if (isFew(names, words)) return inAny(names, words)
    const seen = new Set(this.#vocabulary.visible(names.map(tokens.has), names.length))
    const [seenNames, seenWords] = [names.filter(name => seen.has(tokens.has(name))), this.#vocabulary.visible(words, words.length)]
    if (!isFew(seenNames, seenWords)) throw new InvalidQuery(refusal)
    return inAny(seenNames, seenWords)
  }
}

const inAny = (names: readonly string[], words: readonly string[]): string =>
  anyOfMany(names.flatMap(name => words.map(word => quote(tokens.word(name, word)))))

/** Whole words in this order, in a column or anywhere. */
export function phrase(text: string, column?: string): string {
  const words = wordsOf(text)
  if (words.length === 0) return noMatch
  return column ? `${column} : ${quote(...words)}` : quote(...words)
}

/** Whole words in this order, in any of the fields. */
export function phraseIn(names: readonly string[], text: string): string {
  const words = wordsOf(text)
  return words.length === 0 ? noMatch : anyOf(names.map(name => quote(...words.map(word => tokens.word(name, word)))))
}

/** Compiles a regular expression. Throws `InvalidQuery` when it is too complex. */
export function automatonOf(regex: Regex): RegexAutomaton {
  try {
    return new RegexAutomaton(regex)
  } catch (error) {
    if (error instanceof TooComplex) throw new InvalidQuery(`${error.message}; simplify it`)
    throw error
  }
}
