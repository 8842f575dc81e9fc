import type { Statement } from './conditions.ts'
import { StatementCursor } from './cursor.ts'
import type { PostgisConnection, TextRow } from './postgis-connection.ts'

/** A source of rows in a total order. */
export interface RowSource {
  /** From the beginning or after a row; all of them or a maximum number. */
  readonly statement: (after: TextRow | undefined, limit?: number) => Statement
  /** The first rows are cheap without a cursor, which is worth its round trips only when there are more. */
  readonly isQuickAtFirst: boolean
  /** Server memory for sorting and aggregating, in MiB, where the server's own setting is lower. */
  readonly memoryMiB?: number
}

const size = 2000
const nothing = (): void => undefined

/** Maximum number of readers that keep a connection; others query again for each batch, so that connections remain for short calls. */
export class Cursors {
  readonly #maxOpen: number
  #open = 0

  constructor(poolSize: number) {
    this.#maxOpen = Math.floor(poolSize / 2)
  }

  take(): boolean {
    if (this.#open >= this.#maxOpen) return false
    this.#open += 1
    return true
  }

  release(): void {
    this.#open -= 1
  }
}

/** Continues where it stopped, with or without a cursor. */
class Reading {
  readonly #server: PostgisConnection
  readonly #source: RowSource
  readonly #cursors: Cursors
  readonly #idleMs: number
  #cursor: StatementCursor | undefined
  #last: TextRow | undefined
  #isOver = false

  constructor(server: PostgisConnection, source: RowSource, cursors: Cursors, idleMs: number) {
    this.#server = server
    this.#source = source
    this.#cursors = cursors
    this.#idleMs = idleMs
  }

  async next(): Promise<readonly TextRow[]> {
    const isFirst = this.#last === undefined && this.#source.isQuickAtFirst
    const cursor = isFirst ? undefined : await this.#current()
    const rows = cursor ? await cursor.fetch(size) : await this.#page()
    this.#last = rows.at(-1)
    if (rows.length < size) await this.close()
    return rows
  }

  async close(): Promise<void> {
    this.#isOver = true
    await this.#cursor?.close()
  }

  async #current(): Promise<StatementCursor | undefined> {
    if (this.#cursor?.isOpen) return this.#cursor
    if (!this.#cursors.take()) return undefined
    try {
      const cursor = await StatementCursor.open(this.#server, this.#source.statement(this.#last), {
        idleMs: this.#idleMs,
        memoryMiB: this.#source.memoryMiB,
      })
      void cursor.closed.then(() => this.#cursors.release())
      this.#cursor = cursor
      if (this.#isOver) await cursor.close()
      return cursor
    } catch (error) {
      this.#cursors.release()
      throw error
    }
  }

  #page(): Promise<readonly TextRow[]> {
    const { text, values } = this.#source.statement(this.#last, size)
    return this.#server.query(text, values)
  }
}

/** The rows of a source in batches, one of them prefetched. Leaving the loop releases its resources, and so does aborting the signal, at once. */
export async function* piecesOf(
  server: PostgisConnection,
  source: RowSource,
  cursors: Cursors,
  idleMs: number,
  signal?: AbortSignal,
): AsyncGenerator<readonly TextRow[]> {
  signal?.throwIfAborted()
  const reading = new Reading(server, source, cursors, idleMs)
  const aborted = Promise.withResolvers<never>()
  aborted.promise.catch(nothing)
  const stop = (): void => aborted.reject(signal?.reason)
  signal?.addEventListener('abort', stop)
  try {
    let ahead: Promise<readonly TextRow[]> | undefined = reading.next()
    while (ahead) {
      const rows: readonly TextRow[] = await Promise.race([ahead, aborted.promise])
      ahead = rows.length < size ? undefined : reading.next()
      // Its rejection is handled when it is awaited, which may never happen.
      ahead?.catch(nothing)
      if (rows.length > 0) yield rows
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    await reading.close()
  }
}
