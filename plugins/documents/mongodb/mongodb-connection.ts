import { setTimeout as pause } from 'node:timers/promises'
import type { Collection, Db, Document, MongoClient } from 'mongodb'
import { DocumentStore, type Lifecycle, type Log, type StatusPart, Unavailable, wire } from 'pounce/sdk'
import { maskedUri } from 'pounce/sdk/kit'
import { codeOf, isDenied, isUnavailable, problemOf } from './problems.ts'
import { Config, type Settings } from './settings.ts'

const setting = 'documents.mongodb.uri'

/** The userinfo of a connection string. It ends at the last `@`, since a password may contain an unescaped one. */
const credentialsOf = (uri: string): string | undefined => /^[a-z+]+:\/\/(.*)@/s.exec(uri)?.[1]

/** The hosts of a connection string, without the userinfo. */
const hostsOf = (uri: string): string => /^[a-z+]+:\/\/(?:.*@)?([^/?]+)/s.exec(uri)?.[1] ?? 'the given URL'

/** The server's error message. The driver quotes a connection string that it cannot parse, so secrets are removed. */
const wordsOf = (error: unknown, uri: string): string => {
  const text = error instanceof Error ? error.message : String(error)
  const credentials = credentialsOf(uri)
  if (credentials === undefined) return text
  const secrets = [uri, credentials, credentials.slice(credentials.indexOf(':') + 1)].filter(secret => secret !== '')
  return secrets.reduce((words, secret) => words.replaceAll(secret, '…'), text)
}

/** An error for why the server cannot be used; names the setting. */
export const refusalOf = (error: unknown, uri: string, database: string): Error => {
  const where = hostsOf(uri)
  const say = (what: string, cause: unknown = error) => new Error(`${setting}: ${what}: ${wordsOf(cause, uri)}`)
  if (codeOf(error) === 18) return say(`the server at ${where} refuses this user and password`)
  if (isDenied(error)) return say(`the server at ${where} does not let this user read and write the database ${database}`)
  if (error instanceof Unavailable) return say(`no server can be used at ${where}`, error.cause ?? error)
  if (isUnavailable(error)) return say(`no server can be used at ${where}`)
  return say('invalid connection string')
}

/** Margin for a server check beyond the driver's own timeouts, in milliseconds. */
const graceMs = 1000
/** Pause between attempts to connect a client that replaced another one, in milliseconds. */
const retryMs = 500

interface CheckLimits {
  readonly connectTimeoutMS: number
  readonly heartbeatFrequencyMS: number
}

/**
 * Calls `onHang`, once, when the driver no longer checks a server: no check succeeded or failed within the driver's own timeouts.
 *
 * That happens when a connection ends just as a check begins. `Connection.writeCommand` of mongodb 7.9 then waits for `drain` on a socket
 * that is already destroyed, without a timeout; the monitor stops, and no server can be selected until the client is replaced.
 */
const watchMonitors = (client: MongoClient, { connectTimeoutMS, heartbeatFrequencyMS }: CheckLimits, onHang: () => void): void => {
  const checks = new Map<string, NodeJS.Timeout>()
  let hasHung = false
  const begin = (address: string, limitMs: number): void => {
    end(address)
    if (!hasHung) checks.set(address, setTimeout(hang, limitMs).unref())
  }
  const end = (address: string): void => {
    clearTimeout(checks.get(address))
    checks.delete(address)
  }
  const hang = (): void => {
    hasHung = true
    for (const address of checks.keys()) end(address)
    onHang()
  }
  client.on('serverHeartbeatStarted', ({ connectionId, awaited }) =>
    begin(connectionId, connectTimeoutMS + (awaited ? heartbeatFrequencyMS : 0) + graceMs),
  )
  client.on('serverHeartbeatSucceeded', ({ connectionId }) => end(connectionId))
  client.on('serverHeartbeatFailed', ({ connectionId }) => end(connectionId))
  client.on('serverClosed', ({ address }) => end(address))
}

/** The connection to the database. Every call ends within the timeout, and errors are converted for callers. */
export class MongodbConnection {
  readonly #settings: Settings
  readonly #log: Log
  /** Replaced clients whose pending work has not ended. */
  readonly #replaced = new Map<MongoClient, NodeJS.Timeout>()
  #client: MongoClient | undefined
  #db: Db | undefined

  constructor(settings: Settings, log: Log) {
    this.#settings = settings
    this.#log = log
  }

  /** Connects and checks that the database is writable. Throws an Error that names the setting. */
  async open(): Promise<void> {
    const { uri, database } = this.#settings
    try {
      const { MongoClient } = await import('mongodb')
      this.#connect(MongoClient)
      const probes = this.collection<{ _id: string }>('_probe')
      await this.#limited(probes.updateOne({ _id: 'start' }, { $set: { at: new Date() } }, { upsert: true }))
    } catch (error) {
      await this.close()
      throw refusalOf(error, uri, database)
    }
  }

  #connect(Client: typeof MongoClient): MongoClient {
    const { uri, database, timeoutMs, poolSize } = this.#settings
    const limits = { connectTimeoutMS: Math.min(3000, timeoutMs), heartbeatFrequencyMS: 2000 }
    const client = new Client(uri, {
      appName: 'pounce',
      maxPoolSize: poolSize,
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: timeoutMs },
      readPreference: 'primary',
      serverSelectionTimeoutMS: Math.min(3000, timeoutMs),
      waitQueueTimeoutMS: timeoutMs,
      ignoreUndefined: true,
      ...limits,
    })
    watchMonitors(client, limits, () => {
      if (this.#client !== client) return
      this.#log.warn('The MongoDB driver no longer checks the server; connecting again')
      const close = () => this.#closeReplaced(client).catch(error => this.#log.warn('Failed to close a replaced connection', { error }))
      this.#replaced.set(client, setTimeout(close, timeoutMs))
      void this.#untilConnected(this.#connect(Client))
    })
    this.#client = client
    this.#db = client.db(database)
    return client
  }

  /** The driver does not repeat a client's first connection attempt: if it failed, no server can be selected (`executeOperation` of mongodb 7.9). */
  async #untilConnected(client: MongoClient): Promise<void> {
    while (this.#client === client) {
      try {
        await client.connect()
        return
      } catch (error) {
        this.#log.debug('The store is still unavailable', { error })
        await pause(retryMs, undefined, { ref: false })
      }
    }
  }

  async #closeReplaced(client: MongoClient): Promise<void> {
    clearTimeout(this.#replaced.get(client))
    this.#replaced.delete(client)
    await client.close()
  }

  async close(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    this.#db = undefined
    await Promise.all([client?.close(), ...[...this.#replaced.keys()].map(each => this.#closeReplaced(each))])
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

  /** Calls the server with the timeout, and converts errors for callers: see `problemOf`. */
  async use<R>(work: (database: Db) => Promise<R>): Promise<R> {
    try {
      return await this.#limited(work(this.database))
    } catch (error) {
      throw problemOf(error)
    }
  }

  /** Like `use`, but without a timeout, for slow operations such as creating an index. */
  async withoutTimeLimit<R>(work: (database: Db) => Promise<R>): Promise<R> {
    try {
      return await work(this.database)
    } catch (error) {
      throw problemOf(error)
    }
  }

  /** Runs work that may take several calls, with one timeout for all; `isOver` becomes true once the caller no longer waits. */
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

/** The storage location, for the status page. */
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
