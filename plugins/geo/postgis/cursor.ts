import type { Datapoint, Geometry } from 'pounce/sdk/geo'
import type { Statement } from './conditions.ts'
import type { PostgisConnection, Session, TextRow } from './postgis-connection.ts'
import { fromWkb } from './wkb.ts'

/** How long a cursor keeps its connection, and the server memory that it may use. */
interface Limits {
  readonly idleMs: number
  readonly memoryMiB: number | undefined
}

/** The result of one statement, read in batches. It holds a connection, which it releases when not read for too long. */
export class StatementCursor {
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

  static async open(server: PostgisConnection, { text, values }: Statement, { idleMs, memoryMiB }: Limits): Promise<StatementCursor> {
    const session = await server.session()
    try {
      await session.run(`begin read only${memoryMiB === undefined ? '' : `; set local work_mem = '${memoryMiB}MB'`}`)
      await session.run(`declare pieces no scroll cursor for ${text}`, values)
    } catch (error) {
      session.release(true)
      throw error
    }
    return new StatementCursor(session, idleMs)
  }

  /** False once its connection is released. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Resolves when its connection has been released. */
  get closed(): Promise<void> {
    return this.#closed.promise
  }

  /** The next rows; fewer at the end. */
  async fetch(size: number): Promise<readonly TextRow[]> {
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

  /** Releases the connection, whatever its state. */
  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearTimeout(this.#timer)
    const isSound = !this.#isBusy && (await this.#session.run('rollback').then(yes, no))
    this.#session.release(!isSound)
    this.#closed.resolve()
  }
}

const yes = (): boolean => true

const no = (): boolean => false

/** Columns that the text of a point is made of. */
export const pointColumns = 'id, stream, start_ms, end_ms, created_ms, shape, properties'

/**
 * A point as one text, parsed by `PointReader`, built from the columns of `table`: for a million rows, reading each column separately would cost
 * the driver more than everything else.
 */
export const pointText = (table: string): string => {
  const [id, stream, start, end, created, shape, properties] = pointColumns.split(', ').map(column => `${table}.${column}`)
  return `concat('[', ${id}, ',', ${stream}, ',', ${start}, ',', coalesce(${end}::text, 'null'), ',', ${created}, ',"', ${shape}, '",', ${properties}, ']')`
}

type Parts = readonly [
  id: number,
  stream: number,
  startMs: number,
  endMs: number | null,
  createdMs: number,
  shape: string,
  properties: Datapoint['properties'],
]

/** Longer geometry texts are not cached, and at most this many. */
const maxCached = { characters: 200, shapes: 10_000 }

/** Parses rows of `pointText`. Points at the same location share its geometry. */
export class PointReader {
  readonly #shapes = new Map<string, Geometry>()

  read([text]: TextRow): Datapoint {
    const [id, stream, startMs, endMs, createdMs, shape, properties] = JSON.parse(text ?? '') as Parts
    return { id, stream, startMs, endMs, createdMs, geometry: this.#geometry(shape), properties }
  }

  #geometry(shape: string): Geometry {
    const known = this.#shapes.get(shape)
    if (known) return known
    const geometry = fromWkb(shape)
    if (this.#shapes.size >= maxCached.shapes) this.#shapes.clear()
    if (shape.length <= maxCached.characters) this.#shapes.set(shape, geometry)
    return geometry
  }
}
