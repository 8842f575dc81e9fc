import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { CellRow } from './cell-grid.tsx'
import type { ColumnStatistics } from './engine/statistics.ts'
import type { TableOrder } from './engine/table-engine.ts'
import type { TableProgress } from './engine/table-source.ts'
import type { GridWindow } from './grid-window.ts'
import { isSuperseded, type TableClient } from './table-client.ts'

const spareRows = 40
const columnStep = 20
const maxRows = 3000

type Part = readonly (string | null)[]

/** Loaded rows, by their position in the current order. */
class LoadedRows {
  #rows = new Map<number, CellRow & { readonly parts: ReadonlyMap<number, Part> }>()

  get(index: number): CellRow | undefined {
    return this.#rows.get(index)
  }

  has(firstRow: number, endRow: number, firstColumn: number, endColumn: number): boolean {
    for (let row = firstRow; row < endRow; row++) {
      const loaded = this.#rows.get(row)
      if (loaded?.cell(firstColumn) === undefined || loaded.cell(endColumn - 1) === undefined) return false
    }
    return true
  }

  /** `firstColumn` is a multiple of `columnStep`. */
  put(index: number, number: number, firstColumn: number, cells: Part): void {
    if (this.#rows.size > maxRows) this.#rows.clear()
    const parts = new Map(this.#rows.get(index)?.parts)
    for (let at = 0; at < cells.length; at += columnStep) parts.set(firstColumn + at, cells.slice(at, at + columnStep))
    this.#rows.set(index, {
      number,
      parts,
      cell: column => {
        const part = parts.get(column - (column % columnStep))
        return part && (part[column % columnStep] ?? null)
      },
    })
  }
}

/** Loads rows that come into view. While a request is running, only the latest position is kept. */
export const useRows = <W, D>(
  client: TableClient<W, D>,
  count: number,
  columns: number,
  version: unknown,
  onFailure: (error: unknown) => void,
) => {
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new order needs a new cache
  const loaded = useMemo(() => new LoadedRows(), [version, client])
  const [drawing, redraw] = useState(0)
  const pending = useRef<GridWindow | undefined>(undefined)
  const isBusy = useRef(false)
  const window = useRef<GridWindow | undefined>(undefined)

  const load = useCallback(
    async (wanted: GridWindow) => {
      pending.current = wanted
      if (isBusy.current) return
      isBusy.current = true
      try {
        while (pending.current) {
          const { firstRow, endRow, firstColumn, endColumn } = pending.current
          pending.current = undefined
          const end = Math.min(count, endRow)
          if (firstRow >= end || loaded.has(firstRow, end, firstColumn, endColumn)) continue
          const [first, last] = [Math.max(0, firstRow - spareRows), Math.min(count, end + spareRows)]
          const from = Math.floor(firstColumn / columnStep) * columnStep
          const to = Math.min(columns, Math.ceil(endColumn / columnStep) * columnStep)
          const { numbers, cells } = await client.rows(first, last, from, to)
          for (const [at, number] of numbers.entries()) loaded.put(first + at, number, from, cells[at] ?? [])
          redraw(times => times + 1)
        }
      } catch (error) {
        onFailure(error)
      } finally {
        isBusy.current = false
      }
    },
    [client, count, columns, loaded, onFailure],
  )
  const onWindow = useCallback(
    (next: GridWindow) => {
      window.current = next
      void load(next)
    },
    [load],
  )
  useEffect(() => {
    if (window.current) void load(window.current)
  }, [load])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the grid renders its rows when this changes
  const row = useCallback((index: number) => loaded.get(index), [loaded, drawing])
  return { row, onWindow }
}

/** Applies an order, and returns the number of matching rows. */
export const useOrder = <W, D>(client: TableClient<W, D>, order: TableOrder, onFailure: (error: unknown) => void) => {
  const [arranged, setArranged] = useState<{ readonly version: number; readonly count: number | undefined }>({
    version: 0,
    count: undefined,
  })
  const [isBusy, setBusy] = useState(false)
  const isPlain = !order.sort && order.filters.length === 0 && order.search === ''
  const wasPlain = useRef(true)
  useEffect(() => {
    if (isPlain && wasPlain.current) return
    wasPlain.current = isPlain
    let isCurrent = true
    setBusy(true)
    client.arrange(order).then(
      count => {
        if (!isCurrent) return
        setArranged(({ version }) => ({ version: version + 1, count }))
        setBusy(false)
      },
      error => {
        if (!isCurrent || isSuperseded(error)) return
        setBusy(false)
        onFailure(error)
      },
    )
    return () => {
      isCurrent = false
    }
  }, [client, order, isPlain, onFailure])
  return { ...arranged, isBusy }
}

/** Statistics of the columns in view over all covered rows; requested once these are read. */
export const useStatistics = <W, D>(client: TableClient<W, D>, wanted: readonly number[], isReady: boolean) => {
  const [known, setKnown] = useState<ReadonlyMap<number, ColumnStatistics>>(new Map())
  const missing = wanted.filter(column => !known.has(column)).slice(0, 24)
  const key = missing.join()
  useEffect(() => {
    if (!isReady || key === '') return undefined
    const columns = key.split(',').map(Number)
    const timer = setTimeout(() => {
      client.statistics(columns).then(
        results => setKnown(before => new Map([...before, ...results.map((each, at) => [columns[at] ?? -1, each] as const)])),
        () => undefined,
      )
    }, 150)
    return () => clearTimeout(timer)
  }, [client, key, isReady])
  return known
}

/** Tracks how much of the file is read, and continues reading. */
export const useProgress = <W, D>(client: TableClient<W, D>, first: TableProgress, onFailure: (error: unknown) => void) => {
  const [progress, setProgress] = useState(first)
  const [isReading, setReading] = useState(false)
  const look = useCallback(async () => setProgress(await client.progress()), [client])
  const readOn = useCallback(
    async (until: 'more' | 'covered' | 'all') => {
      setReading(true)
      const timer = setInterval(() => void look(), 500)
      try {
        setProgress(await client.readOn(until))
      } catch (error) {
        onFailure(error)
      } finally {
        clearInterval(timer)
        setReading(false)
      }
    },
    [client, look, onFailure],
  )
  return { progress, isReading, readOn, look }
}
