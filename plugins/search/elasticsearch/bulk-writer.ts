import { Unavailable } from 'pounce/sdk'
import type { IndexChange } from 'pounce/sdk/search'
import { bodiesOf } from './bodies.ts'
import type { ElasticsearchConnection } from './elasticsearch-connection.ts'
import type { ElasticsearchIndexes } from './elasticsearch-indexes.ts'
import type { IndexNames } from './index-names.ts'

/** A change as sent. */
export interface Write {
  readonly id: string
  readonly version: number
  /** JSON of the entry. */
  readonly source: string
  /** JSON of an entry with rights and kind only, for when the server rejects the whole one. */
  readonly bare: string
}

interface ItemResult {
  readonly status: number
  readonly _id: string
  readonly error?: { readonly type: string; readonly reason: string }
}

interface BulkAnswer {
  readonly errors: boolean
  readonly items: readonly Readonly<Record<string, ItemResult>>[]
}

interface Outcome {
  /** The target index no longer exists, or does not exist yet. */
  readonly isMissing: boolean
  /** A rebuild is filling another index, which must get the changes too. */
  readonly isBuilding: boolean
  readonly refused: readonly { readonly write: Write; readonly reason: string }[]
}

interface Target {
  readonly alias: string
  /** `external_gte`: an equal version replaces; `external`: it is ignored. */
  readonly versions: 'external_gte' | 'external'
  readonly isRefreshed: boolean
  readonly asksForBuilding: boolean
}

const maxTries = 10

/**
 * Sends changes in bulk. Each request also detects whether a rebuild is running on any kernel: the server resolves all names of one request
 * at the same moment, so what is written while none is running is older than any rebuild, which then reads it from the store.
 */
export class BulkWriter {
  readonly #server: ElasticsearchConnection
  readonly #names: IndexNames
  readonly #indexes: ElasticsearchIndexes
  readonly #limitMs: number
  readonly #onRefused: (id: string, reason: string) => void

  constructor(
    server: ElasticsearchConnection,
    names: IndexNames,
    indexes: ElasticsearchIndexes,
    limitMs: number,
    onRefused: (id: string, reason: string) => void,
  ) {
    this.#server = server
    this.#names = names
    this.#indexes = indexes
    this.#limitMs = limitMs
    this.#onRefused = onRefused
  }

  /** Writes to the index in use and to the one being built, if any; visible when it resolves. */
  async write(changes: readonly IndexChange[]): Promise<void> {
    for await (const writes of bodiesOf(changes)) await this.#writeBody(writes)
  }

  async #writeBody(writes: readonly Write[]): Promise<void> {
    const { live, building } = this.#names
    for (let tries = 0; tries < maxTries; tries += 1) {
      await this.#indexes.ready()
      const inUse = await this.#send(writes, { alias: live, versions: 'external_gte', isRefreshed: true, asksForBuilding: true })
      if (inUse.isMissing) {
        this.#indexes.lost()
        continue
      }
      if (!inUse.isBuilding) return
      const next = await this.#send(writes, { alias: building, versions: 'external_gte', isRefreshed: true, asksForBuilding: false })
      // Gone: it has just replaced the index in use, or was abandoned.
      if (!next.isMissing) return
    }
    throw new Unavailable('The search index is replaced too often')
  }

  /** Writes what a rebuild read; any other write of the same revision is newer. False when the index no longer exists. */
  async fill(alias: string, writes: readonly Write[]): Promise<boolean> {
    const { isMissing } = await this.#send(writes, { alias, versions: 'external', isRefreshed: false, asksForBuilding: false })
    return !isMissing
  }

  async #send(writes: readonly Write[], target: Target): Promise<Outcome> {
    const first = await this.#sendOne(writes, target)
    if (first.refused.length === 0) return first
    for (const { write, reason } of first.refused) this.#onRefused(write.id, reason)
    const second = await this.#sendOne(
      first.refused.map(({ write }) => ({ ...write, source: write.bare })),
      target,
    )
    return { isMissing: first.isMissing || second.isMissing, isBuilding: first.isBuilding || second.isBuilding, refused: [] }
  }

  async #sendOne(writes: readonly Write[], { alias, versions, isRefreshed, asksForBuilding }: Target): Promise<Outcome> {
    const lines = writes.flatMap(({ id, version, source }) => [
      JSON.stringify({ index: { _index: alias, _id: id, version, version_type: versions, require_alias: true } }),
      source,
    ])
    if (asksForBuilding)
      lines.push(JSON.stringify({ update: { _index: this.#names.building, _id: '!', require_alias: true } }), '{"doc":{}}')
    const { body } = await this.#server.call<BulkAnswer>({
      method: 'POST',
      path: '/_bulk',
      query: isRefreshed ? { refresh: true } : {},
      bulk: `${lines.join('\n')}\n`,
      limitMs: this.#limitMs,
      isRepeatable: true,
    })
    const results = body.items.map(item => Object.values(item)[0] as ItemResult)
    return {
      isMissing: results.slice(0, writes.length).some(isIndexMissing),
      isBuilding: asksForBuilding && results.slice(writes.length).some(result => !isIndexMissing(result)),
      refused: writes.flatMap((write, at) => {
        const reason = refusalOf(results[at])
        return reason === undefined ? [] : [{ write, reason }]
      }),
    }
  }
}

const isIndexMissing = ({ error }: ItemResult): boolean =>
  error?.type === 'index_not_found_exception' || error?.type === 'index_closed_exception'

/** Why the server rejects this entry permanently. Throws `Unavailable` for temporary errors. */
function refusalOf(result: ItemResult | undefined): string | undefined {
  if (!result) throw new Unavailable('The search server sent an incomplete response')
  const { status, error } = result
  if (!error || status === 409 || isIndexMissing(result)) return undefined
  const reason = `${error.type}: ${error.reason}`.slice(0, 500)
  if (status === 400 && !/write index/.test(error.reason)) return reason
  throw new Unavailable(`The search server could not store a change: ${reason}`)
}
