import { DocumentStore, eq, event, type FileRecord, type Place, port, type Stored, wire } from 'pounce/sdk'
import { files } from './collection.ts'

type File = FileRecord & Stored

/** Takes files away, or out of one place. */
export class Removal {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** Tombstones the record; its event takes the bytes and everything derived from the file away. */
  async remove(file: File, actor: string | undefined): Promise<void> {
    const datasets = [...new Set(file.places.map(place => place.dataset))]
    const { blob, sizeBytes, name, contentType } = file
    const removed = event('file.removed', { kind: 'file', id: file.id }, { datasets, blob, sizeBytes, name, contentType }, actor)
    await this.#documents.commit({ tombstone: file.id, in: files }, [removed])
  }

  /** Takes a file out of the places that fit; one that is left without a place is removed. A concurrent change is a `CommitConflict`. */
  async leave(file: File, fits: (place: Place) => boolean, actor: string | undefined): Promise<void> {
    const left = file.places.filter(place => !fits(place))
    if (left.length === file.places.length) return
    if (left.length === 0) return this.remove(file, actor)
    const gone = new Set(file.places.filter(fits).map(place => place.dataset))
    for (const place of left) gone.delete(place.dataset)
    await this.#documents.commit(
      { update: file.id, in: files, where: eq('revision', file.revision), set: { places: left } },
      [...gone].map(dataset => event('file.detached', { kind: 'file', id: file.id }, { dataset }, actor)),
    )
  }
}
wire(Removal, DocumentStore)

export const FileRemoval = port<Removal>('files.removal')
