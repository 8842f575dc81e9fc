import { Collections, CommitConflict, Datasets, eq, event, Files, NotFound, type StoredEvent, wire } from 'pounce/sdk'

/** Shows a file's new thumbnail on the file, and on its datasets and their collections where they have none. */
export class ShowThumbnail {
  #files: Files
  #datasets: Datasets
  #collections: Collections

  constructor(files: Files, datasets: Datasets, collections: Collections) {
    this.#files = files
    this.#datasets = datasets
    this.#collections = collections
  }

  async handle({ subject, data: { target } }: StoredEvent<'thumbnail.attached'>): Promise<void> {
    if (target.kind !== 'file' || !(await this.#files.get(target.id))) return
    const shown = event('file.updated', { kind: 'file', id: target.id }, { fields: ['thumbnail'] })
    const file = await this.#files.change(target.id, { set: { thumbnail: subject.id } }, [shown])
    const datasets = await this.#datasets.getMany([...new Set(file.places.map(place => place.dataset))])
    for (const dataset of datasets.values()) {
      if (dataset.thumbnail === null) await this.#give(this.#datasets, 'dataset', dataset.id, subject.id)
      const collections = await this.#collections.getMany(dataset.collections)
      for (const { id, thumbnail } of collections.values())
        if (thumbnail === null) await this.#give(this.#collections, 'collection', id, subject.id)
    }
  }

  async #give(records: Datasets | Collections, kind: 'dataset' | 'collection', id: string, thumbnail: string): Promise<void> {
    const updated = event(`${kind}.updated`, { kind, id }, { fields: ['thumbnail'] })
    try {
      await records.change(id, { where: eq('thumbnail', null), set: { thumbnail } }, [updated])
    } catch (error) {
      // somebody gave it one meanwhile, or it is gone: either way it needs none from us
      if (!(error instanceof CommitConflict || error instanceof NotFound)) throw error
    }
  }
}
wire(ShowThumbnail, Files, Datasets, Collections)
