const missing = new Set(['', 'NA', 'N/A', 'n/a', 'na', 'NaN', 'nan', 'NULL', 'null', 'None', '-', '?'])
const integer = /^[+-]?(?:0|[1-9]\d*)$/
const decimal = /^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/
const boolean = /^(?:true|false)$/i
const date = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/
const maxTypedLength = 40

/** Statistics of a column. `missing` only when cells are missing; ranges only for numbers and dates. */
export interface CsvColumnSummary {
  readonly name: string
  readonly type: 'integer' | 'number' | 'date' | 'boolean' | 'text' | 'empty'
  readonly missing?: number
  readonly min?: number
  readonly max?: number
  /** As written in the table. */
  readonly earliest?: string
  readonly latest?: string
}

/** Narrows a column's type value by value and tracks its range. A single value of another type makes it text. */
export class ColumnSummary {
  readonly name: string
  #decimalComma: boolean
  #values = 0
  #missing = 0
  #kinds = { integer: true, number: true, date: true, boolean: true }
  #min = Infinity
  #max = -Infinity
  #earliest: readonly [number, string] = [Infinity, '']
  #latest: readonly [number, string] = [-Infinity, '']

  /** With `decimalComma`, `3,5` is also a number. */
  constructor(name: string, decimalComma: boolean) {
    this.name = name
    this.#decimalComma = decimalComma
  }

  add(cell: string): void {
    const value = cell.trim()
    if (missing.has(value)) {
      this.#missing++
      return
    }
    this.#values++
    const kinds = this.#kinds
    const isShort = value.length <= maxTypedLength
    if (kinds.number) this.#addNumber(isShort ? value : '')
    if (kinds.date) this.#addDate(isShort ? value : '')
    if (kinds.boolean) kinds.boolean = boolean.test(value)
  }

  #addNumber(text: string): void {
    const value = this.#decimalComma ? text.replace(',', '.') : text
    const number = decimal.test(value) ? Number(value) : Number.NaN
    this.#kinds.number = Number.isFinite(number)
    this.#kinds.integer &&= this.#kinds.number && integer.test(value)
    if (number < this.#min) this.#min = number
    if (number > this.#max) this.#max = number
  }

  #addDate(value: string): void {
    const ms = date.test(value) ? Date.parse(value.replace(' ', 'T')) : Number.NaN
    this.#kinds.date = !Number.isNaN(ms)
    if (ms < this.#earliest[0]) this.#earliest = [ms, value]
    if (ms > this.#latest[0]) this.#latest = [ms, value]
  }

  summary(): CsvColumnSummary {
    const type = this.#type()
    return {
      name: this.name,
      type,
      ...(this.#missing > 0 && { missing: this.#missing }),
      ...((type === 'integer' || type === 'number') && { min: this.#min, max: this.#max }),
      ...(type === 'date' && { earliest: this.#earliest[1], latest: this.#latest[1] }),
    }
  }

  #type(): CsvColumnSummary['type'] {
    if (this.#values === 0) return 'empty'
    const { integer, number, date, boolean } = this.#kinds
    return integer ? 'integer' : number ? 'number' : date ? 'date' : boolean ? 'boolean' : 'text'
  }
}

/** True for a cell that is unlikely to be a heading: a number or a date. */
export const isData = (cell: string): boolean => {
  const value = cell.trim()
  return value.length <= maxTypedLength && (decimal.test(value) || date.test(value))
}
