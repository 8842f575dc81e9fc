import { trimEnd } from 'pounce/sdk'

/** Whom a text speaks to: an address, or words that may be a name, the longest reading first. */
export type SpokenTo = { readonly email: string } | { readonly words: readonly string[] }

const mostPeople = 20
const mostWords = 5

/** An `@` that nothing stands right before, so that `ann@example.org` speaks to nobody. */
const sign = /(?<![\p{L}\p{M}\p{N}._%+@-])@/gu
const address = /^([^\s@:<>()[\],;"']{1,64}@[\p{L}\p{N}.-]*[\p{L}\p{N}])/u
const nameWords = /^([\p{L}\p{N}][\p{L}\p{M}\p{N}.'’-]*)((?: +[\p{L}\p{N}][\p{L}\p{M}\p{N}.'’-]*)*)/u

/** Finds `@ann@example.org` and `@Ann Lovelace` in what somebody wrote; the first 20. */
export const spokenTo = (text: string): readonly SpokenTo[] => {
  const found: SpokenTo[] = []
  const normal = text.normalize('NFC')
  for (const { index } of normal.matchAll(sign)) {
    const rest = normal.slice(index + 1, index + 400)
    const email = address.exec(rest)?.[1]
    const words = nameWords.exec(rest)?.[0].split(/ +/).slice(0, mostWords)
    if (email) found.push({ email })
    else if (words && words.length > 1) found.push({ words })
    if (found.length === mostPeople) break
  }
  return found
}

/** First and last names that words can be, the longest first: `Ann Maria Lovelace said` is asked as every way to part it. */
export const namesIn = (words: readonly string[]): readonly (readonly [firstName: string, lastName: string])[] => {
  const names: (readonly [string, string])[] = []
  for (let length = words.length; length > 1; length -= 1)
    for (let first = 1; first < length; first += 1) {
      const last = trimEnd(words.slice(first, length).join(' '), ".'’-")
      names.push([words.slice(0, first).join(' '), last])
    }
  return names
}
