import { DocumentStore, type Erasure, eq, type PersonalData, wire } from 'pounce/sdk'
import { personalRecords } from 'pounce/sdk/kit'
import { parts, uploads } from './collections.ts'
import { StoredUploads } from './open-uploads.ts'

const Owned = personalRecords({
  name: 'uploads',
  summary: 'Uploads in progress or recently finished.',
  in: uploads,
  find: ({ id }) => ({ using: 'byOwner', where: eq('owner', id) }),
  isOf: ({ owner }, { id }) => owner === id,
  show: ({ id, name, contentType, lengthBytes, receivedBytes, dataset, folder, metadata, state, started, expires }) => ({
    ...{ id, name, contentType, lengthBytes, receivedBytes, dataset, folder, metadata, state, started, expires },
  }),
})

/** Unfinished uploads are deleted with their bytes; files of finished ones are kept. */
export class PersonalUploads extends Owned implements PersonalData {
  override readonly collections = [uploads.name, parts.name]
  readonly #documents: DocumentStore
  readonly #uploads: StoredUploads

  constructor(documents: DocumentStore, open: StoredUploads) {
    super(documents)
    this.#documents = documents
    this.#uploads = open
  }

  override async erase({ person }: Erasure): Promise<void> {
    const owned = { using: 'byOwner', where: eq('owner', person.id) } as const
    for await (const upload of this.#documents.scan(uploads, owned)) await this.#uploads.drop(upload)
  }
}
wire(PersonalUploads, DocumentStore, StoredUploads)
