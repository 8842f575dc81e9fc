import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Log } from 'pounce/sdk'
import { PermissionCatalog } from 'pounce/sdk/kit'
import { silent } from 'pounce/sdk/testing'
import { FtsSearch } from '../../plugins/search/fts/fts-search.ts'

interface Teardown {
  teardown(end: () => Promise<void>): void
}

/** A started index and its data folder, both removed after the test. */
export async function freshIndex(t: Teardown, threadFrom = 5000): Promise<{ index: FtsSearch; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-search-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return { index: startedIndex(t, folder, silent, { timeLimitMs: 60_000, threadFrom }), folder }
}

/** An index on a data folder that may already contain one. */
export function startedIndex(
  t: Teardown,
  dataFolder: string,
  log: Log = silent,
  settings = { timeLimitMs: 60_000, threadFrom: 5000 },
): FtsSearch {
  const installation = { instance: 'test', version: '0', dataFolder, baseUrl: '', plugins: [], roles: new Set(['http' as const]) }
  const index = new FtsSearch(settings, { ...installation, admins: [], permissions: new PermissionCatalog() }, log)
  index.start()
  t.teardown(() => index.dispose())
  return index
}
