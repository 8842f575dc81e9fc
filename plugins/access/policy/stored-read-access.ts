import { CommitConflict, Conflict, collection, DocumentStore, Installation, Log, type ReadAccess, type Stored, wire } from 'pounce/sdk'
import type { ReadAccessOrigin } from 'pounce/sdk/kit'

/** Whether reading requires sign-in. Without `isPrivate`, the setting has not been chosen yet. */
interface ReadAccessRecord {
  readonly isPrivate?: boolean
}
export const readAccess = collection<ReadAccessRecord>()('access.reading')

const theRecord = 'reading'

/** Maximum time until a change by another kernel is seen. */
const freshMs = 500

/** Configured, or chosen by an admin: then stored in the document store and cached, so that no request reads it. */
export class StoredReadAccess implements ReadAccess {
  readonly #configured: boolean | undefined
  readonly #documents: DocumentStore
  readonly #log: Log
  #record: (ReadAccessRecord & Stored) | undefined
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
      this.#read().catch((error: unknown) => this.#log.debug('Read access not refreshed', { error }))
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
    const found = await this.#documents.get(readAccess, theRecord)
    // A choice made here during the read is newer than its result.
    if ((found?.revision ?? 0) >= (this.#record?.revision ?? 0)) this.#record = found
  }
}
wire(StoredReadAccess, Installation, DocumentStore, Log)
