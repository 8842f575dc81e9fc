/** Longer texts are split into trigrams only up to here and additionally have the piece `overlong`. */
const maxCharacters = 200

/** A piece of every text that is too long to be split completely; searches for any piece include it. */
export const overlongPiece = ''

/** True for a path such as `name~`, which yields the trigrams of the text at `name`. */
export const isPiecesPath = (path: string): boolean => path.endsWith('~')

/**
 * The distinct trigrams in the words of a text, lower-cased as in `contains`. Trigrams with a space are excluded: they would be half of all and are not
 * selective. Empty for a text without a word of three characters.
 */
export const trigramsOf = (text: string): readonly string[] => {
  const runs = new Set<string>()
  for (const word of text.toLowerCase().split(/\s+/u)) {
    const characters = [...word]
    for (let at = 0; at + 3 <= characters.length; at++) runs.add(characters.slice(at, at + 3).join(''))
  }
  return [...runs]
}

const none: readonly null[] = [null]

const cut = (text: string): readonly (string | null)[] => {
  const isOverlong = text.length > maxCharacters
  const runs = trigramsOf(isOverlong ? [...text].slice(0, maxCharacters).join('') : text)
  if (isOverlong) return [...runs, overlongPiece]
  return runs.length > 0 ? runs : none
}

/** A change computes the pieces of the same name before and after it. */
let last: { readonly text: string; readonly pieces: readonly (string | null)[] } = { text: '', pieces: none }

/** The keys of a text in an index over `name~`: its trigrams, which make substring searches indexable. Null for shorter texts and other values. */
export const piecesOf = (leaf: unknown): readonly (string | null)[] => {
  if (typeof leaf !== 'string') return none
  if (leaf !== last.text) last = { text: leaf, pieces: cut(leaf) }
  return last.pieces
}
