import type { Cell, ColumnType } from './table-source.ts'

const missing: ReadonlySet<string> = new Set(['', 'na', 'n/a', '#n/a', 'nan', 'null', 'none'])

/** Whether a value is missing: empty, or one of the usual words such as "n/a". */
export const isMissing = (cell: Cell): boolean =>
  cell === null ||
  (typeof cell === 'number' ? Number.isNaN(cell) : typeof cell === 'string' && cell.length <= 4 && missing.has(cell.trim().toLowerCase()))

const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const infinite = /^[+-]?inf(?:inity)?$/i
const withComma = /^[+-]?\d*,\d+(?:[eE][+-]?\d+)?$/

/** Parses a number, or returns NaN. */
export const numberOf = (cell: Cell, decimal: '.' | ','): number => {
  if (typeof cell === 'number') return cell
  if (typeof cell !== 'string' || cell.length > 40) return Number.NaN
  const text = cell.trim()
  if (isNumber.test(text)) return Number(text)
  if (decimal === ',' && withComma.test(text)) return Number(text.replace(',', '.'))
  return infinite.test(text) ? (text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY) : Number.NaN
}

const isDate = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/

/** Parses an ISO 8601 date to milliseconds, or returns NaN. Without a time zone it is UTC. */
export const timeOf = (cell: Cell): number => {
  if (typeof cell !== 'string' || cell.length > 40 || !isDate.test(cell)) return Number.NaN
  const text = cell.replace(' ', 'T').replace(',', '.')
  return Date.parse(text.length > 10 && !/(?:Z|[+-]\d{2}:?\d{2})$/.test(text) ? `${text}Z` : text)
}

const truths: ReadonlyMap<string, number> = new Map([
  ['true', 1],
  ['yes', 1],
  ['false', 0],
  ['no', 0],
])

/** Parses a boolean to 1 or 0, or returns NaN. */
const truthOf = (cell: Cell): number =>
  typeof cell === 'boolean'
    ? Number(cell)
    : typeof cell === 'string' && cell.length <= 5
      ? (truths.get(cell.toLowerCase()) ?? Number.NaN)
      : Number.NaN

/** Counts cells by type. */
export class TypeCount {
  missing = 0
  integers = 0
  numbers = 0
  dates = 0
  truths = 0
  texts = 0

  /** Counts a cell, and returns its numeric value, NaN for texts. */
  add(cell: Cell, decimal: '.' | ','): number {
    if (isMissing(cell)) {
      this.missing++
      return Number.NaN
    }
    const number = numberOf(cell, decimal)
    if (!Number.isNaN(number)) {
      this.numbers++
      if (Number.isInteger(number)) this.integers++
      return number
    }
    const truth = truthOf(cell)
    if (!Number.isNaN(truth)) {
      this.truths++
      return truth
    }
    const time = timeOf(cell)
    if (Number.isNaN(time)) this.texts++
    else this.dates++
    return time
  }

  get present(): number {
    return this.numbers + this.dates + this.truths + this.texts
  }

  /** The type of at least 95 % of the values. */
  get type(): ColumnType {
    const enough = this.present * 0.95
    if (this.present === 0) return 'empty'
    if (this.numbers >= enough) return this.integers === this.numbers ? 'integer' : 'number'
    if (this.dates >= enough) return 'date'
    return this.truths >= enough ? 'boolean' : 'text'
  }
}

/** The numeric value of a cell in a column of a type, or NaN. */
export const numberAs = (cell: Cell, type: ColumnType, decimal: '.' | ','): number => {
  if (isMissing(cell)) return Number.NaN
  if (type === 'date') return timeOf(cell)
  if (type === 'boolean') return truthOf(cell)
  return numberOf(cell, decimal)
}

/** Whether values of a type are ordered as numbers. */
export const isMeasured = (type: ColumnType): boolean => type === 'integer' || type === 'number' || type === 'date'
