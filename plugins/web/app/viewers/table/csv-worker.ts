import { CsvSource } from './engine/csv-source.ts'
import type { DialectChoice } from './engine/dialect.ts'
import type { UnpackedCut } from './engine/gzip.ts'
import { serveTable } from './engine/serve-table.ts'

serveTable<CsvSource, DialectChoice, CsvDetails>(globalThis as never, CsvSource.open, ({ dialect, isWide, cut }) => ({
  ...dialect,
  isWide,
  cut,
}))

/** The format of the table, and whether columns were omitted. */
export interface CsvDetails extends Required<DialectChoice> {
  readonly isWide: boolean
  readonly cut: UnpackedCut | undefined
}
