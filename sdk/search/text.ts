/** Characters that are words by themselves: of scripts without blanks between words, and pictures. A run of them is searched as a phrase. */
const alone = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Extended_Pictographic}\p{Regional_Indicator}]/gu
const wordForm = /[\p{L}\p{N}]+|[\p{Extended_Pictographic}\p{Regional_Indicator}]/gu
const patternForm = /[\p{L}\p{N}*?]+|[\p{Extended_Pictographic}\p{Regional_Indicator}]/gu
const plain = /^[\u0000-\u007f]*$/

/** Letters that people write in two ways and that Unicode does not take apart. */
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

/** A longer word is cut to so many UTF-16 units, in documents and in queries alike. */
export const maxWordLength = 200
/** Of one value, so many words are found by field. */
export const wordsPerValue = 2000
/** Of a text value, so many UTF-16 units of its folded form are kept for `<`, `>` and suggestions. */
export const comparedChars = 200

/** Text as its words are compared: lower case, without accents, compatibility forms undone, single-character words set apart by blanks. */
export function simplify(text: string): string {
  if (plain.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(special, letter => plainLetters[letter] ?? letter)
    .replace(alone, ' $& ')
}

/** The words of a text, in order: runs of letters and digits, each Chinese or Japanese character and each emoji. No blank or `_` in any. */
export function wordsOf(text: string): string[] {
  const words = simplify(text).match(plain.test(text) ? /[a-z0-9]+/g : wordForm) ?? []
  return text.length > maxWordLength ? words.map(cut) : words
}

/** The same of what a person looks for, where `*` stands for any run of characters and `?` for any one: words and patterns. */
export function patternsOf(text: string): string[] {
  const pieces = simplify(text).match(patternForm) ?? []
  return pieces.map(piece => (piece.length <= maxWordLength ? piece : isPattern(piece) ? `${cut(piece)}*` : cut(piece)))
}

/** Has `*` or `?`. */
export const isPattern = (piece: string): boolean => /[*?]/.test(piece)

/** Fits every word. */
export const isAnything = (piece: string): boolean => /^\*+$/.test(piece)

/** The letters of a pattern that says no more than how a word begins; undefined of other patterns and of words. */
export const beginningOf = (piece: string): string | undefined => /^([^*?]+)\*+$/.exec(piece)?.[1]

/** A whole value as it is compared: case, surrounding blanks and the way of writing accents do not count. */
export const foldValue = (text: string): string => text.normalize('NFC').toLowerCase().trim()

/** A text value as it is kept for `<` and `>`, which go by code points. */
export const comparableText = (text: string): string => foldValue(text).slice(0, comparedChars).toWellFormed()

const cut = (word: string): string => (word.length <= maxWordLength ? word : word.slice(0, maxWordLength).toWellFormed())

/** Whether a word begins with this piece, or is what the pattern describes. Linear in both. */
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

/** Whether each word of a text begins a word of the name, in any order. False of a text without words. */
export function beginsWordsOf(text: string, name: string): boolean {
  const [wanted, words] = [wordsOf(text), wordsOf(name)]
  return wanted.length > 0 && wanted.every(piece => words.some(word => word.startsWith(piece)))
}

/** A run of a text that is a word, or few, as it is compared; `start` and `end` are UTF-16 units of the text. */
export interface WordSpan {
  readonly word: string
  readonly start: number
  readonly end: number
}

const runForm =
  /[[\p{L}\p{N}\p{M}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Extended_Pictographic}\p{Regional_Indicator}]]+|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Extended_Pictographic}\p{Regional_Indicator}]\p{M}*/gv

/** The words of a text as `wordsOf` has them, with the places where they are: to mark what a search found. */
export function wordSpansOf(text: string): readonly WordSpan[] {
  const spans: WordSpan[] = []
  for (const { 0: run, index: start } of text.matchAll(runForm))
    for (const word of wordsOf(run)) spans.push({ word, start, end: start + run.length })
  return spans
}
