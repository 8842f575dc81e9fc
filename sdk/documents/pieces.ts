/** Texts beyond this are cut into pieces only so far; they have `overlong` as one more piece. */
const mostCharacters = 200

/** A piece of every text that is too long to be cut whole: anyone who looks for a piece looks for this one too. */
export const overlong = ''

/** True of a path such as `name~`, which reaches the pieces of the text at `name`. */
export const isPiecesPath = (path: string): boolean => path.endsWith('~')

/**
 * Every different run of three characters in the words of a text, in lower case as `contains` compares. Those with a blank would be half of all, and distinguish
 * little. None in a text without a word of three.
 */
export const runsOf = (text: string): readonly string[] => {
  const runs = new Set<string>()
  for (const word of text.toLowerCase().split(/\s+/u)) {
    const characters = [...word]
    for (let at = 0; at + 3 <= characters.length; at++) runs.add(characters.slice(at, at + 3).join(''))
  }
  return [...runs]
}

const none: readonly null[] = [null]

const cut = (text: string): readonly (string | null)[] => {
  const isOverlong = text.length > mostCharacters
  const runs = runsOf(isOverlong ? [...text].slice(0, mostCharacters).join('') : text)
  if (isOverlong) return [...runs, overlong]
  return runs.length > 0 ? runs : none
}

/** A change looks at the same name before and after it. */
let last: { readonly text: string; readonly pieces: readonly (string | null)[] } = { text: '', pieces: none }

/**
 * Keys of a text in an index over `name~`: its runs of three characters, so that a text anywhere in a name is found by an index.
 * Of what is no text, or shorter, null.
 */
export const piecesOf = (leaf: unknown): readonly (string | null)[] => {
  if (typeof leaf !== 'string') return none
  if (leaf !== last.text) last = { text: leaf, pieces: cut(leaf) }
  return last.pieces
}
