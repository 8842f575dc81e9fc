import { DocumentStore, type Lifecycle, maskedUri, type StatusPart, wire } from 'pounce/sdk'
import { Config, type Settings } from './settings.ts'

/** Where records are kept, for the status page. */
export class MongodbStatus implements StatusPart {
  readonly name = 'mongo'
  readonly isPlain = true
  readonly details: Readonly<Record<string, string>>
  readonly #documents: DocumentStore & Lifecycle

  constructor({ uri, database }: Settings, documents: DocumentStore & Lifecycle) {
    this.#documents = documents
    this.details = { uri: maskedUri(uri), database }
  }

  async check(): Promise<undefined> {
    await this.#documents.health?.()
  }
}
wire(MongodbStatus, Config, DocumentStore)
