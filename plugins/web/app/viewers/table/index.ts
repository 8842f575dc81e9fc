import { createElement } from 'react'
import type { ViewerHost } from '../host.ts'
import { isBinary } from '../lib/encoding.ts'
import { drawn } from '../lib/react-part.tsx'
import { type CsvClient, CsvTable } from './csv-table.tsx'
import { TableClient } from './table-client.ts'
import { stateOf } from './table-state.ts'

/** Tables of text: CSV and TSV, read range by range in a worker. */
export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  if (host.thing.sizeBytes === 0) throw new Error(host.t('viewer.emptyFile'))
  if (isBinary(await host.read(0, 4096))) throw new Error(host.t('viewer.table.noText'))
  const client: CsvClient = new TableClient(new Worker(new URL('./csv-worker.ts', import.meta.url), { type: 'module' }), host)
  try {
    const state = stateOf(host.state.get())
    const opened = await client.open(state.wish)
    const remove = drawn(element, host.language, createElement(CsvTable, { host, client, first: { state, opened } }))
    return () => {
      client.close()
      remove()
    }
  } catch (error) {
    client.close()
    throw error
  }
}
