import type { Clock, Installation, Metrics, s } from 'pounce/sdk'
import { countingIds, FixedClock, type StoreTools, silent, type TestContext } from 'pounce/sdk/testing'
import { type config, SqliteDocuments } from '../../plugins/documents/sqlite/sqlite-documents.ts'
import { tempFolder } from './temp-folder.ts'

type Settings = s.Static<typeof config>

const nothing = (): void => undefined
const noMetrics: Metrics = { count: nothing, gauge: nothing, observe: nothing }

const settings: Settings = { cacheMiB: 4, maxSizeMiB: 0, inlineRows: 2000, readTimeoutMs: 10_000, maxBackups: 2 }

/** A started store, closed after the test. */
export const openStore = async (
  t: TestContext,
  options: {
    tools?: Pick<StoreTools, 'ids'> & { readonly clock: Clock }
    folder?: string
    settings?: Partial<Settings>
    metrics?: Metrics
  } = {},
): Promise<SqliteDocuments> => {
  const { clock, ids } = options.tools ?? { clock: new FixedClock(), ids: countingIds() }
  const folder = options.folder ?? (await tempFolder(t))
  const installation = { dataFolder: folder } as Installation
  const store = new SqliteDocuments({ ...settings, ...options.settings }, installation, ids, clock, silent, options.metrics ?? noMetrics)
  await store.start()
  t.teardown(() => store.dispose())
  return store
}
