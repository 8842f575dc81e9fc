import { setTimeout as pause } from 'node:timers/promises'
import { Conflict } from 'pounce/sdk'
import type { ElasticsearchConnection } from './elasticsearch-connection.ts'
import type { IndexNames } from './index-names.ts'
import { statusOf } from './problems.ts'

interface Stamp {
  readonly _seq_no: number
  readonly _primary_term: number
}

/** How often a holder shows that it is alive, and how long without that makes a lock no one's. */
export interface LockTimes {
  readonly beatMs: number
  readonly staleMs: number
}

/** Half of a dozen beats may be late or lost. */
export const lockTimes: LockTimes = { beatMs: 1500, staleMs: 9000 }

const id = '!rebuild'
const limitMs = 8000

/**
 * Only one kernel at a time rebuilds: it holds a document in the index in use, and writes it again and again. Who wants the lock of a holder
 * that is silent takes it over; no clocks are compared.
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

  /** True when someone holds the lock. Looks for a while at one that exists. */
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

  /** Writes the document over the version that was seen last. Throws `Conflict` when that is not the last one. */
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

/** The lock while one has it. */
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

  /** Aborted when another kernel took the lock over. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Stops showing that one is alive, and resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#beating
  }

  /** Gives the lock back. */
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
        // No answer is no loss: the next beat may arrive.
        if (error instanceof Conflict) this.#lost.abort(error)
      }
    }
  }
}
