import {
  Clock,
  CommitConflict,
  type DatasetRecord,
  type Datasets,
  DocumentStore,
  eq,
  event,
  Ids,
  type NewDataset,
  type NewEvent,
  noStatistics,
  orNotFound,
  type Update,
  type Where,
  wire,
} from 'pounce/sdk'
import { type Dataset, datasets } from './collection.ts'
import { type DatasetPlaces, DatasetPlacing } from './dataset-places.ts'
import { ownLicense } from './license.ts'

const deciding = /^(access|spaces)(\.|$)/

/** Datasets in the document store. Removing one tells its folders and files through `dataset.removed`. */
export class StoredDatasets implements Datasets {
  #documents: DocumentStore
  #places: DatasetPlaces
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, places: DatasetPlaces, ids: Ids, clock: Clock) {
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
    const set = isLook || paths.includes('modified') ? update.set : { ...update.set, modified: this.#clock.now().toISOString() }
    const changed = await orNotFound(
      'dataset',
      this.#documents.commit({ update: id, in: datasets, ...update, ...(set ? { set } : {}) }, events),
    )
    return paths.some(path => deciding.test(path)) ? this.#places.settle(changed) : changed
  }

  async create({ name, description = '', author, spaces = [], collections = [], access = 'DEFAULT' }: NewDataset): Promise<Dataset> {
    const id = this.#ids.next()
    const now = this.#clock.now().toISOString()
    const record: DatasetRecord = {
      name,
      description,
      author,
      created: now,
      modified: now,
      access,
      isPublic: await this.#places.isPublic({ access, spaces }),
      spaces: [...new Set(spaces)],
      collections: [...new Set(collections)],
      thumbnail: null,
      creators: [],
      license: ownLicense,
      tags: [],
      statistics: noStatistics,
      state: 'live',
      trashedAt: null,
    }
    const subject = { kind: 'dataset', id } as const
    const others = [
      ...record.spaces.map(id => ({ kind: 'space', id }) as const),
      ...record.collections.map(id => ({ kind: 'collection', id }) as const),
    ]
    const made = await this.#documents.commit({ insert: { id, ...record }, into: datasets }, [
      event('dataset.created', subject, {}, author),
      ...others.map(other => event('dataset.attached', subject, { other }, author)),
    ])
    return spaces.length > 0 ? this.#places.settleNew(made) : made
  }

  async remove(id: string, actor?: string): Promise<void> {
    for (;;) {
      const dataset = await this.get(id)
      if (!dataset) return
      const { name, state, revision, spaces } = dataset
      const removed = event('dataset.removed', { kind: 'dataset', id }, { wasTrashed: state === 'trashed', name, spaces }, actor)
      try {
        await this.#documents.commit({ tombstone: id, in: datasets, where: eq('revision', revision) }, [removed])
        return
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
      }
    }
  }
}
wire(StoredDatasets, DocumentStore, DatasetPlacing, Ids, Clock)
