import type { Cell, ColumnType } from './table-source.ts'
import { isMeasured, isMissing, numberAs, TypeCount } from './values.ts'

export interface ColumnStatistics {
  readonly type: ColumnType
  readonly rows: number
  readonly missing: number
  /** Values that are not of the type. */
  readonly unfit: number
  readonly distinct: number
  /** Whether there may be more distinct values than were counted. */
  readonly isDistinctCut: boolean
  /** For numbers, and for dates in milliseconds. */
  readonly measures?: {
    readonly min: number
    readonly max: number
    readonly mean: number
    readonly median: number
    readonly deviation: number
  }
  /** Counts of values in bins of equal width from `min` to `max`. */
  readonly histogram?: readonly number[]
  /** The most frequent texts, in descending order. */
  readonly frequent?: readonly { readonly value: string; readonly count: number }[]
}

const maxDistinct = 100_000
const maxKeyLength = 200
const steps = 20

/** A growing list of numbers. */
class Numbers {
  #values = new Float64Array(1024)
  #length = 0

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Float64Array(this.#length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#length++] = value
  }

  get all(): Float64Array {
    return this.#values.subarray(0, this.#length)
  }
}

/** Collects the statistics of one column. */
export class StatisticsOfColumn {
  #types = new TypeCount()
  #numbers = new Numbers()
  #counts = new Map<string, number>()
  #isCut = false
  #rows = 0
  #decimal: '.' | ','

  constructor(decimal: '.' | ',') {
    this.#decimal = decimal
  }

  add(cells: readonly Cell[]): void {
    for (const cell of cells) {
      this.#rows++
      const value = this.#types.add(cell, this.#decimal)
      if (!Number.isNaN(value)) this.#numbers.push(value)
      if (this.#isCut || isMissing(cell)) continue
      const key = String(cell).slice(0, maxKeyLength)
      const before = this.#counts.get(key)
      if (before === undefined && this.#counts.size >= maxDistinct) this.#isCut = true
      else this.#counts.set(key, (before ?? 0) + 1)
    }
  }

  result(): ColumnStatistics {
    const { type, missing, present, numbers, dates, truths } = this.#types
    const fitting = type === 'integer' || type === 'number' ? numbers : type === 'date' ? dates : type === 'boolean' ? truths : present
    const common = { type, rows: this.#rows, missing, unfit: present - fitting }
    const isMeasure = isMeasured(type)
    // If types are mixed, only the values of the column's type are used.
    const values = isMeasure && fitting === present ? this.#numbers.all : isMeasure ? this.#picked(type) : undefined
    const finite = values?.filter(Number.isFinite).sort()
    if (!finite || finite.length === 0)
      return { ...common, distinct: this.#counts.size, isDistinctCut: this.#isCut, frequent: this.#frequent() }
    return {
      ...common,
      distinct: fitting === present ? distinctIn(finite) : this.#counts.size,
      isDistinctCut: fitting === present ? false : this.#isCut,
      measures: measuresOf(finite),
      histogram: histogramOf(finite, type === 'integer'),
    }
  }

  #picked(type: ColumnType): Float64Array {
    const found = new Numbers()
    for (const [key, count] of this.#counts) {
      const value = numberAs(key, type, this.#decimal)
      for (let time = 0; !Number.isNaN(value) && time < count; time++) found.push(value)
    }
    return found.all
  }

  #frequent(): readonly { readonly value: string; readonly count: number }[] {
    return [...this.#counts]
      .map(([value, count]) => ({ value, count }))
      .sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1))
      .slice(0, 10)
  }
}

const distinctIn = (sorted: Float64Array): number => {
  let distinct = 0
  for (let at = 0; at < sorted.length; at++) if (at === 0 || sorted[at] !== sorted[at - 1]) distinct++
  return distinct
}

const measuresOf = (sorted: Float64Array) => {
  const { length } = sorted
  let mean = 0
  let squares = 0
  let count = 0
  // Welford's method, which keeps its precision over many large values.
  for (const value of sorted) {
    count++
    const before = value - mean
    mean += before / count
    squares += before * (value - mean)
  }
  const half = Math.floor(length / 2)
  const middle = sorted[half] ?? Number.NaN
  return {
    min: sorted[0] ?? Number.NaN,
    max: sorted[length - 1] ?? Number.NaN,
    mean,
    median: length % 2 === 1 ? middle : ((sorted[half - 1] ?? Number.NaN) + middle) / 2,
    deviation: length > 1 ? Math.sqrt(squares / (length - 1)) : 0,
  }
}

const histogramOf = (sorted: Float64Array, isInteger: boolean): readonly number[] => {
  const min = sorted[0] ?? 0
  const max = sorted[sorted.length - 1] ?? 0
  const width = max - min
  const count = width === 0 ? 1 : isInteger && width < steps ? width + 1 : steps
  const counts = new Array<number>(count).fill(0)
  // A small range of integers gets one bin per value.
  const step = isInteger && width < steps ? 1 : width / count
  for (const value of sorted) {
    const at = step === 0 ? 0 : Math.min(count - 1, Math.floor((value - min) / step))
    counts[at] = (counts[at] ?? 0) + 1
  }
  return counts
}
