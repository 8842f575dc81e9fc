import type { Collection, Db, Document, MongoClient } from 'mongodb'
import { Unavailable } from 'pounce/sdk'
import { isAway, isDenied, problemOf } from './problems.ts'
import type { Settings } from './settings.ts'

const setting = 'documents.mongodb.uri'

/** The server's own words, which may repeat the address but never the password. */
const wordsOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error)
  return text.replaceAll(/\/\/[^/@\s]*@/g, '//')
}

/** Why the server cannot be used, in words that name the setting. */
export const refusalOf = (error: unknown, where: string, database: string): Error => {
  if (isDenied(error)) {
    const isPassword = error instanceof Error && 'code' in error && error.code === 18
    const what = isPassword ? 'refuses this user and password' : `does not let this user read and write the database ${database}`
    return new Error(`${setting}: the server at ${where} ${what}: ${wordsOf(error)}`)
  }
  if (isAway(error) || error instanceof Unavailable) {
    const cause = error instanceof Unavailable && error.cause !== undefined ? error.cause : error
    return new Error(`${setting}: no server can be used at ${where}: ${wordsOf(cause)}`)
  }
  return new Error(`${setting}: ${wordsOf(error)}`)
}

/** The hosts of an address, without user and password. */
const hostsOf = (uri: string): string => /^mongodb(?:\+srv)?:\/\/(?:[^/@]*@)?([^/?]+)/.exec(uri)?.[1] ?? 'the given address'

/** The connection to the database. Every call ends within the time-out, and its errors are what callers are told. */
export class Server {
  readonly #settings: Settings
  #client: MongoClient | undefined
  #db: Db | undefined

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** Connects and sees that the database can be written. Throws an Error that names the setting. */
  async open(): Promise<void> {
    const { uri, database, timeoutMs, poolSize } = this.#settings
    try {
      const { MongoClient } = await import('mongodb')
      this.#client = new MongoClient(uri, {
        appName: 'pounce',
        maxPoolSize: poolSize,
        writeConcern: { w: 'majority', journal: true, wtimeoutMS: timeoutMs },
        readPreference: 'primary',
        serverSelectionTimeoutMS: Math.min(3000, timeoutMs),
        connectTimeoutMS: Math.min(3000, timeoutMs),
        waitQueueTimeoutMS: timeoutMs,
        heartbeatFrequencyMS: 2000,
        ignoreUndefined: true,
      })
      this.#db = this.#client.db(database)
      const probes = this.#db.collection<{ _id: string }>('_probe')
      await this.#limited(probes.updateOne({ _id: 'start' }, { $set: { at: new Date() } }, { upsert: true }))
    } catch (error) {
      await this.close()
      throw refusalOf(error, hostsOf(uri), database)
    }
  }

  async close(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    this.#db = undefined
    await client?.close()
  }

  get isOpen(): boolean {
    return this.#db !== undefined
  }

  get database(): Db {
    if (this.#db === undefined) throw new Unavailable('The document store is not open')
    return this.#db
  }

  /** A collection of the database. Throws `Unavailable` once the connection is closed. */
  collection<T extends Document>(name: string): Collection<T> {
    return this.database.collection<T>(name)
  }

  /** Waits for the server, no longer than the time-out, and says what its errors mean to callers: see `problemOf`. */
  async use<R>(work: (database: Db) => Promise<R>): Promise<R> {
    try {
      return await this.#limited(work(this.database))
    } catch (error) {
      throw problemOf(error)
    }
  }

  /** As `use`, for what takes the server as long as it takes, such as making an index. */
  async patiently<R>(work: (database: Db) => Promise<R>): Promise<R> {
    try {
      return await work(this.database)
    } catch (error) {
      throw problemOf(error)
    }
  }

  /** Waits for a piece of work that may take several calls, no longer than the time-out; `isOver` says when nobody waits any more. */
  within<R>(work: (isOver: () => boolean) => Promise<R>): Promise<R> {
    const until = performance.now() + this.#settings.timeoutMs
    return this.#limited(work(() => performance.now() >= until))
  }

  #limited<R>(answer: Promise<R>): Promise<R> {
    const { timeoutMs } = this.#settings
    return new Promise((resolve, reject) => {
      const late = () => reject(new Unavailable(`The document store did not answer within ${timeoutMs} ms`))
      const timer = setTimeout(late, timeoutMs)
      answer.then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }
}
