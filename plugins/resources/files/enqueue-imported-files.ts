import { DocumentStore, event, exists, type FileRecord, Files, type NewEvent, type Stored, type StoredEvent, wire } from 'pounce/sdk'
import { requireDone } from 'pounce/sdk/kit'
import { files } from './collection.ts'
import { scanDue } from './stored-files.ts'

type File = FileRecord & Stored

const batchSize = 200

/** Emits the events of the files of an imported dataset, each once: the pending event is removed from the file in the commit that emits it. */
export class EnqueueImportedFiles {
  #documents: DocumentStore
  #files: Files

  constructor(documents: DocumentStore, all: Files) {
    this.#documents = documents
    this.#files = all
  }

  async handle({ subject }: StoredEvent<'dataset.imported'>): Promise<void> {
    let some: File[] = []
    for await (const file of this.#files.ofDataset(subject.id)) {
      if (file.untold) some.push(file)
      if (some.length < batchSize) continue
      await this.#announce(subject.id, some)
      some = []
    }
    await this.#announce(subject.id, some)
  }

  async #announce(dataset: string, some: readonly File[]): Promise<void> {
    const outcomes = await this.#documents.commitEach(
      some.map(file => ({
        change: { update: file.id, in: files, where: exists('untold'), unset: ['untold'] },
        events: [created(file, dataset), ...scanDue(file)],
      })),
    )
    requireDone(outcomes)
  }
}
wire(EnqueueImportedFiles, DocumentStore, Files)

const created = ({ id, author, places, sizeBytes, untold, scan }: File, dataset: string): NewEvent => {
  const folder = places.find(place => place.dataset === dataset)?.folder ?? null
  const { extract, key } = untold ?? { extract: false, key: null }
  const awaitsScan = scan?.state === 'pending' ? { awaitsScan: true } : {}
  return event('file.created', { kind: 'file', id }, { dataset, folder, sizeBytes, extract, key, isImported: true, ...awaitsScan }, author)
}
