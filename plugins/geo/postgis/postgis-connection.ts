import type { Client, ClientConfig, Pool, PoolClient } from 'pg'
import { GeoStore, type Lifecycle, type StatusPart, Unavailable, wire } from 'pounce/sdk'
import { maskedUri } from 'pounce/sdk/kit'
import { isDeadlock, problemOf, stateOf } from './problems.ts'
import { prepare } from './schema.ts'
import { Config, checkedUrl, refusalOf, type Settings } from './settings.ts'

/** Checks that the server responds, over a separate connection, so that slow work and a dead server can be distinguished. */
class HealthProbe {
  readonly #connect: (limitMs: number) => Client
  readonly #limitMs: number
  #client: Promise<Client> | undefined
  #checking: Promise<void> | undefined
  #isClosed = false

  constructor(library: { readonly Client: new (config: ClientConfig) => Client }, config: ClientConfig, limitMs: number) {
    this.#connect = connectionTimeoutMillis => new library.Client({ ...config, connectionTimeoutMillis })
    this.#limitMs = limitMs
  }

  /** Resolves on any response of the server, and rejects on timeout. Concurrent calls share one check. */
  check(limitMs = this.#limitMs): Promise<void> {
    this.#checking ??= this.#probe(limitMs).finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#drop()
  }

  async #drop(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    await client?.then(open => open.end()).catch(ended)
  }

  async #probe(limitMs: number): Promise<void> {
    if (this.#isClosed) throw new Error('The connection is closed')
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      // Pending responses are processed first, since this process may have been the slow one.
      timer = setTimeout(() => setImmediate(() => reject(new Error(`No response within ${limitMs} ms`))), limitMs)
    })
    try {
      this.#client ??= this.#open(limitMs)
      await Promise.race([this.#client.then(client => client.query('select 1')), late])
    } catch (error) {
      void this.#drop()
      // A rejection is a response as well.
      if (stateOf(error) === undefined) throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async #open(limitMs: number): Promise<Client> {
    const client = this.#connect(limitMs)
    client.on('error', () => void this.#drop())
    await client.connect()
    return client
  }
}

/** Errors are ignored: what cannot be closed is closed already. */
const ended = (): void => undefined

/** The columns of a row in PostgreSQL's text format. */
export type TextRow = readonly (string | null)[]

/** Runs one statement of a transaction. */
export type RunStatement = (text: string, values?: readonly unknown[], name?: string) => Promise<readonly TextRow[]>

/** A connection that is reserved until it is released. */
export interface Session {
  readonly run: RunStatement
  /** Returns it to the pool; with `isBroken`, the server rolls back what it was doing. */
  release(isBroken: boolean): void
}

/** Timeouts: for the first and later connections, for a response until the server is checked, and for that check. */
const limits = { startMs: 5000, connectMs: 3000, silenceMs: 500, pulseMs: 1200, roundMs: 1000 }

const asText = { getTypeParser: () => (value: string | Buffer) => String(value) }

const nothing = (): void => undefined

/** The connections to the database. Every call ends within its timeout, or 2 s after the server became unavailable; errors are converted for callers. */
export class PostgisConnection {
  readonly #settings: Settings
  #pool: Pool | undefined
  #pulse: HealthProbe | undefined
  readonly #sessions = new Set<Session>()
  #engine = 'PostGIS'

  constructor(settings: Settings) {
    this.#settings = settings
  }

  get engine(): string {
    return this.#engine
  }

  get isOpen(): boolean {
    return this.#pool !== undefined
  }

  /** Connects, and creates or upgrades the tables. Throws an Error that names the setting. */
  async open(): Promise<void> {
    const { url, schema, poolSize, timeoutMs } = this.#settings
    try {
      const { default: pg } = await import('pg')
      const config: ClientConfig = {
        connectionString: checkedUrl(url),
        application_name: 'pounce',
        connectionTimeoutMillis: limits.connectMs,
        keepAlive: true,
        types: asText as never,
      }
      const first = new pg.Client({ ...config, connectionTimeoutMillis: limits.startMs })
      first.on('error', nothing)
      await first.connect()
      try {
        const { engine, options } = await prepare(first, schema)
        this.#engine = engine
        this.#pool = new pg.Pool({ ...config, options, statement_timeout: timeoutMs, max: poolSize, idleTimeoutMillis: 60_000 })
      } finally {
        await first.end()
      }
      // A broken connection fails the call that uses it, or the next one.
      this.#pool.on('error', nothing)
      this.#pool.on('connect', client => client.on('error', nothing))
      this.#pulse = new HealthProbe(pg, config, limits.pulseMs)
      await this.#pulse.check(limits.startMs)
    } catch (error) {
      await this.close()
      throw refusalOf(error, url, schema)
    }
  }

  async close(): Promise<void> {
    const [pool, pulse] = [this.#pool, this.#pulse]
    this.#pool = undefined
    this.#pulse = undefined
    for (const session of this.#sessions) session.release(true)
    await Promise.all([pool?.end(), pulse?.close()])
  }

  /** Runs one statement as its own transaction. A name keeps its plan on the connection. */
  query(text: string, values: readonly unknown[] = [], name?: string): Promise<readonly TextRow[]> {
    return this.#use(client => rowsOf(client, text, values, name))
  }

  /** Runs statements in one transaction. */
  transaction<R>(work: (run: RunStatement) => Promise<R>): Promise<R> {
    return this.#use(async client => {
      const run: RunStatement = (text, values = [], name) => rowsOf(client, text, values, name)
      await run('begin')
      try {
        const result = await work(run)
        await run('commit')
        return result
      } catch (error) {
        // After a response of the server the connection is intact; after anything else it is not reused.
        if (stateOf(error) !== undefined) await run('rollback')
        throw error
      }
    })
  }

  /** A connection to keep for a while. */
  async session(): Promise<Session> {
    const client = await this.#connected(async connected => connected)
    const session: Session = {
      run: (text, values = [], name) => this.#watched(() => rowsOf(client, text, values, name)),
      release: isBroken => {
        if (this.#sessions.delete(session)) client.release(isBroken)
      },
    }
    this.#sessions.add(session)
    // It may have been established while the store was being closed.
    if (!this.isOpen) session.release(true)
    return session
  }

  async #use<R>(work: (client: PoolClient) => Promise<R>): Promise<R> {
    let client: PoolClient | undefined
    const result = await this.#connected(connected => {
      client = connected
      return work(connected)
    })
    client?.release()
    return result
  }

  /** Calls a function with a connection, which is released when that fails, and also when it arrives after the caller gave up. */
  async #connected<R>(work: (client: PoolClient) => Promise<R>): Promise<R> {
    const pool = this.#opened()
    let client: PoolClient | undefined
    let isOver = false
    try {
      return await this.#watched(async () => {
        const connected = await pool.connect()
        if (!isOver) {
          client = connected
          return work(connected)
        }
        connected.release()
        throw new Error('The request was abandoned')
      })
    } catch (error) {
      isOver = true
      client?.release(!isSound(error))
      throw error
    }
  }

  /** Waits while the server responds, and at most for the statement timeout. */
  async #watched<R>(work: () => Promise<R>): Promise<R> {
    const pulse = this.#pulse
    const until = performance.now() + this.#settings.timeoutMs + limits.connectMs
    let timer: NodeJS.Timeout | undefined
    const lost = new Promise<never>((_, reject) => {
      const look = async (): Promise<void> => {
        try {
          if (performance.now() > until) throw new Error('Timeout')
          await pulse?.check()
          if (timer !== undefined) timer = setTimeout(look, limits.roundMs)
        } catch (cause) {
          reject(new Unavailable('The datapoint store does not respond', { cause }))
        }
      }
      timer = setTimeout(look, limits.silenceMs)
    })
    try {
      return await Promise.race([work(), lost])
    } catch (error) {
      throw problemOf(error)
    } finally {
      clearTimeout(timer)
      timer = undefined
    }
  }

  #opened(): Pool {
    if (this.#pool === undefined) throw new Unavailable('The datapoint store is not open')
    return this.#pool
  }
}

/** True for an error after which the connection can be reused: a response of the server, or one of our own. */
const isSound = (error: unknown): boolean => {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const state = stateOf(cause)
  return state !== undefined && !/^(?:08|57P)/.test(state)
}

const rowsOf = async (client: PoolClient, text: string, values: readonly unknown[], name?: string): Promise<readonly TextRow[]> => {
  const { rows } = await client.query({ text, values: [...values], rowMode: 'array', ...(name === undefined ? {} : { name }) })
  return rows as TextRow[]
}

/** The storage location, for the status page. */
export class PostgisStatus implements StatusPart {
  readonly name = 'postgres'
  readonly details: Readonly<Record<string, string>>
  readonly #points: GeoStore & Lifecycle

  constructor({ url, schema }: Settings, points: GeoStore & Lifecycle) {
    this.#points = points
    this.details = { url: maskedUri(url), catalog: URL.parse(url)?.pathname.slice(1) ?? '', schema }
  }

  async check(): Promise<undefined> {
    await this.#points.health?.()
  }
}
wire(PostgisStatus, Config, GeoStore)

const maxTries = 5

/** Retries work that the server rolled back in favour of another transaction. */
export const withRetry = async <R>(work: () => Promise<R>): Promise<R> => {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isDeadlock(error) || tries === maxTries) throw error
    }
  }
}
