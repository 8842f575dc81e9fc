import { createElement } from 'react'
import type { ViewerHost } from '../host.ts'
import { isBinary } from '../lib/encoding.ts'
import { drawn } from '../lib/react-part.tsx'
import { type CsvClient, CsvTable } from './csv-table.tsx'
import { TableClient } from './table-client.ts'
import { stateOf } from './table-state.ts'

/** Text tables: CSV and TSV, read by range in a worker. */
export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  if (host.thing.sizeBytes === 0) throw new Error(host.t('viewer.emptyFile'))
  const sample = await host.read(0, 4096)
  const isGzip = sample[0] === 0x1f && sample[1] === 0x8b
  if (!isGzip && isBinary(sample)) throw new Error(host.t('viewer.table.noText'))
  const client: CsvClient = new TableClient(new Worker(new URL('./csv-worker.ts', import.meta.url), { type: 'module' }), host)
  try {
    const state = stateOf(host.state.get())
    const opened = await client.open(state.dialectChoice)
    const remove = drawn(element, host.language, createElement(CsvTable, { host, client, first: { state, opened } }))
    return () => {
      client.close()
      remove()
    }
  } catch (error) {
    client.close()
    if (isGzip && error instanceof Error && error.name === 'TypeError')
      throw new Error(host.t('viewer.table.gzipDamaged'), { cause: error })
    throw error
  }
}
