/** Scripts without blanks between words: each character is a word, and a run of them is searched as a phrase. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu
const plain = /^[\u0000-\u007f]*$/

/** Lower case, without accents and with compatibility forms undone, so that both sides of a comparison read alike. */
function simplify(text: string): string {
  if (plain.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(unspaced, ' $& ')
}

/** The words of a text: runs of letters and digits, in order. */
export function wordsOf(text: string): string[] {
  return simplify(text).match(plain.test(text) ? /[a-z0-9]+/g : /[\p{L}\p{N}]+/gu) ?? []
}

/** The words and patterns of a text in which `*` stands for any run and `?` for any one character. */
export function patternsOf(text: string): string[] {
  return simplify(text).match(/[\p{L}\p{N}*?]+/gu) ?? []
}

/** A whole value as it is compared: case, surrounding blanks and the way of writing accents do not count. */
export const foldValue = (text: string): string => text.normalize('NFC').toLowerCase().trim()
