import type { ViewerHost } from '../host.ts'
import { callsThrough } from '../lib/worker-calls.ts'
import type { PlotData } from './engine/plot-data.ts'
import type { OpenedTable } from './engine/serve-table.ts'
import type { ColumnStatistics } from './engine/statistics.ts'
import type { ShownRows, TableOrder } from './engine/table-engine.ts'
import type { TableProgress } from './engine/table-source.ts'

/** A table read in a worker. */
export class TableClient<W, D> {
  #worker: Worker
  #sizeBytes: number
  #call: ReturnType<typeof callsThrough>
  /** Rejected when the worker cannot be loaded or fails. */
  #failed: Promise<never>

  constructor(worker: Worker, { read, thing, signal }: ViewerHost) {
    this.#worker = worker
    this.#sizeBytes = thing.sizeBytes
    this.#call = callsThrough(worker, { read: (start: number, end: number) => read(start, end) })
    this.#failed = new Promise((_, reject) => {
      worker.addEventListener('error', ({ message }) => reject(new TypeError(message)))
    })
    this.#failed.catch(() => undefined)
    signal.addEventListener('abort', () => this.close(), { once: true })
  }

  close(): void {
    this.#worker.terminate()
  }

  #ask<T>(name: string, ...args: readonly unknown[]): Promise<T> {
    return Promise.race([this.#call<T>(name, ...args), this.#failed])
  }

  open(dialectChoice: W): Promise<OpenedTable<D>> {
    return this.#ask('open', this.#sizeBytes, dialectChoice)
  }
  progress(): Promise<TableProgress> {
    return this.#ask('progress')
  }
  readOn(until: 'more' | 'covered' | 'all'): Promise<TableProgress> {
    return this.#ask('readOn', until)
  }
  stopReading(): Promise<void> {
    return this.#ask('stopReading')
  }
  /** The number of matching rows, or undefined for all. Rejects with `Superseded` if called again. */
  arrange(order: TableOrder): Promise<number | undefined> {
    return this.#ask('arrange', order)
  }
  statistics(columns: readonly number[]): Promise<readonly ColumnStatistics[]> {
    return this.#ask('statistics', columns)
  }
  plot(x: number | undefined, ys: readonly number[]): Promise<PlotData> {
    return this.#ask('plot', x, ys)
  }
  rows(firstRow: number, endRow: number, firstColumn: number, endColumn: number): Promise<ShownRows> {
    return this.#ask('rows', firstRow, endRow, firstColumn, endColumn)
  }
  copy(firstRow: number, endRow: number, firstColumn: number, endColumn: number): Promise<string> {
    return this.#ask('copy', firstRow, endRow, firstColumn, endColumn)
  }
}

export const isSuperseded = (error: unknown): boolean => error instanceof Error && error.name === 'Superseded'
