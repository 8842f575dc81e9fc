/** Points to draw, in the order of `x`. A missing value is null. */
export interface PlotData {
  readonly x: readonly number[]
  readonly ys: readonly (readonly (number | null)[])[]
  /** Rows with a value for `x`. */
  readonly rows: number
  /** Whether the points are only the minimum and maximum of each group of rows. */
  readonly isReduced: boolean
  /** The same data in a few steps, for a table. */
  readonly steps: readonly PlotStep[]
}

export interface PlotStep {
  readonly from: number
  readonly to: number
  readonly ys: readonly { readonly count: number; readonly min: number; readonly mean: number; readonly max: number }[]
}

const maxPoints = 4000
const maxSteps = 20

/** The points of columns to draw. Without `x`, row numbers from 1 are used. */
export const plotOf = (x: Float64Array | undefined, ys: readonly Float64Array[]): PlotData => {
  const length = x?.length ?? ys[0]?.length ?? 0
  const xOf = (row: number): number => (x ? (x[row] ?? Number.NaN) : row + 1)
  const rows = Uint32Array.from({ length }, (_, at) => at).filter(row => Number.isFinite(xOf(row)))
  if (x) rows.sort((one, other) => xOf(one) - xOf(other) || one - other)
  const isReduced = rows.length > maxPoints
  const drawn = isReduced ? extremes(rows, ys) : rows
  return {
    x: Array.from(drawn, xOf),
    ys: ys.map(y => Array.from(drawn, row => (Number.isFinite(y[row]) ? (y[row] ?? null) : null))),
    rows: rows.length,
    isReduced,
    steps: stepsOf(rows, xOf, ys),
  }
}

/** The rows with the minimum and maximum of each column, in groups of equal size. */
const extremes = (rows: Uint32Array, ys: readonly Float64Array[]): Uint32Array => {
  const groups = Math.floor(maxPoints / (2 * Math.max(1, ys.length)))
  const indexes = new Set<number>()
  for (let group = 0; group < groups; group++) {
    const start = Math.floor((group * rows.length) / groups)
    const end = Math.floor(((group + 1) * rows.length) / groups)
    for (const y of ys) {
      let [least, most] = [start, start]
      for (let at = start; at < end; at++) {
        const value = y[rows[at] ?? 0] ?? Number.NaN
        if (Number.isNaN(value)) continue
        if (!(value >= (y[rows[least] ?? 0] ?? Number.NaN))) least = at
        if (!(value <= (y[rows[most] ?? 0] ?? Number.NaN))) most = at
      }
      indexes.add(least).add(most)
    }
  }
  return Uint32Array.from(
    [...indexes].sort((one, other) => one - other),
    at => rows[at] ?? 0,
  )
}

const stepsOf = (rows: Uint32Array, xOf: (row: number) => number, ys: readonly Float64Array[]): readonly PlotStep[] => {
  const count = Math.min(maxSteps, rows.length)
  return Array.from({ length: count }, (_, step) => {
    const start = Math.floor((step * rows.length) / count)
    const end = Math.floor(((step + 1) * rows.length) / count)
    const part = rows.subarray(start, end)
    return {
      from: xOf(part[0] ?? 0),
      to: xOf(part[part.length - 1] ?? 0),
      ys: ys.map(y => {
        const values = Array.from(part, row => y[row] ?? Number.NaN).filter(Number.isFinite)
        let [min, max, sum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0]
        for (const value of values) {
          min = Math.min(min, value)
          max = Math.max(max, value)
          sum += value
        }
        return { count: values.length, min, mean: sum / values.length, max }
      }),
    }
  })
}
