import { createElement } from 'react'
import { number } from '../../lib/format.ts'
import type { ViewerHost } from '../host.ts'
import { drawn } from '../lib/react-part.tsx'
import { isRequestFailed } from '../lib/request-failed.ts'
import { TableClient } from '../table/table-client.ts'
import { stateOf } from '../table/table-state.ts'
import { TableView } from '../table/table-view.tsx'
import { ParquetFormat } from './parquet-format.tsx'
import type { ParquetDetails } from './parquet-source.ts'

/** Parquet, read by row group and shown in the grid of all tables. */
export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const worker = new Worker(new URL('./parquet-worker.ts', import.meta.url), { type: 'module' })
  const client = new TableClient<unknown, ParquetDetails & { readonly isWide: boolean }>(worker, host)
  try {
    const opened = await client.open(undefined).catch((cause: unknown) => {
      throw isRequestFailed(cause) ? cause : new Error(host.t('viewer.parquet.damaged'), { cause })
    })
    const notes = opened.details.isWide ? [host.t('viewer.table.wide', { columns: number(opened.columns.length) })] : []
    const format = createElement(ParquetFormat, opened.details)
    const remove = drawn(
      element,
      host.language,
      createElement(TableView<unknown, typeof opened.details>, { host, client, opened, state: stateOf(host.state.get()), format, notes }),
    )
    return () => {
      client.close()
      remove()
    }
  } catch (error) {
    client.close()
    throw error
  }
}
