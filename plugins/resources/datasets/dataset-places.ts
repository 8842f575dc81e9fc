import {
  type Caller,
  Clock,
  Collections,
  Conflict,
  type Contributions,
  configPort,
  type DatasetRecord,
  DocumentStore,
  event,
  Invalid,
  isSuperAdmin,
  type NewEvent,
  type Page,
  Policy,
  type Ref,
  type Resource,
  Resources,
  Spaces,
  s,
  wire,
} from 'pounce/sdk'
import { type DatasetAccess, type ListQuery, updateWithRetry } from 'pounce/sdk/kit'
import { type Dataset, datasets } from './collection.ts'
import { DatasetLists } from './dataset-lists.ts'

const maxPlaces = 1000

type Places = Pick<DatasetRecord, 'spaces' | 'collections' | 'access'>

type Container = Ref & { readonly kind: 'space' | 'collection' }

const fields = { space: 'spaces', collection: 'collections' } as const

/** The spaces, collections and access level of datasets, and the fields derived from them. */
export class DatasetPlaces {
  #documents: DocumentStore
  #spaces: Spaces
  #clock: Clock

  constructor(documents: DocumentStore, spaces: Spaces, clock: Clock) {
    this.#documents = documents
    this.#spaces = spaces
    this.#clock = clock
  }

  /** Adds a dataset to a space or collection. Idempotent. */
  async enter(id: string, container: Container, actor: string | undefined): Promise<Dataset> {
    const field = fields[container.kind]
    const attached = event('dataset.attached', { kind: 'dataset', id }, { other: container }, actor)
    return this.#change(id, now => {
      if (now[field].includes(container.id)) return undefined
      if (now.state === 'trashed') throw new Conflict('This dataset is in the trash; restore it first')
      if (now[field].length >= maxPlaces) throw new Invalid(`A dataset can be in at most ${maxPlaces} ${field}`)
      return { set: { [field]: [...now[field], container.id] }, events: [attached] }
    })
  }

  /** Removes a dataset from a space or collection. No error if it is not in it. */
  async leave(id: string, container: Container, actor: string | undefined): Promise<Dataset> {
    const field = fields[container.kind]
    const detached = event('dataset.detached', { kind: 'dataset', id }, { other: container }, actor)
    return this.#change(id, now => {
      if (!now[field].includes(container.id)) return undefined
      return { set: { [field]: now[field].filter(other => other !== container.id) }, events: [detached] }
    })
  }

  /** Sets who may read the dataset. Throws `Conflict` for a dataset on trial, which keeps its access level. */
  async setAccess(id: string, access: DatasetAccess, actor: string | undefined): Promise<Dataset> {
    return this.#change(id, now => {
      if (now.access === 'TRIAL') throw new Conflict('This dataset is on trial until its space is verified')
      return now.access === access ? undefined : { set: { access }, events: [this.#updated(id, 'access', actor)] }
    })
  }

  /** Ends the trial of a dataset whose space has been verified. */
  async endTrial(id: string, actor: string | undefined): Promise<Dataset> {
    return this.#change(id, now =>
      now.access === 'TRIAL' ? { set: { access: 'DEFAULT' }, events: [this.#updated(id, 'access', actor)] } : undefined,
    )
  }

  /** True when one of the spaces is not on trial. */
  async isVerified(spaces: readonly string[]): Promise<boolean> {
    return spaces.length > 0 && [...(await this.#spaces.getMany(spaces)).values()].some(({ access }) => access !== 'TRIAL')
  }

  /** To be called after a dataset was created in spaces: applies concurrent changes of these spaces. */
  async settleNew(dataset: Dataset): Promise<Dataset> {
    return this.#lookAgain(dataset)
  }

  /** Recomputes `isPublic`, which depends on the spaces of the dataset. */
  async settle(dataset: Dataset, actor?: string): Promise<Dataset> {
    const settled = async (now: Dataset) => (await this.isPublic(now)) === now.isPublic
    if (await settled(dataset)) return dataset
    return this.#change(dataset.id, async now => {
      return (await settled(now)) ? undefined : { set: {}, events: [this.#updated(now.id, 'isPublic', actor)] }
    })
  }

  /** PUBLIC, or DEFAULT in a public space. */
  async isPublic({ access, spaces }: Pick<DatasetRecord, 'access' | 'spaces'>): Promise<boolean> {
    if (access !== 'DEFAULT' || spaces.length === 0) return access === 'PUBLIC'
    const found = await this.#spaces.getMany(spaces)
    return [...found.values()].some(space => space.isPublic)
  }

  async #change(id: string, next: (now: Dataset) => Promise<PlaceChange | undefined> | PlaceChange | undefined): Promise<Dataset> {
    const changed = await updateWithRetry(this.#documents, datasets, { kind: 'dataset', id }, async now => {
      const placed = await next(now)
      if (!placed) return undefined
      const isPublic = await this.isPublic({ ...now, ...placed.set })
      return { set: { ...placed.set, isPublic, modified: this.#clock.now().toISOString() }, events: placed.events }
    })
    return this.#lookAgain(changed)
  }

  /** A space may have been published, unpublished or deleted between the read and the commit; its event then preceded this change. */
  async #lookAgain(changed: Dataset): Promise<Dataset> {
    const found = await this.#spaces.getMany(changed.spaces)
    const missing = changed.spaces.find(space => !found.has(space))
    if (missing !== undefined) return this.leave(changed.id, { kind: 'space', id: missing }, undefined)
    if (changed.access === 'TRIAL' && [...found.values()].some(({ access }) => access !== 'TRIAL'))
      return this.endTrial(changed.id, undefined)
    return this.settle(changed)
  }

  #updated(id: string, field: string, actor: string | undefined): NewEvent {
    return event('dataset.updated', { kind: 'dataset', id }, { fields: [field] }, actor)
  }
}
wire(DatasetPlaces, DocumentStore, Spaces, Clock)

interface PlaceChange {
  readonly set: Partial<Places>
  readonly events: readonly NewEvent[]
}

/** Settings of `CollectionSpaces`; the plugin's settings are composed of those of its classes. */
export const sharingConfig = s.Object({
  addDatasetToCollectionSpace: s.Boolean({
    default: false,
    description: "When the author of a dataset adds it to a collection, also add it to the collection's spaces that the author may add to",
  }),
})

/** Adds datasets to the spaces of their collections, if the installation wants that. */
export class CollectionSpaces {
  #isEnabled: boolean
  #collections: Collections
  #places: DatasetPlaces
  #policy: Policy

  constructor(
    { addDatasetToCollectionSpace }: s.Static<typeof sharingConfig>,
    collections: Collections,
    places: DatasetPlaces,
    policy: Policy,
  ) {
    this.#isEnabled = addDatasetToCollectionSpace
    this.#collections = collections
    this.#places = places
    this.#policy = policy
  }

  /** To be called after a dataset was added to a collection. The rights are those for adding the dataset to each space directly. */
  async share({ id, author, spaces }: Dataset, collection: string, caller: Caller): Promise<void> {
    if (!this.#isEnabled || (author !== caller.user?.id && !isSuperAdmin(caller))) return
    const further = (await this.#collections.get(collection))?.spaces.filter(space => !spaces.includes(space)) ?? []
    for (const space of further) {
      const container = { kind: 'space', id: space } as const
      if ((await this.#policy.canOn(caller, 'AddResourceToSpace', container)) === 'yes')
        await this.#places.enter(id, container, caller.user?.id)
    }
  }
}
wire(CollectionSpaces, configPort(sharingConfig), Collections, DatasetPlaces, Policy)

/** Settings of `MoveTargets`. */
export const targetConfig = s.Object({
  datasetFileWithinSpace: s.Boolean({
    default: false,
    description: "Offer only datasets in one of the file's spaces as targets when a file is moved",
  }),
})

/** The datasets that a file can be moved to. */
export class MoveTargets {
  #isWithinSpaces: boolean
  #documents: DocumentStore
  #lists: DatasetLists
  #resources: Contributions<Resource>

  constructor(
    { datasetFileWithinSpace }: s.Static<typeof targetConfig>,
    documents: DocumentStore,
    lists: DatasetLists,
    resources: Contributions<Resource>,
  ) {
    this.#isWithinSpaces = datasetFileWithinSpace
    this.#documents = documents
    this.#lists = lists
    this.#resources = resources
  }

  /** Datasets that the caller may add to, newest first. */
  async of(caller: Caller, file: string, query: ListQuery): Promise<Page<Dataset>> {
    return this.#lists.addable(caller, query, this.#isWithinSpaces ? await this.#spacesOf(file) : undefined)
  }

  /** A file records which datasets it is in: its rights derive from them. */
  async #spacesOf(file: string): Promise<readonly string[]> {
    const ofFiles = this.#resources.all().find(({ kind }) => kind === 'file')
    const parents = (await ofFiles?.rightsOf([file]))?.get(file)?.parents ?? []
    const found = await this.#documents.getMany(datasets, parents.map(({ id }) => id).slice(0, 1000))
    return [...new Set([...found.values()].flatMap(({ spaces }) => spaces))]
  }
}
wire(MoveTargets, configPort(targetConfig), DocumentStore, DatasetLists, Resources)
