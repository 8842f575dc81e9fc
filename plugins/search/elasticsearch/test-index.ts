import { randomBytes } from 'node:crypto'
import type { Log } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { ElasticsearchConnection } from './elasticsearch-connection.ts'
import { ElasticsearchSearch } from './elasticsearch-search.ts'
import { IndexNames } from './index-names.ts'
import type { Settings } from './settings.ts'

interface Teardown {
  teardown(end: () => Promise<void>): void
}

const maxConcurrent = 4
let free = maxConcurrent
const waiting: (() => void)[] = []

/** All tests of a file start at once, and creating an index takes the server at least 50 ms. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (free > 0) free -= 1
  else await new Promise<void>(resolve => waiting.push(resolve))
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }
}

const defaults = { shards: 1, searchTimeoutMs: 10_000, writeTimeoutMs: 20_000, refreshMs: 0 }

/** A unique prefix of index names; the indexes with it are deleted when the test ends. */
export function ownPrefix(t: Teardown, url: string): string {
  const index = `test-${randomBytes(6).toString('hex')}`
  const removeAll = async (): Promise<void> => {
    const answer = await fetch(`${url}/${new IndexNames(index).all}`)
    const found = Object.keys((await answer.json()) as object)
    if (found.length > 0 && answer.ok) await fetch(`${url}/${found.join(',')}`, { method: 'DELETE' })
  }
  t.teardown(() => inTurn(removeAll))
  return index
}

/** A started index. */
export async function startedIndex(
  t: Teardown,
  url: string,
  settings: Partial<Settings> & { readonly index: string },
  log: Log = silent,
  keepOlderMs?: number,
): Promise<ElasticsearchSearch> {
  const all = { ...defaults, nodes: [url], ...settings }
  const server = new ElasticsearchConnection(all, log)
  const index = new ElasticsearchSearch(all, server, log, { beatMs: 400, staleMs: 4000 }, keepOlderMs)
  t.teardown(async () => {
    await index.dispose()
    await server.dispose()
  })
  await server.start()
  await inTurn(() => index.start())
  return index
}

/** A started, empty index that no other test uses. */
export const freshIndex = (t: Teardown, url: string): Promise<ElasticsearchSearch> => {
  const index = ownPrefix(t, url)
  return startedIndex(t, url, { index })
}
