import { DocumentStore, type Erasure, type PersonalData, wire } from 'pounce/sdk'
import { personalRecords } from 'pounce/sdk/kit'
import { logos, StoredLogos } from './stored-logos.ts'

const Uploaded = personalRecords({
  name: 'logos',
  summary: 'Images that you uploaded as logos, or that are your own logo.',
  in: logos,
  isOf: ({ author, path }, { id }) => author === id || path === `user-${id}`,
  show: ({ id, path, name, contentType, sizeBytes, created }) => ({ id, path, name, contentType, sizeBytes, created }),
})

/** Logos of a user are deleted with their bytes; logos of spaces and of the installation are kept. */
export class PersonalLogos extends Uploaded implements PersonalData {
  readonly #logos: StoredLogos

  constructor(documents: DocumentStore, stored: StoredLogos) {
    super(documents)
    this.#logos = stored
  }

  override async erase({ person }: Erasure): Promise<void> {
    for (;;) {
      const { items } = await this.#logos.page({ path: `user-${person.id}` }, { limit: 100 })
      if (items.length === 0) return
      for (const logo of items) await this.#logos.remove(logo)
    }
  }
}
wire(PersonalLogos, DocumentStore, StoredLogos)
