import {
  and,
  type Bin,
  Clock,
  CommitConflict,
  configPort,
  Datasets,
  DocumentStore,
  eq,
  event,
  NotFound,
  type Page,
  port,
  range,
  readAfter,
  s,
  type Where,
  wire,
} from 'pounce/sdk'
import { type Dataset, datasets } from './collection.ts'
import { targetConfig } from './move-targets.ts'

export const config = s.Object({
  useTrash: s.Boolean({ default: true, description: 'Deleting a live dataset moves it to the trash; deleting it there deletes it' }),
  clearTrashAfterDays: s.Integer({
    default: 0,
    minimum: 0,
    maximum: 100_000,
    description: 'Days after which a dataset in the trash is deleted for good, looked at every six hours; 0: never',
  }),
  ...targetConfig.properties,
})
export const Config = configPort(config)

const dayMs = 86_400_000
const longestThere = { by: 'trashedAt', order: 'ascending' } as const

/** Where datasets wait before they are deleted for good. */
export class DatasetTrash implements Bin {
  readonly kind = 'dataset'
  #useTrash: boolean
  #documents: DocumentStore
  #datasets: Datasets
  #clock: Clock

  constructor({ useTrash }: s.Static<typeof config>, documents: DocumentStore, datasets: Datasets, clock: Clock) {
    this.#useTrash = useTrash
    this.#documents = documents
    this.#datasets = datasets
    this.#clock = clock
  }

  /** Moves a live one to the trash, where there is one; deletes it otherwise. */
  async discard(id: string, actor: string | undefined): Promise<void> {
    const found = await this.#datasets.get(id)
    if (!found) throw new NotFound('dataset')
    if (!this.#useTrash || found.state !== 'live') return this.#datasets.remove(id, actor)
    const trashed = event('dataset.trashed', { kind: 'dataset', id }, {}, actor)
    await this.#move(id, 'live', { state: 'trashed', trashedAt: this.#clock.now().toISOString() }, trashed)
  }

  /** Back from the trash. One that is not there stays as it is. */
  async restore(id: string, actor: string | undefined): Promise<void> {
    await this.#move(id, 'trashed', { state: 'live', trashedAt: null }, event('dataset.restored', { kind: 'dataset', id }, {}, actor))
  }

  /** A person's trash, the longest there first. */
  async of(author: string, { limit, after }: { readonly limit: number; readonly after?: string | undefined }): Promise<Page<Dataset>> {
    return this.#documents.find(datasets, {
      using: 'ownTrash',
      where: and(eq('state', 'trashed'), eq('author', author)),
      sort: longestThere,
      limit: limit === 0 ? 1000 : Math.min(limit, 1000),
      ...(after === undefined ? {} : { after: readAfter(after) }),
    })
  }

  /** Deletes all that a person has in the trash. */
  async empty(author: string): Promise<void> {
    await this.#removeAll('ownTrash', and(eq('state', 'trashed'), eq('author', author)), author)
  }

  /** Deletes what has been in anybody's trash for more than so many days, until it is told to stop; resolves to how many that were. */
  async clearOld(days: number, actor: string | undefined, signal?: AbortSignal): Promise<number> {
    const before = new Date(this.#clock.now().getTime() - days * dayMs).toISOString()
    return this.#removeAll('byTrashedAt', and(eq('state', 'trashed'), range('trashedAt', { lt: before })), actor, signal)
  }

  async #removeAll(using: string, where: Where, actor: string | undefined, signal?: AbortSignal): Promise<number> {
    for (let count = 0; ; ) {
      const { items } = await this.#documents.find(datasets, { using, where, sort: longestThere, limit: 200 })
      if (items.length === 0) return count
      for (const { id } of items) {
        if (signal?.aborted) return count
        // One that is restored at this moment stays.
        await this.#datasets.remove(id, actor, { fromTrash: true })
        count += 1
      }
    }
  }

  async #move(
    id: string,
    from: Dataset['state'],
    set: Pick<Dataset, 'state' | 'trashedAt'>,
    moved: Parameters<Datasets['change']>[2][number],
  ): Promise<void> {
    try {
      await this.#datasets.change(id, { where: eq('state', from), set }, [moved])
    } catch (error) {
      // Somebody else was faster: it is there already.
      if (!(error instanceof CommitConflict) || error.reason !== 'guard') throw error
    }
  }
}
wire(DatasetTrash, Config, DocumentStore, Datasets, Clock)

export const DatasetTrashes = port<DatasetTrash>('datasets.trash')
