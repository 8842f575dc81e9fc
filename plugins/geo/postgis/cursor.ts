import type { PostgisConnection, Row, Session } from './postgis-connection.ts'
import type { Statement } from './sql-parameters.ts'

/** How long a cursor keeps its connection, and what the server may use for it. */
interface Limits {
  readonly idleMs: number
  readonly memoryMiB: number | undefined
}

/** The answer of one statement, read piece by piece. It keeps a connection, which it gives back when nothing is asked for too long. */
export class Cursor {
  readonly #session: Session
  readonly #idleMs: number
  #timer: NodeJS.Timeout | undefined
  readonly #closed = Promise.withResolvers<void>()
  #isBusy = false
  #isOpen = true

  private constructor(session: Session, idleMs: number) {
    this.#session = session
    this.#idleMs = idleMs
  }

  static async open(server: PostgisConnection, { text, values }: Statement, { idleMs, memoryMiB }: Limits): Promise<Cursor> {
    const session = await server.session()
    try {
      await session.run(`begin read only${memoryMiB === undefined ? '' : `; set local work_mem = '${memoryMiB}MB'`}`)
      await session.run(`declare pieces no scroll cursor for ${text}`, values)
    } catch (error) {
      session.giveBack(true)
      throw error
    }
    return new Cursor(session, idleMs)
  }

  /** False once its connection is given back. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Resolves when its connection was given back. */
  get closed(): Promise<void> {
    return this.#closed.promise
  }

  /** The next rows, fewer at the end. */
  async fetch(size: number): Promise<readonly Row[]> {
    clearTimeout(this.#timer)
    this.#isBusy = true
    try {
      const rows = await this.#session.run(`fetch ${size} from pieces`)
      this.#isBusy = false
      this.#timer = setTimeout(() => void this.close(), this.#idleMs)
      return rows
    } catch (error) {
      await this.close()
      throw error
    }
  }

  /** Gives the connection back, whatever it is doing. */
  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearTimeout(this.#timer)
    const isSound = !this.#isBusy && (await this.#session.run('rollback').then(yes, no))
    this.#session.giveBack(!isSound)
    this.#closed.resolve()
  }
}

const yes = (): boolean => true
const no = (): boolean => false
