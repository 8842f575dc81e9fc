import { callsThrough } from '../../lib/worker-calls.ts'
import { TableEngine, type TableOrder } from './table-engine.ts'
import type { ReadBytes, TableColumn, TableProgress, TableSource } from './table-source.ts'

/** A worker's description of an opened table. */
export interface OpenedTable<D> {
  readonly columns: readonly TableColumn[]
  readonly progress: TableProgress
  readonly details: D
}

/** Answers calls for a table inside a worker. `open` may be called again with other options. */
export const serveTable = <S extends TableSource, W, D>(
  port: Parameters<typeof callsThrough>[0],
  open: (read: ReadBytes, sizeBytes: number, dialectChoice: W) => Promise<S>,
  detailsOf: (source: S) => D,
): void => {
  let source: S | undefined
  let engine: TableEngine | undefined
  const current = (): TableEngine => {
    if (!engine) throw new Error('The table is not open')
    return engine
  }
  const call = callsThrough(port, {
    open: async (sizeBytes: number, dialectChoice: W): Promise<OpenedTable<D>> => {
      source = await open((start, end) => call('read', start, end), sizeBytes, dialectChoice)
      engine = new TableEngine(source)
      await source.readOn('more', () => true)
      return { columns: source.columns, progress: source.progress, details: detailsOf(source) }
    },
    progress: () => source?.progress,
    readOn: async (until: 'more' | 'covered' | 'all') => {
      await current().readOn(until)
      return source?.progress
    },
    stopReading: () => current().stopReading(),
    arrange: (order: TableOrder) => current().arrange(order),
    statistics: (columns: readonly number[]) => current().statistics(columns),
    plot: (x: number | undefined, ys: readonly number[]) => current().plot(x, ys),
    rows: (...range: [number, number, number, number]) => current().rows(...range),
    copy: (...range: [number, number, number, number]) => current().copy(...range),
    placeOf: (number: number) => current().placeOf(number),
  })
}
