import {
  type After,
  Clock,
  type DatasetRecord,
  Datasets,
  event,
  type FileRecord,
  Files,
  Folders,
  MetadataDocuments,
  NotFound,
  type Place,
  type Ref,
  type Stored,
  wire,
} from 'pounce/sdk'

type Dataset = DatasetRecord & Stored
type File = FileRecord & Stored

const batchSize = 200
/** Interval of progress reports; a copy without one for an hour counts as abandoned. */
const stillMs = 5 * 60 * 1000

/** Copies datasets: folders, files that share the bytes of the originals, and extracted metadata. A copy is hidden until it is complete. */
export class DatasetCopies {
  #datasets: Datasets
  #folders: Folders
  #files: Files
  #metadata: MetadataDocuments
  #clock: Clock

  constructor(datasets: Datasets, folders: Folders, files: Files, metadata: MetadataDocuments, clock: Clock) {
    this.#datasets = datasets
    this.#folders = folders
    this.#files = files
    this.#metadata = metadata
    this.#clock = clock
  }

  /** Returns the id of the copy. The caller must have checked the rights. A copy that fails or is aborted leaves nothing. */
  async copy(id: string, space: string, author: string, signal: AbortSignal): Promise<string> {
    const original = await this.#datasets.get(id)
    if (!original) throw new NotFound('dataset')
    const { name, description, creators, license, tags, thumbnail } = original
    // Whether a copy is on trial depends on its own space.
    const access = original.access === 'TRIAL' ? 'DEFAULT' : original.access
    const about = { name, description, access, creators, license, tags, author, spaces: [space], isImporting: true }
    const copy = await this.#datasets.create(thumbnail === null ? about : { ...about, thumbnail })
    try {
      await this.#fill(original, copy, signal)
      await this.#datasets.reveal(copy.id, [event('dataset.copied', { kind: 'dataset', id: copy.id }, { from: id }, author)])
      return copy.id
    } catch (error) {
      await this.#datasets.drop(copy.id)
      throw error
    }
  }

  async #fill(original: Dataset, copy: Dataset, signal: AbortSignal): Promise<void> {
    const { author } = copy
    await this.#copyMetadata({ kind: 'dataset', id: original.id }, { kind: 'dataset', id: copy.id })
    const folders = await this.#copyFolders(original.id, copy.id, author)
    const placesOf = ({ places }: File): readonly Place[] =>
      places.flatMap(place => {
        if (place.dataset !== original.id) return []
        if (place.folder === null) return [{ dataset: copy.id, folder: null, in: copy.id }]
        // A folder that was added while the others were copied has no counterpart: its files go into the root.
        const folder = folders.get(place.folder) ?? null
        return [{ dataset: copy.id, folder, in: folder ?? copy.id }]
      })
    let reportedMs = this.#clock.now().getTime()
    for await (const some of this.#batches(original.id)) {
      signal.throwIfAborted()
      const copies = await this.#files.copy(some, { author, placesOf })
      await Promise.all([...copies].map(([from, to]) => this.#copyMetadata({ kind: 'file', id: from }, { kind: 'file', id: to })))
      if (this.#clock.now().getTime() - reportedMs < stillMs) continue
      await this.#datasets.stillImporting(copy.id)
      reportedMs = this.#clock.now().getTime()
    }
  }

  async *#batches(dataset: string): AsyncIterable<readonly File[]> {
    let some: File[] = []
    for await (const file of this.#files.ofDataset(dataset)) {
      some.push(file)
      if (some.length < batchSize) continue
      yield some
      some = []
    }
    if (some.length > 0) yield some
  }

  /** New folders by the ids of the old ones, parents first. */
  async #copyFolders(from: string, to: string, author: string): Promise<ReadonlyMap<string, string>> {
    const copied = new Map<string, string>()
    const queue = [from]
    for (let parent = queue.shift(); parent !== undefined; parent = queue.shift()) {
      const goal = parent === from ? ({ kind: 'dataset', id: to } as const) : ({ kind: 'folder', id: copied.get(parent) ?? '' } as const)
      let after: After | undefined
      do {
        const page = await this.#folders.childrenOf(parent, { limit: batchSize, ...(after ? { after } : {}) })
        for (const { id, name } of page.items) {
          if (copied.has(id)) continue
          copied.set(id, (await this.#folders.create({ name, dataset: to, parent: goal, author, isImporting: true })).id)
          queue.push(id)
        }
        after = page.next
      } while (after)
    }
    return copied
  }

  /** Metadata of extractors is copied; metadata of users stays with the original (Clowder 1.x). */
  async #copyMetadata(from: Ref, target: Ref): Promise<void> {
    let after: After | undefined
    do {
      const page = await this.#metadata.of(from, { limit: batchSize, ...(after ? { after } : {}) })
      for (const { agent, content, context, created, author } of page.items) {
        if (agent.kind !== 'extractor') continue
        const document = { target, agent, content, created, author, isImporting: true }
        await this.#metadata.add(context === undefined ? document : { ...document, context })
      }
      after = page.next
    } while (after)
  }
}
wire(DatasetCopies, Datasets, Folders, Files, MetadataDocuments, Clock)
