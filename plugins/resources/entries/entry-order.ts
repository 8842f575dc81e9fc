import { compareText, naturalKey } from 'pounce/sdk/kit'

/** Names that share a prefix of this length are in no particular order. */
const maxCompared = 400

/** The sort key of an entry's name: file names are longer than titles. */
export const entryNameKey = (name: string): string => naturalKey(name, maxCompared)

/** The sort key of a type. A space sorts before any character of a type, so files of one type stay together, by name. */
export const typeKey = (contentType: string, nameKey: string): string => `${contentType.toLowerCase()} ${nameKey}`

/** The sort key of an entry, with the id as tie-breaker. */
export type EntryKey = readonly [key: string | number, id: string]

/** The order of document stores. */
export const compareKeys = ([a, id]: EntryKey, [b, other]: EntryKey): number => {
  const difference = typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b))
  return difference || compareText(id, other)
}

/** Sort criteria of lists. */
export type EntrySort = 'name' | 'size' | 'created' | 'type'

/** The sort criterion for a kind: folders have neither size nor type, and are sorted by name instead. */
export const sortOf = (kind: 'folder' | 'file', sort: EntrySort): EntrySort => (kind === 'folder' && sort !== 'created' ? 'name' : sort)
