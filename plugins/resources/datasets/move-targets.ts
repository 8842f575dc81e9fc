import {
  type Caller,
  type Contributions,
  configPort,
  DocumentStore,
  type ListQuery,
  type Page,
  type Resource,
  Resources,
  s,
  wire,
} from 'pounce/sdk'
import { type Dataset, datasets } from './collection.ts'
import { DatasetLists } from './dataset-lists.ts'

/** Settings of this class; the plugin's are made of all its classes'. */
export const targetConfig = s.Object({
  datasetFileWithinSpace: s.Boolean({
    default: false,
    description: "Offer only datasets in one of the file's spaces as targets when a file is moved",
  }),
})

/** Where a file could be moved. */
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

  /** A file says of itself in which datasets it lies: those are what its rights come from. */
  async #spacesOf(file: string): Promise<readonly string[]> {
    const ofFiles = this.#resources.all().find(({ kind }) => kind === 'file')
    const parents = (await ofFiles?.rightsOf([file]))?.get(file)?.parents ?? []
    const found = await this.#documents.getMany(datasets, parents.map(({ id }) => id).slice(0, 1000))
    return [...new Set([...found.values()].flatMap(({ spaces }) => spaces))]
  }
}
wire(MoveTargets, configPort(targetConfig), DocumentStore, DatasetLists, Resources)
