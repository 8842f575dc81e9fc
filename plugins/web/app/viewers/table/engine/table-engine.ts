import { type PlotData, plotOf } from './plot-data.ts'
import { matcherOf, type RowFilter } from './row-filter.ts'
import { type ColumnStatistics, StatisticsOfColumn } from './statistics.ts'
import { type Cell, type ColumnType, Superseded, type TableSource, type TextSource } from './table-source.ts'
import { isMeasured, isMissing, numberAs } from './values.ts'

/** The sort order and filters of rows. */
export interface TableOrder {
  readonly sort?: { readonly column: number; readonly isDescending: boolean } | undefined
  readonly filters: readonly RowFilter[]
  /** Text that must occur in some column of a row. */
  readonly search: string
}

/** Rows in view, as strings. */
export interface ShownRows {
  /** Numbers of the rows in the file, from 0. */
  readonly numbers: readonly number[]
  readonly cells: readonly (readonly (string | null)[])[]
}

const maxShownLength = 300
const maxCellLength = 200_000

const textOf = (cell: Cell | undefined, maxLength: number): string | null => {
  if (cell === null || cell === undefined) return null
  const text = typeof cell === 'string' ? cell : String(cell)
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}

/** Sorts, filters and aggregates the rows of a source, one request of each kind at a time. */
export class TableEngine {
  #source: TableSource
  #order: Uint32Array | undefined
  #requests = new Map<string, number>()
  #types = new Map<number, ColumnType>()

  constructor(source: TableSource) {
    this.#source = source
  }

  /** Starts a request; returns whether it is still the latest of its kind. */
  #latest(kind: string): () => boolean {
    const request = (this.#requests.get(kind) ?? 0) + 1
    this.#requests.set(kind, request)
    return () => this.#requests.get(kind) === request
  }

  async #covered(isWanted: () => boolean): Promise<void> {
    if (!this.#source.progress.isCovered) await this.#source.readOn('covered', isWanted)
    if (!isWanted()) throw new Superseded()
  }

  async readOn(until: 'more' | 'covered' | 'all'): Promise<void> {
    await this.#source.readOn(until, until === 'all' ? this.#latest('read') : () => true)
  }

  /** Cancels a request to read to the end. */
  stopReading(): void {
    this.#latest('read')
  }

  /** Applies an order; resolves with the number of rows. */
  async arrange({ sort, filters, search }: TableOrder): Promise<number | undefined> {
    const isWanted = this.#latest('arrange')
    if (!sort && filters.length === 0 && search === '') {
      this.#order = undefined
      return undefined
    }
    await this.#covered(isWanted)
    let order = await this.#matching(filters, search, isWanted)
    if (sort) order = await this.#sorted(order, sort.column, sort.isDescending, isWanted)
    if (!isWanted()) throw new Superseded()
    this.#order = order
    return order.length
  }

  async #matching(filters: readonly RowFilter[], search: string, isWanted: () => boolean): Promise<Uint32Array> {
    const { coveredRows } = this.#source.progress
    const wanted = search.toLocaleLowerCase()
    const quickly = wanted === '' ? undefined : await this.#withText(wanted, isWanted)
    if (quickly && filters.length === 0) return quickly
    const having = quickly && new Set(quickly)
    const columns = search === '' || quickly ? [...new Set(filters.map(({ column }) => column))] : this.#source.columns.map((_, at) => at)
    const found = new Uint32Array(coveredRows)
    let count = 0
    if (columns.length === 0) return found.map((_, at) => at)
    const matchers = filters.map(filter => ({
      at: columns.indexOf(filter.column),
      matches: matcherOf(filter, this.#source.columns[filter.column]?.type ?? 'text', this.#source.decimal),
    }))
    await this.#source.scan(
      columns,
      (first, values) => {
        const rows = values[0]?.length ?? 0
        for (let row = 0; row < rows; row++) {
          if (having && !having.has(first + row)) continue
          if (!matchers.every(({ at, matches }) => matches(values[at]?.[row] ?? null))) continue
          if (!having && wanted !== '' && !values.some(column => contains(column[row] ?? null, wanted))) continue
          found[count++] = first + row
        }
      },
      isWanted,
    )
    if (!isWanted()) throw new Superseded()
    return found.slice(0, count)
  }

  /** Rows containing a text, if the source can search without parsing rows. */
  async #withText(lowerCase: string, isWanted: () => boolean): Promise<Uint32Array | undefined> {
    const found = new Uint32Array(this.#source.progress.coveredRows)
    let count = 0
    const search = (this.#source as Partial<TextSource>).findText?.(lowerCase, row => (found[count++] = row), isWanted)
    if (!search) return undefined
    await search
    if (!isWanted()) throw new Superseded()
    return found.slice(0, count)
  }

  async #sorted(order: Uint32Array, column: number, isDescending: boolean, isWanted: () => boolean): Promise<Uint32Array> {
    const keys = await this.#sortKeys(column, isWanted)
    const sign = isDescending ? -1 : 1
    // Missing values come last in both directions; equal rows keep their order.
    return order.sort((one, other) => {
      const [key, otherKey] = [keys[one] ?? Number.NaN, keys[other] ?? Number.NaN]
      if (key === otherKey) return one - other
      if (Number.isNaN(key)) return Number.isNaN(otherKey) ? one - other : 1
      if (Number.isNaN(otherKey)) return -1
      return key < otherKey ? -sign : sign
    })
  }

  /** Sort keys: numbers in the order of the values of a column. */
  async #sortKeys(column: number, isWanted: () => boolean): Promise<Float64Array> {
    const { coveredRows } = this.#source.progress
    const first = this.#source.columns[column]?.type ?? 'text'
    const type = this.#types.get(column) ?? (first === 'empty' ? 'text' : first)
    const keys = new Float64Array(coveredRows).fill(Number.NaN)
    const ids = new Map<string, number>()
    await this.#source.scan(
      [column],
      (first, [cells = []]) => {
        for (const [at, cell] of cells.entries()) {
          if (type !== 'text') keys[first + at] = numberAs(cell, type, this.#source.decimal)
          if (!Number.isNaN(keys[first + at]) || isMissing(cell)) continue
          const text = String(cell)
          const id = ids.get(text) ?? ids.size
          ids.set(text, id)
          // Texts in a column of numbers are sorted after all numbers.
          keys[first + at] = id
          if (type !== 'text') keys[first + at] = Number.MAX_VALUE
        }
      },
      isWanted,
    )
    if (!isWanted()) throw new Superseded()
    if (type !== 'text') return keys
    const ranks = ranksOf([...ids.keys()])
    return keys.map(id => (Number.isNaN(id) ? id : (ranks[id] ?? 0)))
  }

  /** Statistics of columns over all covered rows. Without `isWanted`, a later request supersedes this one. */
  async statistics(columns: readonly number[], isWanted = this.#latest('statistics')): Promise<readonly ColumnStatistics[]> {
    await this.#covered(isWanted)
    const collected = columns.map(() => new StatisticsOfColumn(this.#source.decimal))
    await this.#source.scan(
      columns,
      (_, values) => {
        for (const [at, column] of collected.entries()) column.add(values[at] ?? [])
      },
      isWanted,
    )
    if (!isWanted()) throw new Superseded()
    const results = collected.map(each => each.result())
    for (const [at, { type }] of results.entries()) this.#types.set(columns[at] ?? -1, type)
    return results
  }

  /** Points of columns over another one, or over row numbers, for the rows in their current order. */
  async plot(x: number | undefined, ys: readonly number[]): Promise<PlotData> {
    const isWanted = this.#latest('plot')
    await this.#covered(isWanted)
    const columns = x === undefined ? [...ys] : [x, ...ys]
    const { coveredRows } = this.#source.progress
    const values = columns.map(() => new Float64Array(coveredRows))
    const types = columns.map(column => this.#source.columns[column]?.type ?? 'number')
    await this.#source.scan(
      columns,
      (first, blocks) => {
        for (const [at, cells] of blocks.entries())
          for (const [row, cell] of cells.entries()) {
            const type = types[at] ?? 'number'
            const column = values[at]
            if (column) column[first + row] = numberAs(cell, isMeasured(type) ? type : 'number', this.#source.decimal)
          }
      },
      isWanted,
    )
    if (!isWanted()) throw new Superseded()
    const order = this.#order
    const picked = order ? values.map(column => Float64Array.from(order, row => column[row] ?? Number.NaN)) : values
    return x === undefined ? plotOf(undefined, picked) : plotOf(picked[0], picked.slice(1))
  }

  /** Row numbers, in the file, of the rows in view. */
  #numbers(first: number, end: number): readonly number[] {
    const count = this.#order?.length ?? this.#source.progress.rows
    const last = Math.min(end, count)
    return Array.from({ length: Math.max(0, last - first) }, (_, at) => this.#order?.[first + at] ?? first + at)
  }

  async rows(first: number, end: number, firstColumn: number, endColumn: number): Promise<ShownRows> {
    const numbers = this.#numbers(first, end)
    const rows = await this.#source.rows(numbers, firstColumn, endColumn)
    const columns = Array.from({ length: endColumn - firstColumn }, (_, at) => at)
    return { numbers, cells: rows.map(row => columns.map(at => textOf(row[at], maxShownLength))) }
  }

  /** Rows as texts separated by tabs, for the clipboard. */
  async copy(first: number, end: number, firstColumn: number, endColumn: number): Promise<string> {
    const rows = await this.#source.rows(this.#numbers(first, end), firstColumn, endColumn)
    const columns = Array.from({ length: endColumn - firstColumn }, (_, at) => at)
    const isOne = rows.length === 1 && columns.length === 1
    return rows
      .map(row =>
        columns
          .map(at => textOf(row[at], maxCellLength) ?? '')
          .map(text => (isOne || !/[\t\n\r"]/.test(text) ? text : `"${text.replaceAll('"', '""')}"`))
          .join('\t'),
      )
      .join('\n')
  }

  /** The position in the current order of a row of the file; -1 if it is filtered out. */
  placeOf(number: number): number {
    return this.#order ? this.#order.indexOf(number) : number
  }
}

const contains = (cell: Cell, wanted: string): boolean => cell !== null && String(cell).toLocaleLowerCase().includes(wanted)

/** Maximum number of texts sorted by locale, which is slow for more. */
const maxCollated = 200_000

const ranksOf = (texts: readonly string[]): Float64Array => {
  const order = Uint32Array.from(texts, (_, at) => at)
  const { compare } = new Intl.Collator(undefined, { numeric: true })
  if (texts.length <= maxCollated) order.sort((one, other) => compare(texts[one] ?? '', texts[other] ?? '') || one - other)
  else order.sort((one, other) => ((texts[one] ?? '') < (texts[other] ?? '') ? -1 : 1))
  const ranks = new Float64Array(texts.length)
  for (const [rank, id] of order.entries()) ranks[id] = rank
  return ranks
}
