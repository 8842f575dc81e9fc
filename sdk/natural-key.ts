import { foldedText } from './folded-text.ts'

/** Titles that begin with so many equal characters are in no particular order. */
const usualLength = 150

/** The more digits a number has, the larger it is: their count comes first, in a form that orders as text. */
const ordered = (digits: string): string => {
  const significant = digits.replace(/^0+(?=.)/, '')
  const count = significant.length
  return `${count < 10 ? count : count < 100 ? `:${count}` : `;${String(count).padStart(4, '0')}`}${significant}`
}

/**
 * The text by which a name is sorted, code point by code point, in natural order: `table 2` before `table 10`, whatever the case and accents. Two names can
 * have the same. At most `mostCompared` code points.
 */
export const naturalKey = (name: string, mostCompared = usualLength): string => {
  const start = [...name.slice(0, mostCompared)].slice(0, mostCompared).join('').toWellFormed()
  return [...foldedText(start).replace(/[0-9]+/g, ordered)].slice(0, mostCompared).join('')
}
