import { CommitConflict, Conflict, collection, DocumentStore, Installation, Log, type ReadAccess, wire } from 'pounce/sdk'
import type { ReadAccessOrigin } from 'pounce/sdk/kit'

/** The answer to the question who may read. Without `isPrivate` the question is asked and not answered. */
interface ReadAccessRecord {
  readonly isPrivate?: boolean
}
export const readAccess = collection<ReadAccessRecord>()('access.reading')

const theRecord = 'reading'

/** Another kernel's change is seen after this long at most. */
const freshMs = 500

/** Configured, or as an admin chose: then kept in the document store and in memory, so that no request reads it. */
export class StoredReadAccess implements ReadAccess {
  readonly #configured: boolean | undefined
  readonly #documents: DocumentStore
  readonly #log: Log
  #record: ReadAccessRecord | undefined
  #refresh: NodeJS.Timeout | undefined

  constructor({ configuredPrivate }: Installation, documents: DocumentStore, log: Log) {
    this.#configured = configuredPrivate
    this.#documents = documents
    this.#log = log
  }

  get isPrivate(): boolean {
    if (this.#configured !== undefined) return this.#configured
    return this.#record !== undefined && this.#record.isPrivate !== false
  }

  get origin(): ReadAccessOrigin {
    if (this.#configured !== undefined) return 'configuration'
    if (this.#record === undefined) return 'default'
    return this.#record.isPrivate === undefined ? 'pending' : 'admin'
  }

  async start(): Promise<void> {
    if (this.#configured !== undefined) return
    await this.#read()
    this.#refresh = setInterval(() => {
      this.#read().catch((error: unknown) => this.#log.debug('read access not refreshed', { error }))
    }, freshMs).unref()
  }

  dispose(): void {
    clearInterval(this.#refresh)
  }

  async ask(): Promise<void> {
    if (this.#configured !== undefined || this.#record !== undefined) return
    try {
      this.#record = await this.#documents.commit({ insert: { id: theRecord }, into: readAccess })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
      await this.#read()
    }
  }

  async choose(isPrivate: boolean): Promise<void> {
    if (this.#configured !== undefined) throw new Conflict('access.private is set in the configuration, which overrides any other choice')
    await this.ask()
    this.#record = await this.#documents.commit({ update: theRecord, in: readAccess, set: { isPrivate } })
  }

  async #read(): Promise<void> {
    this.#record = await this.#documents.get(readAccess, theRecord)
  }
}
wire(StoredReadAccess, Installation, DocumentStore, Log)
