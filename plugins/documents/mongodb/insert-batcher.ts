import type { MongoBulkWriteError, WriteError } from 'mongodb'
import type { MongodbConnection } from './mongodb-connection.ts'
import { codeOf } from './problems.ts'
import type { StoredRecord } from './record-format.ts'

interface Waiting {
  readonly record: StoredRecord
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Maximum number of documents in one call. */
const maxDocuments = 100

/** Errors of single documents in a call that otherwise succeeded. */
const errorsOf = (error: unknown): ReadonlyMap<number, WriteError> | undefined => {
  if (!(error instanceof Error) || !('writeErrors' in error) || codeOf(error) === undefined) return undefined
  const { writeErrors, result } = error as MongoBulkWriteError
  // In that case nothing is known to be durable.
  if (result?.getWriteConcernError()) return undefined
  const all = Array.isArray(writeErrors) ? writeErrors : [writeErrors]
  return all.length > 0 ? new Map(all.map(one => [one.index, one])) : undefined
}

/** Sends the inserts of one turn of the event loop in one call per collection; each succeeds or fails on its own. */
export class InsertBatcher {
  readonly #server: MongodbConnection
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(server: MongodbConnection) {
    this.#server = server
  }

  /** Resolves once the document is durable. */
  add(collection: string, record: StoredRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(collection)
      if (waiting) waiting.push({ record, resolve, reject })
      else {
        this.#waiting.set(collection, [{ record, resolve, reject }])
        setImmediate(() => this.#send(collection))
      }
    })
  }

  #send(collection: string): void {
    const all = this.#waiting.get(collection) ?? []
    this.#waiting.delete(collection)
    for (let at = 0; at < all.length; at += maxDocuments) void this.#sendSome(collection, all.slice(at, at + maxDocuments))
  }

  async #sendSome(collection: string, some: readonly Waiting[]): Promise<void> {
    const documents = some.map(({ record }) => record)
    try {
      const [only, ...others] = documents
      if (only && others.length === 0) await this.#server.use(() => this.#server.collection<StoredRecord>(collection).insertOne(only))
      else await this.#server.use(() => this.#server.collection<StoredRecord>(collection).insertMany(documents, { ordered: false }))
      for (const { resolve } of some) resolve()
    } catch (error) {
      const errors = errorsOf(error)
      for (const [at, { resolve, reject }] of some.entries()) {
        if (errors === undefined) reject(error)
        else if (errors.has(at)) reject(asError(errors.get(at) as WriteError))
        else resolve()
      }
    }
  }
}

const asError = ({ code, errmsg }: WriteError): Error => Object.assign(new Error(errmsg), { code })
