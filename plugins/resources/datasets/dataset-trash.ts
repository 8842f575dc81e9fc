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
import { targetConfig } from './dataset-places.ts'

export const config = s.Object({
  ...trashSettings('dataset'),
  ...targetConfig.properties,
  trial: s.Boolean({
    default: false,
    description:
      'New datasets are on trial, and so not public whatever their access level, until they are in a space that is not (verifySpaces of Clowder 1.x)',
  }),
})
export const Config = configPort(config)

export const DatasetTrashCapability = capabilitiesBy(Config, ({ useTrash, clearTrashAfterDays: clearAfterDays }) => ({
  trash: { datasets: useTrash ? { clearAfterDays } : null },
}))

/** Where datasets wait before they are deleted for good. */
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

  /** Moves a live one to the trash, where there is one; deletes it otherwise. */
  async discard(id: string, actor: string | undefined): Promise<void> {
    const found = await this.#datasets.get(id)
    if (!found) throw new NotFound('dataset')
    if (!this.#useTrash || found.state !== 'live') return this.#datasets.remove(id, actor)
    const trashed = event('dataset.trashed', { kind: 'dataset', id }, {}, actor)
    await this.#move(id, 'live', { state: 'trashed', trashedAt: this.#clock.now().toISOString() }, trashed)
  }

  /** Back from the trash. One that does not exist stays as it is. */
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
      // Someone else was faster: it is there already.
      if (!(error instanceof CommitConflict) || error.reason !== 'guard') throw error
    }
  }
}
wire(DatasetTrash, Config, DocumentStore, Datasets, Clock, Log)
