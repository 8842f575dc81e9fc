import { setTimeout as pause } from 'node:timers/promises'
import { Conflict } from 'pounce/sdk'
import type { ElasticsearchConnection } from './elasticsearch-connection.ts'
import type { IndexNames } from './index-names.ts'
import { statusOf } from './problems.ts'

interface Stamp {
  readonly _seq_no: number
  readonly _primary_term: number
}

/** The heartbeat interval of a holder, and the time without one after which a lock expires. */
export interface LockTimes {
  readonly beatMs: number
  readonly staleMs: number
}

/** Half a dozen heartbeats may be late or lost. */
export const lockTimes: LockTimes = { beatMs: 1500, staleMs: 9000 }

const id = '!rebuild'
const limitMs = 8000

/**
 * Only one kernel at a time rebuilds: it holds a document in the index in use, and rewrites it at intervals. A lock whose holder
 * is silent can be taken over; no clocks are compared.
 */
export class RebuildLock {
  readonly #server: ElasticsearchConnection
  readonly #path: string
  readonly #times: LockTimes

  constructor(server: ElasticsearchConnection, names: IndexNames, times: LockTimes) {
    this.#server = server
    this.#path = `/${names.live}/_doc/${encodeURIComponent(id)}`
    this.#times = times
  }

  /** True when the lock is held. Observes an existing one for a while. */
  async isHeld(): Promise<boolean> {
    const found = await this.#read()
    return found !== undefined && (await this.#isAlive(found, undefined))
  }

  /** Throws `Conflict` when another kernel rebuilds. */
  async acquire(signal: AbortSignal | undefined): Promise<HeldLock> {
    const found = await this.#read()
    if (found && (await this.#isAlive(found, signal))) throw new Conflict('A rebuild of the index is already running')
    return new HeldLock(
      await this.#write(found),
      stamp => this.#write(stamp),
      stamp => this.#remove(stamp),
      this.#times.beatMs,
    )
  }

  async #isAlive(found: Stamp, signal: AbortSignal | undefined): Promise<boolean> {
    const end = performance.now() + this.#times.staleMs
    while (performance.now() < end) {
      await pause(this.#times.beatMs / 4, undefined, signal ? { signal } : {})
      const now = await this.#read()
      if (!now) return false
      if (now._seq_no !== found._seq_no || now._primary_term !== found._primary_term) return true
    }
    return false
  }

  async #read(): Promise<Stamp | undefined> {
    const query = { _source: false }
    const { status, body } = await this.#server.call<Stamp>({
      method: 'GET',
      path: this.#path,
      query,
      limitMs,
      expect: [404],
      isRepeatable: true,
    })
    return status === 404 ? undefined : body
  }

  /** Writes the document over the version last seen. Throws `Conflict` when that is not the current one. */
  async #write(over: Stamp | undefined): Promise<Stamp> {
    const condition = over ? { if_seq_no: over._seq_no, if_primary_term: over._primary_term } : { op_type: 'create' }
    const query = { ...condition, require_alias: true }
    try {
      return (await this.#server.call<Stamp>({ method: 'PUT', path: this.#path, query, body: { isListed: false }, limitMs })).body
    } catch (error) {
      const status = statusOf(error)
      if (status === 409 || status === 404) throw new Conflict('Another kernel is rebuilding the index', { cause: error })
      throw error
    }
  }

  async #remove(stamp: Stamp): Promise<void> {
    const query = { if_seq_no: stamp._seq_no, if_primary_term: stamp._primary_term }
    await this.#server.call({ method: 'DELETE', path: this.#path, query, limitMs, expect: [404, 409] })
  }
}

/** A lock that is held. */
export class HeldLock {
  readonly #lost = new AbortController()
  readonly #remove: (stamp: Stamp) => Promise<void>
  readonly #stopped = new AbortController()
  readonly #beating: Promise<void>
  #stamp: Stamp

  constructor(stamp: Stamp, write: (stamp: Stamp) => Promise<Stamp>, remove: (stamp: Stamp) => Promise<void>, beatMs: number) {
    this.#stamp = stamp
    this.#remove = remove
    this.#beating = this.#beat(write, beatMs)
  }

  /** Aborted when another kernel has taken the lock over. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Stops the heartbeat, and resolves when no request is pending. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#beating
  }

  /** Releases the lock. */
  async release(): Promise<void> {
    await this.stop()
    await this.#remove(this.#stamp)
  }

  async #beat(write: (stamp: Stamp) => Promise<Stamp>, beatMs: number): Promise<void> {
    while (!this.#stopped.signal.aborted && !this.#lost.signal.aborted) {
      await pause(beatMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined)
      if (this.#stopped.signal.aborted) return
      try {
        this.#stamp = await write(this.#stamp)
      } catch (error) {
        // A missing response is not a loss: the next heartbeat may arrive.
        if (error instanceof Conflict) this.#lost.abort(error)
      }
    }
  }
}
