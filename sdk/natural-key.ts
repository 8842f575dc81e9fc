import { foldedText } from './folded-text.ts'

/** Names with a longer common prefix are in no particular order. */
const usualLength = 150

/** Numbers with more digits are larger: the digit count comes first, encoded so that it sorts as text. */
const ordered = (digits: string): string => {
  const significant = digits.replace(/^0+(?=.)/, '')
  const count = significant.length
  return `${count < 10 ? count : count < 100 ? `:${count}` : `;${String(count).padStart(4, '0')}`}${significant}`
}

/**
 * A sort key for natural order (`table 2` before `table 10`), ignoring case and accents; compare by code point. Different names can have the same key. At most
 * `maxLength` code points.
 */
export const naturalKey = (name: string, maxLength = usualLength): string => {
  const start = [...name.slice(0, maxLength)].slice(0, maxLength).join('').toWellFormed()
  return [...foldedText(start).replace(/[0-9]+/g, ordered)].slice(0, maxLength).join('')
}
