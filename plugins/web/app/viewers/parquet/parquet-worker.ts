import { serveTable } from '../table/engine/serve-table.ts'
import { type ParquetDetails, ParquetSource } from './parquet-source.ts'

serveTable<ParquetSource, unknown, ParquetDetails & { readonly isWide: boolean }>(
  globalThis as never,
  ParquetSource.open,
  ({ details, isWide }) => ({ ...details, isWide }),
)
