import {
  type After,
  and,
  Clock,
  CommitConflict,
  type DatasetRecord,
  type Datasets,
  DocumentStore,
  eq,
  event,
  Ids,
  type NewEvent,
  type Page,
  type s,
  type Update,
  type Where,
  wire,
} from 'pounce/sdk'
import { type NewDataset, naturalKey, noStatistics, orNotFound, ownLicense, unlessConflict, updateWithRetry } from 'pounce/sdk/kit'
import { type Dataset, datasets } from './collection.ts'
import { DatasetPlaces } from './dataset-places.ts'
import { Config, type config } from './dataset-trash.ts'

const deciding = /^(access|spaces)(\.|$)/

/** Datasets in the document store. Removing one removes its folders and files through `dataset.removed`. */
export class StoredDatasets implements Datasets {
  #trial: boolean
  #documents: DocumentStore
  #places: DatasetPlaces
  #ids: Ids
  #clock: Clock

  constructor({ trial }: Pick<s.Static<typeof config>, 'trial'>, documents: DocumentStore, places: DatasetPlaces, ids: Ids, clock: Clock) {
    this.#trial = trial
    this.#documents = documents
    this.#places = places
    this.#ids = ids
    this.#clock = clock
  }

  get(id: string): Promise<Dataset | undefined> {
    return this.#documents.get(datasets, id)
  }

  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, Dataset>> {
    return this.#documents.getMany(datasets, ids)
  }

  async change(id: string, update: Update & { readonly where?: Where }, events: readonly NewEvent[]): Promise<Dataset> {
    const paths = [update.set, update.inc, update.push, update.addToSet, update.pull].flatMap(part => Object.keys(part ?? {}))
    const isLook = paths.every(path => path.startsWith('statistics.'))
    const named = typeof update.set?.['name'] === 'string' ? { nameKey: naturalKey(update.set['name']) } : {}
    const modified = isLook || paths.includes('modified') ? {} : { modified: this.#clock.now().toISOString() }
    const set = update.set || !isLook ? { ...update.set, ...named, ...modified } : undefined
    const changed = await orNotFound(
      'dataset',
      this.#documents.commit({ update: id, in: datasets, ...update, ...(set ? { set } : {}) }, events),
    )
    return paths.some(path => deciding.test(path)) ? this.#places.settle(changed) : changed
  }

  async create(dataset: NewDataset): Promise<Dataset> {
    const { name, description = '', author, spaces = [], collections = [], isImporting = false } = dataset
    const isOnTrial = this.#trial && !(await this.#places.isVerified(spaces))
    const access = isOnTrial ? 'TRIAL' : (dataset.access ?? 'DEFAULT')
    const id = this.#ids.next()
    const now = this.#clock.now().toISOString()
    const record: DatasetRecord = {
      name,
      nameKey: naturalKey(name),
      description,
      author,
      created: now,
      modified: now,
      access,
      isPublic: await this.#places.isPublic({ access, spaces }),
      spaces: [...new Set(spaces)],
      collections: [...new Set(collections)],
      thumbnail: dataset.thumbnail ?? null,
      creators: [...new Set(dataset.creators)],
      license: dataset.license ?? ownLicense,
      tags: dataset.tags ?? [],
      statistics: noStatistics,
      state: isImporting ? 'importing' : 'live',
      trashedAt: null,
    }
    const events = isImporting ? [] : announcing({ id, ...record })
    const created = await this.#documents.commit({ insert: { id, ...record }, into: datasets }, events)
    return spaces.length > 0 ? this.#places.settleNew(created) : created
  }

  inCollection(collection: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<Dataset>> {
    return this.#documents.find(datasets, {
      using: 'byCollection',
      where: and(eq('state', 'live'), eq('collections', collection)),
      sort: { by: 'created', order: 'descending' },
      ...page,
    })
  }

  async stillImporting(id: string): Promise<void> {
    await this.change(id, { set: { modified: this.#clock.now().toISOString() } }, [])
  }

  async reveal(id: string, besides: readonly NewEvent[] = []): Promise<Dataset> {
    const revealed = await updateWithRetry(this.#documents, datasets, { kind: 'dataset', id }, now => {
      if (now.state !== 'importing') return undefined
      const at = this.#clock.now().toISOString()
      const imported = event('dataset.imported', { kind: 'dataset', id }, {}, now.author)
      return { set: { state: 'live' as const, created: at, modified: at }, events: [...announcing(now), imported, ...besides] }
    })
    return this.#places.settleNew(revealed)
  }

  async drop(id: string): Promise<void> {
    const dataset = await this.get(id)
    if (dataset?.state !== 'importing') return
    const { name, spaces } = dataset
    const dropped = event('dataset.removed', { kind: 'dataset', id }, { wasTrashed: false, wasImporting: true, name, spaces })
    // A conflict: the dataset was shown or dropped concurrently.
    await unlessConflict(this.#documents.commit({ tombstone: id, in: datasets, where: eq('state', 'importing') }, [dropped]))
  }

  async remove(id: string, actor?: string, only?: { readonly fromTrash: boolean }): Promise<void> {
    for (;;) {
      const dataset = await this.get(id)
      if (!dataset || (only?.fromTrash && dataset.state !== 'trashed')) return
      const { name, state, revision, spaces, collections, author } = dataset
      const about = { wasTrashed: state === 'trashed', name, spaces, collections, author }
      const removed = event('dataset.removed', { kind: 'dataset', id }, about, actor)
      try {
        await this.#documents.commit({ tombstone: id, in: datasets, where: eq('revision', revision) }, [removed])
        return
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
      }
    }
  }
}
/** The events for a new dataset and its spaces and collections. */
const announcing = ({ id, author, spaces, collections }: DatasetRecord & { readonly id: string }): readonly NewEvent[] => {
  const subject = { kind: 'dataset', id } as const
  const others = [...spaces.map(id => ({ kind: 'space', id }) as const), ...collections.map(id => ({ kind: 'collection', id }) as const)]
  return [event('dataset.created', subject, {}, author), ...others.map(other => event('dataset.attached', subject, { other }, author))]
}

wire(StoredDatasets, Config, DocumentStore, DatasetPlaces, Ids, Clock)
