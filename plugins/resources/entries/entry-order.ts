import { compareText, naturalKey } from 'pounce/sdk/kit'

/** Names that begin with so many equal characters are in no particular order. */
const mostCompared = 400

/** The text by which the name of an entry is sorted: file names are longer than titles. */
export const entryNameKey = (name: string): string => naturalKey(name, mostCompared)

/** The text by which a type is sorted. A blank is less than any character of a type: files of one type stay together, by name. */
export const typeKey = (contentType: string, nameKey: string): string => `${contentType.toLowerCase()} ${nameKey}`

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
