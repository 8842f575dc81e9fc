import { type DatasetRecord, Datasets, DocumentStore, event, Invalid, wire } from 'pounce/sdk'
import { changeIfMatching, requireVersion, updateWithRetry } from 'pounce/sdk/kit'
import { datasets } from './collection.ts'

const mostCreators = 1000

/** What people write on a dataset. */
type Written = Pick<DatasetRecord, 'name' | 'description' | 'license'>

/** Who edits, and which version. */
interface Edit {
  readonly actor: string | undefined
  readonly ifMatch: string | undefined
}

/** Changes what people write on datasets: names, descriptions, licenses, creators. */
export class DatasetEdits {
  #documents: DocumentStore
  #datasets: Datasets

  constructor(documents: DocumentStore, all: Datasets) {
    this.#documents = documents
    this.#datasets = all
  }

  /** Here and below, `ifMatch` is what the client sent as `If-Match`: another version of the dataset is not changed. */
  async write(id: string, set: Partial<Written>, { actor, ifMatch }: Edit): Promise<void> {
    const updated = event('dataset.updated', { kind: 'dataset', id }, { fields: Object.keys(set) }, actor)
    await changeIfMatching(this.#datasets, { kind: 'dataset', id }, ifMatch, { set }, [updated])
  }

  /** Appends a creator; one that exists already stays where it is. */
  async addCreator(id: string, creator: string, edit: Edit): Promise<void> {
    await this.#rearrange(id, edit, creators => {
      if (creators.includes(creator)) return creators
      if (creators.length >= mostCreators) throw new Invalid(`A dataset can have at most ${mostCreators} creators`)
      return [...creators, creator]
    })
  }

  /** One that does not exist is not an error. */
  async removeCreator(id: string, creator: string, edit: Edit): Promise<void> {
    await this.#rearrange(id, edit, creators => creators.filter(other => other !== creator))
  }

  /** Moves a creator to a position, 0 for the first; beyond the end is the end. One that does not exist is not an error. */
  async moveCreator(id: string, creator: string, position: number, edit: Edit): Promise<void> {
    await this.#rearrange(id, edit, creators => {
      if (!creators.includes(creator)) return creators
      return creators.filter(other => other !== creator).toSpliced(position, 0, creator)
    })
  }

  async #rearrange(id: string, { actor, ifMatch }: Edit, next: (creators: readonly string[]) => readonly string[]): Promise<void> {
    const updated = event('dataset.updated', { kind: 'dataset', id }, { fields: ['creators'] }, actor)
    await updateWithRetry(this.#documents, datasets, { kind: 'dataset', id }, now => {
      requireVersion(ifMatch, 'dataset', now)
      const creators = next(now.creators)
      const isSame = creators.length === now.creators.length && creators.every((creator, at) => creator === now.creators[at])
      return isSame ? undefined : { set: { creators }, events: [updated] }
    })
  }
}
wire(DatasetEdits, DocumentStore, Datasets)
