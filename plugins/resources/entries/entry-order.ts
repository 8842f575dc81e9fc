import { foldedText } from 'pounce/sdk/kit'

/** Names that begin with so many equal characters are in no particular order. */
const mostCompared = 400

/** The more digits a number has, the larger it is: their count comes first, in a form that orders as text. */
const ordered = (digits: string): string => {
  const significant = digits.replace(/^0+(?=.)/, '')
  const count = significant.length
  return `${count < 10 ? count : count < 100 ? `:${count}` : `;${String(count).padStart(4, '0')}`}${significant}`
}

/**
 * The text by which a name is sorted, code point by code point, in natural order: `table 2` before `table 10`, whatever the case and accents. Two names can
 * have the same.
 */
export const naturalKey = (name: string): string => foldedText(name.slice(0, mostCompared)).replace(/[0-9]+/g, ordered)

/** The text by which a type is sorted. A blank is less than any character of a type: files of one type stay together, by name. */
export const typeKey = (contentType: string, nameKey: string): string => `${contentType.toLowerCase()} ${nameKey}`

const high = /[\ud800-\uffff]/

/** Code point by code point, as document stores sort: only above U+D7FF do UTF-16 units have another order. */
const compareText = (a: string, b: string): number => {
  if (a === b) return 0
  if (!high.test(a) || !high.test(b)) return a < b ? -1 : 1
  const [left, right] = [[...a], [...b]]
  const at = left.findIndex((point, index) => point !== right[index])
  // The one that the other begins with comes first.
  return at === -1 ? -1 : (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? -1)
}

/** What an entry is sorted by; the id is the last key. */
export type EntryKey = readonly [key: string | number, id: string]

/** The order of document stores. */
export const compareKeys = ([a, id]: EntryKey, [b, other]: EntryKey): number => {
  const difference = typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b))
  return difference || compareText(id, other)
}

/** What lists can be sorted by. */
export type EntrySort = 'name' | 'size' | 'created' | 'type'

/** The sort of a kind: folders have neither size nor type, and are sorted by name then. */
export const sortOf = (kind: 'folder' | 'file', sort: EntrySort): EntrySort => (kind === 'folder' && sort !== 'created' ? 'name' : sort)
