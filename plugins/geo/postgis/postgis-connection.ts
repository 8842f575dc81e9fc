import type { ClientConfig, Pool, PoolClient } from 'pg'
import { Unavailable } from 'pounce/sdk'
import { HealthProbe } from './health-probe.ts'
import { problemOf, stateOf } from './problems.ts'
import { prepare } from './schema.ts'
import type { Settings } from './settings.ts'
import { checkedUrl, refusalOf } from './url.ts'

/** The columns of a row as PostgreSQL writes them. */
export type Row = readonly (string | null)[]

/** Runs one statement of those that belong together. */
export type Run = (text: string, values?: readonly unknown[], name?: string) => Promise<readonly Row[]>

/** A connection that is somebody's until it is given back. */
export interface Session {
  readonly run: Run
  /** Back for others; with `isBroken`, what it was doing is undone by the server. */
  giveBack(isBroken: boolean): void
}

/** How long the first connection and later ones are waited for, how long an answer may be late before the server is asked for a sign of life, and how long that may take. */
const limits = { startMs: 5000, connectMs: 3000, patienceMs: 500, pulseMs: 1200, roundMs: 1000 }
const asText = { getTypeParser: () => (value: string | Buffer) => String(value) }
const nothing = (): void => undefined

/** The connections to the database. Every call ends within its time-out, or 2 s after the server went away; errors are what callers are told. */
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

  /** Connects, and makes or completes the tables. Throws an Error that names the setting. */
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
      // A connection that breaks is noticed by who uses it, and by the next one to use it.
      this.#pool.on('error', nothing)
      this.#pool.on('connect', client => client.on('error', nothing))
      this.#pulse = new HealthProbe(pg, config, limits.pulseMs)
      await this.#pulse.ask()
    } catch (error) {
      await this.close()
      throw refusalOf(error, url, schema)
    }
  }

  async close(): Promise<void> {
    const [pool, pulse] = [this.#pool, this.#pulse]
    this.#pool = undefined
    this.#pulse = undefined
    for (const session of this.#sessions) session.giveBack(true)
    await Promise.all([pool?.end(), pulse?.close()])
  }

  /** One statement, by itself a transaction. A name keeps its plan on the connection. */
  query(text: string, values: readonly unknown[] = [], name?: string): Promise<readonly Row[]> {
    return this.#use(client => rowsOf(client, text, values, name))
  }

  /** Statements that count together or not at all. */
  transaction<R>(work: (run: Run) => Promise<R>): Promise<R> {
    return this.#use(async client => {
      const run: Run = (text, values = [], name) => rowsOf(client, text, values, name)
      await run('begin')
      try {
        const result = await work(run)
        await run('commit')
        return result
      } catch (error) {
        // After an answer of the server the connection is sound; after anything else it is not used again.
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
      giveBack: isBroken => {
        if (this.#sessions.delete(session)) client.release(isBroken)
      },
    }
    this.#sessions.add(session)
    // It may have come while the store was being closed.
    if (!this.isOpen) session.giveBack(true)
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

  /** Does something with a connection, which is given back when that fails. One that comes when nobody waits any more goes back too. */
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
        throw new Error('Nobody waits any more')
      })
    } catch (error) {
      isOver = true
      client?.release(!isSound(error))
      throw error
    }
  }

  /** Waits while the server is alive, and no longer than a statement may take. */
  async #watched<R>(work: () => Promise<R>): Promise<R> {
    const pulse = this.#pulse
    const until = performance.now() + this.#settings.timeoutMs + limits.connectMs
    let timer: NodeJS.Timeout | undefined
    const lost = new Promise<never>((_, reject) => {
      const look = async (): Promise<void> => {
        try {
          if (performance.now() > until) throw new Error('Timeout')
          await pulse?.ask()
          if (timer !== undefined) timer = setTimeout(look, limits.roundMs)
        } catch (cause) {
          reject(new Unavailable('The datapoint store does not respond', { cause }))
        }
      }
      timer = setTimeout(look, limits.patienceMs)
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

/** True of an error after which the connection can be used again: an answer of the server, or one of our own. */
const isSound = (error: unknown): boolean => {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const state = stateOf(cause)
  return state !== undefined && !/^(?:08|57P)/.test(state)
}

const rowsOf = async (client: PoolClient, text: string, values: readonly unknown[], name?: string): Promise<readonly Row[]> => {
  const { rows } = await client.query({ text, values: [...values], rowMode: 'array', ...(name === undefined ? {} : { name }) })
  return rows as Row[]
}
