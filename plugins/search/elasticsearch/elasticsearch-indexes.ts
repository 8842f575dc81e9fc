import { Unavailable } from 'pounce/sdk'
import type { ElasticsearchConnection } from './elasticsearch-connection.ts'
import { indexFormat, indexSettings, metaOf, type OlderIndexes, refreshInterval } from './index-format.ts'
import type { IndexNames } from './index-names.ts'
import { reasonOf, statusOf } from './problems.ts'

interface IndexMeta {
  readonly isComplete?: boolean
  readonly older?: OlderIndexes
}
type IndexMappings = Readonly<Record<string, { readonly mappings?: { readonly _meta?: IndexMeta } }>>
type IndexUuids = Readonly<Record<string, { readonly settings: { readonly index: { readonly uuid: string } } }>>
interface ShardStats {
  readonly indices?: Readonly<Record<string, { readonly shards: Readonly<Record<string, readonly Shard[]>> }>>
}
interface Shard {
  readonly seq_no?: { readonly max_seq_no: number }
}
type Aliases = Readonly<Record<string, { readonly aliases: Readonly<Record<string, unknown>> }>>

const adminLimitMs = 20_000
/** Making everything that a rebuild wrote visible takes a while. */
const refreshLimitMs = 300_000

/** The indexes of this installation on the server: the one in use, and others beside it. */
export class ElasticsearchIndexes {
  readonly #server: ElasticsearchConnection
  readonly #names: IndexNames
  readonly #shards: number
  #ready: Promise<void> | undefined
  #isReady = false

  constructor(server: ElasticsearchConnection, names: IndexNames, shards: number) {
    this.#server = server
    this.#names = names
    this.#shards = shards
  }

  /** Resolves when there is an index in use; creates an empty one when there is none. */
  ready(): Promise<void> {
    this.#ready ??= this.#prepare().catch((error: unknown) => {
      this.#ready = undefined
      if (isNameTaken(error)) throw new Unavailable(this.#nameTaken('an index'), { cause: error })
      // Such as a taken name or too many shards: changes must wait until it is corrected, like those during an outage.
      if (statusOf(error) === 400)
        throw new Unavailable(`The search server could not create the index: ${reasonOf(error)}`, { cause: error })
      throw error
    })
    return this.#ready
  }

  /** False until `ready` has resolved: what has the name of the alias may be the index of another program. */
  get isReady(): boolean {
    return this.#isReady
  }

  /** The index in use no longer exists: the next `ready` checks again. */
  lost(): void {
    this.#ready = undefined
    this.#isReady = false
  }

  #nameTaken(by: string): string {
    const { live } = this.#names
    return `The search server has ${by} of another program under the name ${live}: delete it, or set search.elasticsearch.index to another prefix`
  }

  /** The metadata of the index in use; undefined while documents are missing that a rebuild would add. */
  async metaIfComplete(): Promise<IndexMeta | undefined> {
    const { status, body } = await this.#server.call<IndexMappings>({
      method: 'GET',
      path: `/${this.#names.live}/_mapping`,
      limitMs: adminLimitMs,
      expect: [404],
      isRepeatable: true,
    })
    const metas = Object.values(body).map(({ mappings }) => mappings?._meta)
    return status === 200 && metas.every(meta => meta?.isComplete === true) ? metas[0] : undefined
  }

  /** The UUID of the index in use. */
  async identity(): Promise<string> {
    const path = `/${this.#names.live}/_settings/index.uuid`
    const { body } = await this.#server.call<IndexUuids>({ method: 'GET', path, limitMs: adminLimitMs, isRepeatable: true })
    return Object.values(body)
      .map(({ settings }) => settings.index.uuid)
      .sort()
      .join()
  }

  /** Indexes of older formats, which kernels of an older version may still be writing. */
  async older(): Promise<OlderIndexes> {
    const path = `/${this.#names.all}/_stats`
    const { status, body } = await this.#server.call<ShardStats>({
      ...{ method: 'GET', path, query: { level: 'shards' }, limitMs: adminLimitMs, expect: [404], isRepeatable: true },
    })
    if (status === 404) return {}
    const writesOf = (copies: readonly Shard[]): number => Math.max(0, ...copies.map(({ seq_no }) => (seq_no?.max_seq_no ?? -1) + 1))
    const older = Object.entries(body.indices ?? {}).filter(([index]) => this.#isOlder(index))
    return Object.fromEntries(
      older.map(([index, { shards }]) => [index, Object.values(shards).reduce((sum, one) => sum + writesOf(one), 0)]),
    )
  }

  /** Names of the indexes under an alias. */
  async under(alias: string): Promise<readonly string[]> {
    const { status, body } = await this.#server.call<Aliases>({
      method: 'GET',
      path: `/_alias/${alias}`,
      limitMs: adminLimitMs,
      expect: [404],
      isRepeatable: true,
    })
    return status === 404 ? [] : Object.keys(body)
  }

  /** Creates an index that receives changes alongside the one in use, until `use` or `drop`. */
  async makeNext(): Promise<string> {
    const index = this.#names.unused()
    await this.#make(index, { isComplete: false, aliases: { [this.#names.building]: {}, [this.#names.fillOf(index)]: {} } })
    // What a rebuild writes is invisible until it is complete.
    await this.#put(`/${index}/_settings`, { index: { refresh_interval: -1 } })
    return index
  }

  /** Creates an empty index without an alias. */
  async makeEmpty(): Promise<string> {
    const index = this.#names.unused()
    await this.#make(index, { isComplete: true, aliases: {} })
    return index
  }

  /** Atomically replaces the index in use, which is deleted. `older`: when the rebuild began. */
  async use(index: string, older: OlderIndexes = {}): Promise<void> {
    const { live, building } = this.#names
    await this.#put(`/${index}/_settings`, { index: { refresh_interval: refreshInterval } })
    await this.#put(`/${index}/_mapping`, { _meta: metaOf(true, older) })
    await this.#server.call({ method: 'POST', path: `/${index}/_refresh`, limitMs: refreshLimitMs })
    const before = await this.under(live)
    const isBuilding = (await this.under(building)).includes(index)
    const actions = [
      ...before.map(each => ({ remove_index: { index: each } })),
      { add: { index, alias: live } },
      ...(isBuilding ? [{ remove: { index, alias: building, must_exist: true } }] : []),
    ]
    await this.#server.call({ method: 'POST', path: '/_aliases', body: { actions }, limitMs: adminLimitMs })
  }

  async drop(index: string): Promise<void> {
    await this.#server.call({ method: 'DELETE', path: `/${index}`, limitMs: adminLimitMs, expect: [404] })
  }

  /** Deletes what interrupted rebuilds left. Requires the rebuild lock. */
  async dropLeftovers(): Promise<void> {
    await this.#dropUnused(index => this.#names.formatOf(index) === indexFormat)
  }

  /** Deletes the indexes of older program versions, once they are no longer needed. */
  async dropOlderForms(): Promise<void> {
    await this.#dropUnused(index => this.#isOlder(index))
  }

  #isOlder(index: string): boolean {
    return (this.#names.formatOf(index) ?? indexFormat) < indexFormat
  }

  async #dropUnused(isMeant: (index: string) => boolean): Promise<void> {
    const path = `/${this.#names.all}/_alias`
    const { status, body } = await this.#server.call<Aliases>({ method: 'GET', path, limitMs: adminLimitMs, expect: [404] })
    if (status === 404) return
    for (const [index, { aliases }] of Object.entries(body)) {
      if (isMeant(index) && !(this.#names.live in aliases)) await this.drop(index)
    }
  }

  async #prepare(): Promise<void> {
    const { live, first } = this.#names
    const existing = await this.under(live)
    if (existing.some(index => this.#names.formatOf(index) !== indexFormat)) throw new Unavailable(this.#nameTaken('an alias'))
    if (existing.length === 0) {
      await this.#makeFirst()
      const found = await this.under(live)
      if (found.length > 1 && found.includes(first)) await this.drop(first)
    }
    this.#isReady = true
  }

  /** Several kernels may do this concurrently: one creates it, the others find it created. */
  async #makeFirst(): Promise<void> {
    const { live, first } = this.#names
    try {
      await this.#make(first, { isComplete: false, aliases: { [live]: {} } })
    } catch (error) {
      if (statusOf(error) !== 400 || !reasonOf(error).startsWith('resource_already_exists')) throw error
      const actions = [{ add: { index: first, alias: live } }]
      await this.#server.call({ method: 'POST', path: '/_aliases', body: { actions }, limitMs: adminLimitMs })
    }
  }

  async #make(
    index: string,
    { isComplete, aliases }: { readonly isComplete: boolean; readonly aliases: Readonly<Record<string, object>> },
  ): Promise<void> {
    const body = { ...indexSettings({ isComplete, shards: this.#shards }), aliases }
    await this.#put(`/${index}`, body)
  }

  async #put(path: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#server.call({ method: 'PUT', path, body, limitMs: adminLimitMs })
  }
}

const isNameTaken = (error: unknown): boolean => statusOf(error) === 400 && reasonOf(error).startsWith('invalid_alias_name')
