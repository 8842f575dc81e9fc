/** Characters that are words by themselves: those of scripts without spaces between words, and pictographs. A sequence of them is searched as a phrase. */
const alone = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Extended_Pictographic}\p{Regional_Indicator}]/gu
const wordForm = /[\p{L}\p{N}]+|[\p{Extended_Pictographic}\p{Regional_Indicator}]/gu
const patternForm = /[\p{L}\p{N}*?]+|[\p{Extended_Pictographic}\p{Regional_Indicator}]/gu
const plain = /^[\u0000-\u007f]*$/

/** Letters with two common spellings that Unicode does not decompose. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
}
const special = /[ßæœøđðłþıς]/g

/** Longer words are truncated to this number of UTF-16 units, in documents and in queries. */
export const maxWordLength = 200
/** Number of words of one value that can be found by field. */
export const wordsPerValue = 2000
/** Number of UTF-16 units of a folded text value that are stored for `<`, `>` and suggestions. */
export const comparedChars = 200

/**
 * Normalizes text for comparison of words: lower case, without accents, compatibility forms and invisible characters within words (soft hyphens, joiners), with
 * spaces around single-character words.
 */
export function simplify(text: string): string {
  if (plain.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKD')
    .replace(/[\u200d\p{M}\u00ad\u200c\u2060\ufeff]+/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(special, letter => plainLetters[letter] ?? letter)
    .replace(alone, ' $& ')
}

/** The words of a text, in order: runs of letters and digits, single Chinese and Japanese characters, and single emoji. They contain no spaces or `_`. */
export function wordsOf(text: string): string[] {
  const words = simplify(text).match(plain.test(text) ? /[a-z0-9]+/g : wordForm) ?? []
  return text.length > maxWordLength ? words.map(cut) : words
}

/** The words and patterns of a search text, where `*` stands for any characters and `?` for a single one. */
export function patternsOf(text: string): string[] {
  const pieces = simplify(text).match(patternForm) ?? []
  return pieces.map(piece => (piece.length <= maxWordLength ? piece : isPattern(piece) ? `${cut(piece)}*` : cut(piece)))
}

/** True if the piece contains `*` or `?`. */
export const isPattern = (piece: string): boolean => /[*?]/.test(piece)

/** True if the piece matches every word. */
export const isAnything = (piece: string): boolean => /^\*+$/.test(piece)

/** The prefix in a pattern that only specifies how words begin; undefined for other patterns and for words. */
export const beginningOf = (piece: string): string | undefined => /^([^*?]+)\*+$/.exec(piece)?.[1]

/** Normalizes a whole value for comparison: ignores case, surrounding spaces and composition of accents. */
export const foldValue = (text: string): string => text.normalize('NFC').toLowerCase().trim()

/** A text value as stored for `<` and `>`, which compare by code point. */
export const comparableText = (text: string): string => foldValue(text).slice(0, comparedChars).toWellFormed()

const cut = (word: string): string => (word.length <= maxWordLength ? word : word.slice(0, maxWordLength).toWellFormed())

/** Whether a word starts with the piece or matches the pattern. Linear in both. */
export function pieceFits(piece: string, word: string): boolean {
  if (!isPattern(piece)) return word.startsWith(piece)
  const [wanted, chars] = [[...piece], [...word]]
  let [at, star, mark] = [0, -1, 0]
  for (let n = 0; n < chars.length; ) {
    if (wanted[at] === '*') {
      star = at
      mark = n
      at += 1
    } else if (at < wanted.length && (wanted[at] === '?' || wanted[at] === chars[n])) {
      at += 1
      n += 1
    } else if (star >= 0) {
      mark += 1
      n = mark
      at = star + 1
    } else return false
  }
  return wanted.slice(at).every(each => each === '*')
}

/** Whether each word of a text is a prefix of a word in the name, in any order. False for a text without words. */
export function beginsWordsOf(text: string, name: string): boolean {
  const [wanted, words] = [wordsOf(text), wordsOf(name)]
  return wanted.length > 0 && wanted.every(piece => words.some(word => word.startsWith(piece)))
}

/** A part of a text with one or a few words in normalized form; `start` and `end` are UTF-16 offsets. */
export interface WordSpan {
  readonly word: string
  readonly start: number
  readonly end: number
}

const runForm =
  /[[\p{L}\p{N}\p{M}\u00ad\u200c\u200d\u2060\ufeff]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Extended_Pictographic}\p{Regional_Indicator}]]+|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Extended_Pictographic}\p{Regional_Indicator}]\p{M}*/gv

/** The words of `wordsOf` with their positions in the text, for highlighting search results. */
export function wordSpansOf(text: string): readonly WordSpan[] {
  const spans: WordSpan[] = []
  for (const { 0: run, index: start } of text.matchAll(runForm))
    for (const word of wordsOf(run)) spans.push({ word, start, end: start + run.length })
  return spans
}
