import Papa from 'papaparse'
import type { Encoding } from '../../lib/encoding.ts'
import { numberOf, TypeCount } from './values.ts'

/** The format of a table in a text file. */
export interface Dialect {
  readonly encoding: Encoding
  readonly delimiter: string
  readonly newline: '\n' | '\r' | '\r\n'
  readonly hasHeader: boolean
}

/** The user's choices, which override what was detected. */
export type DialectChoice = Partial<Pick<Dialect, 'encoding' | 'delimiter' | 'hasHeader'>>

/** Selectable delimiters. */
export const delimiters = [',', ';', '\t', '|', ' '] as const

const newlineOf = (text: string): Dialect['newline'] => {
  const at = text.indexOf('\n')
  if (at < 0) return text.includes('\r') ? '\r' : '\n'
  return text[at - 1] === '\r' ? '\r\n' : '\n'
}

/** Parses the rows of a text in memory. */
export const parsed = (text: string, delimiter: string, newline: Dialect['newline']): string[][] =>
  Papa.parse<string[]>(text, { delimiter, newline, quoteChar: '"', skipEmptyLines: true }).data

const looksLikeHeader = (rows: readonly (readonly string[])[], isCut: boolean): boolean => {
  const [head = [], ...rest] = rows
  if (rest.length === 0 && isCut) return false
  const names = head.map(cell => cell.trim())
  const isNamed = names.filter(name => name !== '' && Number.isNaN(numberOf(name, '.'))).length
  // An unnamed first column contains row numbers.
  if (isNamed < names.length - 1 || isNamed === 0) return false
  // Names are rarely repeated; if they are, they stand above numbers.
  return new Set(names).size === names.length || rest.some(row => row.some(cell => !Number.isNaN(numberOf(cell.trim(), '.'))))
}

/** Text before the table: lines that begin with `#`. The last of them may be the header. */
const preambleOf = (text: string, newline: string, delimiter: string): { readonly length: number; readonly hasHeader: boolean } => {
  let length = 0
  let last = ''
  while (text[length] === '#') {
    const end = text.indexOf(newline, length)
    if (end < 0) return { length: 0, hasHeader: false }
    last = text.slice(length, end)
    length = end + newline.length
  }
  const next = text.slice(length, length + 100_000).split(newline, 1)[0] ?? ''
  const columns = (line: string): number => line.split(delimiter).length
  return last !== '' && columns(last) > 1 && columns(last) === columns(next)
    ? { length: length - last.length - newline.length, hasHeader: true }
    : { length, hasHeader: false }
}

const guessedOf = (text: string, newline: Dialect['newline'], among: readonly string[]) =>
  Papa.parse<string[]>(text, { preview: 50, newline, skipEmptyLines: true, delimitersToGuess: [...among] })

const delimiterOf = (text: string, newline: Dialect['newline']): string => {
  const { delimiter } = guessedOf(text, newline, delimiters.slice(0, 4)).meta
  if (delimiter !== ',') return delimiter
  // If commas are decimal signs, the delimiter is another character.
  const other = guessedOf(text, newline, delimiters.slice(1, 4))
  const [first] = other.data
  const isEven = first !== undefined && first.length > 1 && other.data.every(({ length }) => length === first.length)
  return isEven && other.data.some(row => row.some(cell => /^[+-]?\d+,\d+$/.test(cell))) ? other.meta.delimiter : ','
}

/** Detects the format of a table from the beginning of its text. */
export const dialectOf = (text: string, encoding: Encoding, dialectChoice: DialectChoice) => {
  const newline = newlineOf(text)
  const commented = text.slice(0, 1) === '#'
  const body = commented ? text.slice(preambleOf(text, newline, '\u0000').length) : text
  const delimiter = dialectChoice.delimiter ?? delimiterOf(body.slice(0, 200_000), newline)
  const preamble = commented ? preambleOf(text, newline, delimiter) : { length: 0, hasHeader: false }
  // The last line of the sample may be incomplete.
  const sample = parsed(text.slice(preamble.length), delimiter, newline)
  const rows = sample.length > 2 && text.length > 60_000 ? sample.slice(0, -1) : sample
  const hasHeader = dialectChoice.hasHeader ?? (preamble.hasHeader || looksLikeHeader(rows.slice(0, 50), text.length > 60_000))
  const dialect: Dialect = { encoding, delimiter, newline, hasHeader }
  return { dialect, rows, preambleLength: preamble.length, isHeaderCommented: preamble.hasHeader, decimal: decimalOf(rows, delimiter) }
}

/** A comma if several numbers contain one and none contains a point. */
const decimalOf = (rows: readonly (readonly string[])[], delimiter: string): '.' | ',' => {
  if (delimiter === ',') return '.'
  let commas = 0
  for (const row of rows.slice(0, 200))
    for (const cell of row) {
      if (/^[+-]?\d+\.\d+$/.test(cell)) return '.'
      if (/^[+-]?\d+,\d+$/.test(cell)) commas++
    }
  return commas > 0 ? ',' : '.'
}

/** Types of columns, from the first rows below the header. */
export const typesOf = (rows: readonly (readonly string[])[], columns: number, decimal: '.' | ',') =>
  Array.from({ length: columns }, (_, column) => {
    const count = new TypeCount()
    for (const row of rows) count.add(row[column] ?? '', decimal)
    return count.type
  })

/** Characters of the longest text in each column. */
export const longestOf = (rows: readonly (readonly string[])[], columns: number): readonly number[] =>
  Array.from({ length: columns }, (_, column) => Math.max(0, ...rows.map(row => row[column]?.length ?? 0)))
