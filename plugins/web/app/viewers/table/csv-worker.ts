import { CsvSource } from './engine/csv-source.ts'
import type { DialectWish } from './engine/dialect.ts'
import { serveTable } from './engine/serve-table.ts'

serveTable<CsvSource, DialectWish, CsvDetails>(globalThis as never, CsvSource.open, ({ dialect, isWide }) => ({ ...dialect, isWide }))

/** How the table is written, and whether columns were left out. */
export interface CsvDetails extends Required<DialectWish> {
  readonly isWide: boolean
}
