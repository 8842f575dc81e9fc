import { Clock, type DatasetRecord, Datasets, DocumentStore, event, Invalid, wire } from 'pounce/sdk'
import { changeIfMatching, requireVersion, updateWithRetry } from 'pounce/sdk/kit'
import { datasets } from './collection.ts'

const maxCreators = 1000

/** The fields that users edit as text. */
type Written = Pick<DatasetRecord, 'name' | 'description' | 'license'>

/** The editing user and the expected version. */
interface Edit {
  readonly actor: string | undefined
  readonly ifMatch: string | undefined
}

/** Edits names, descriptions, licenses and creators of datasets. */
export class DatasetEdits {
  #documents: DocumentStore
  #datasets: Datasets
  #clock: Clock

  constructor(documents: DocumentStore, all: Datasets, clock: Clock) {
    this.#documents = documents
    this.#datasets = all
    this.#clock = clock
  }

  /** Here and below, `ifMatch` is the `If-Match` header of the client: the edit fails if the dataset has another version. */
  async write(id: string, set: Partial<Written>, { actor, ifMatch }: Edit): Promise<void> {
    const updated = event('dataset.updated', { kind: 'dataset', id }, { fields: Object.keys(set) }, actor)
    await changeIfMatching(this.#datasets, { kind: 'dataset', id }, ifMatch, { set }, [updated])
  }

  /** Appends a creator; an existing one keeps its position. */
  async addCreator(id: string, creator: string, edit: Edit): Promise<void> {
    await this.#rearrange(id, edit, creators => {
      if (creators.includes(creator)) return creators
      if (creators.length >= maxCreators) throw new Invalid(`A dataset can have at most ${maxCreators} creators`)
      return [...creators, creator]
    })
  }

  /** Removes a creator. A missing one is not an error. */
  async removeCreator(id: string, creator: string, edit: Edit): Promise<void> {
    await this.#rearrange(id, edit, creators => creators.filter(other => other !== creator))
  }

  /** Moves a creator to a position; 0 is the first, and positions beyond the end mean the end. A missing creator is not an error. */
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
      return isSame ? undefined : { set: { creators, modified: this.#clock.now().toISOString() }, events: [updated] }
    })
  }
}
wire(DatasetEdits, DocumentStore, Datasets, Clock)
