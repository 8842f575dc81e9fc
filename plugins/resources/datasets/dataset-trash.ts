import {
  Clock,
  CommitConflict,
  configPort,
  type DatasetRecord,
  Datasets,
  DocumentStore,
  eq,
  event,
  Log,
  NotFound,
  s,
  type TrashHandler,
  wire,
} from 'pounce/sdk'
import { capabilitiesBy, Trash, trashSettings } from 'pounce/sdk/kit'
import { type Dataset, datasets } from './collection.ts'
import { sharingConfig, targetConfig } from './dataset-places.ts'

export const config = s.Object({
  ...trashSettings('dataset'),
  ...targetConfig.properties,
  ...sharingConfig.properties,
  trial: s.Boolean({
    default: false,
    description:
      'New datasets are on trial, and therefore not public regardless of their access level, until they are in a verified space (verifySpaces of Clowder 1.x)',
  }),
})
export const Config = configPort(config)

export const DatasetTrashCapability = capabilitiesBy(Config, ({ useTrash, clearTrashAfterDays: clearAfterDays }) => ({
  trash: { datasets: useTrash ? { clearAfterDays } : null },
}))

/** The trash of datasets, which keeps them until they are deleted permanently. */
export class DatasetTrash extends Trash<DatasetRecord> implements TrashHandler {
  readonly kind = 'dataset'
  #useTrash: boolean
  #datasets: Datasets
  #clock: Clock

  constructor(
    { useTrash, clearTrashAfterDays: days }: s.Static<typeof config>,
    documents: DocumentStore,
    stored: Datasets,
    clock: Clock,
    log: Log,
  ) {
    super({ documents, clock, log, from: datasets, days, remove: (id, actor) => stored.remove(id, actor, { fromTrash: true }) })
    this.#useTrash = useTrash
    this.#datasets = stored
    this.#clock = clock
  }

  /** Moves a live dataset to the trash if the trash is enabled; deletes it otherwise. */
  async discard(id: string, actor: string | undefined): Promise<void> {
    const found = await this.#datasets.get(id)
    if (!found) throw new NotFound('dataset')
    if (!this.#useTrash || found.state !== 'live') return this.#datasets.remove(id, actor)
    const trashed = event('dataset.trashed', { kind: 'dataset', id }, {}, actor)
    await this.#move(id, 'live', { state: 'trashed', trashedAt: this.#clock.now().toISOString() }, trashed)
  }

  /** Restores a dataset from the trash. No effect if it is not in the trash. */
  async restore(id: string, actor: string | undefined): Promise<void> {
    await this.#move(id, 'trashed', { state: 'live', trashedAt: null }, event('dataset.restored', { kind: 'dataset', id }, {}, actor))
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
      // A concurrent request has restored it already.
      if (!(error instanceof CommitConflict) || error.reason !== 'guard') throw error
    }
  }
}
wire(DatasetTrash, Config, DocumentStore, Datasets, Clock, Log)
