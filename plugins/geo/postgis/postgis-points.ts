import { type GeoStore, Invalid, wire } from 'pounce/sdk'
import {
  checkBinning,
  type Datapoint,
  type GeoBin,
  type GeoBinning,
  type GeoFilter,
  type GeoPage,
  type PointInserted,
  type StreamStatistics,
} from 'pounce/sdk/geo'
import { binOf, binsSource } from './bins.ts'
import { type Narrowed, SqlParameters, streamsCondition } from './conditions.ts'
import { PointReader, pointText } from './cursor.ts'
import { insertPoints, removePoints } from './inserts.ts'
import { Cursors, piecesOf, type RowSource } from './pieces.ts'
import { PostgisConnection } from './postgis-connection.ts'
import { ascending, countStatement, narrowed, pointsStatement, readStatistics } from './queries.ts'
import { Config, config, type Settings } from './settings.ts'

/** With more names it is cheaper to read all properties of each point than to look up each name. */
const maxNames = 16

/** The names of all properties to be aggregated; undefined when they are many. */
const namesToSum = async (
  server: PostgisConnection,
  { streams }: Narrowed,
  { properties }: GeoBinning,
): Promise<readonly string[] | undefined> => {
  if (properties) {
    const wanted = [...new Set(properties)]
    return wanted.length <= maxNames ? wanted : undefined
  }
  const binds = new SqlParameters()
  const own = streams ? ` where ${streamsCondition(streams, binds)}` : ''
  const text = `select distinct n.name from streams s cross join unnest(s.names) as n (name)${own} limit ${maxNames + 1}`
  const names = (await server.query(text, binds.values)).map(([name]) => name ?? '')
  return names.length <= maxNames ? names : undefined
}

export { config }

/** Datapoints in PostgreSQL with PostGIS: one table of points, and one of stream statistics, maintained by the inserting statement. */
export class PostgisPoints implements GeoStore {
  readonly #server: PostgisConnection
  readonly #cursors: Cursors
  readonly #idleMs: number

  constructor(settings: Settings) {
    this.#server = new PostgisConnection(settings)
    this.#cursors = new Cursors(settings.poolSize)
    this.#idleMs = settings.cursorIdleMs
  }

  start(): Promise<void> {
    return this.#server.open()
  }

  async health(): Promise<void> {
    await this.#server.query('select 1')
  }

  /** Waits for pending operations, then disconnects; active readers fail. Later calls reject with `Unavailable`. */
  dispose(): Promise<void> {
    return this.#server.close()
  }

  get engine(): string {
    return this.#server.engine
  }

  insert(points: readonly Datapoint[]): Promise<readonly PointInserted[]> {
    return insertPoints(this.#server, points)
  }

  async get(id: number): Promise<Datapoint | undefined> {
    const [row] = await this.#server.query(`select ${pointText('p')} from points p where id = $1::bigint`, [id], 'get')
    return row && new PointReader().read(row)
  }

  async find({ filter, sort = ascending, after, limit }: Parameters<GeoStore['find']>[0]): Promise<GeoPage> {
    if (!Number.isInteger(limit) || limit < 1 || limit > 1000) throw new Invalid(`A page has 1 to 1,000 points, not ${limit}`)
    const wanted = await narrowed(this.#server, filter)
    if (!wanted) return { points: [] }
    const { text, values } = pointsStatement(wanted, sort, after, limit + 1)
    const reader = new PointReader()
    const points = (await this.#server.query(text, values)).map(row => reader.read(row))
    if (points.length <= limit) return { points }
    const page = points.slice(0, limit)
    const last = page.at(-1)
    return last ? { points: page, next: { id: last.id, stream: last.stream, startMs: last.startMs } } : { points: page }
  }

  async *read({ filter, sort = ascending, signal }: Parameters<GeoStore['read']>[0]): AsyncGenerator<readonly Datapoint[]> {
    const wanted = await narrowed(this.#server, filter)
    if (!wanted) return
    const reader = new PointReader()
    const statement: RowSource['statement'] = (after, limit) => pointsStatement(wanted, sort, after && reader.read(after), limit)
    for await (const rows of piecesOf(this.#server, { statement, isQuickAtFirst: true }, this.#cursors, this.#idleMs, signal))
      yield rows.map(row => reader.read(row))
  }

  async count(filter: GeoFilter, upTo: number): Promise<number> {
    if (!Number.isInteger(upTo) || upTo < 1 || upTo > 1e9) throw new Invalid(`Points are counted up to 1 to 10^9, not ${upTo}`)
    const wanted = await narrowed(this.#server, filter)
    if (!wanted) return 0
    const { text, values } = countStatement(wanted, upTo)
    const [row] = await this.#server.query(text, values)
    return Math.min(upTo, Number(row?.[0]))
  }

  async highest(): ReturnType<GeoStore['highest']> {
    const [row] = await this.#server.query('select (select max(id) from points), (select max(stream) from points)', [], 'highest')
    return { id: Number(row?.[0] ?? 0), stream: Number(row?.[1] ?? 0) }
  }

  statistics(streams: readonly number[]): Promise<ReadonlyMap<number, StreamStatistics>> {
    return readStatistics(this.#server, streams)
  }

  async *bins({ filter, binning, signal }: Parameters<GeoStore['bins']>[0]): AsyncGenerator<readonly GeoBin[]> {
    checkBinning(binning)
    const wanted = await narrowed(this.#server, filter)
    const names = wanted && (await namesToSum(this.#server, wanted, binning))
    if (!wanted || names?.length === 0) return
    const source = binsSource({ filter: wanted, binning, names })
    for await (const rows of piecesOf(this.#server, source, this.#cursors, this.#idleMs, signal)) yield rows.map(row => binOf(row, binning))
  }

  remove(what: { readonly ids: readonly number[] } | { readonly streams: readonly number[] }): Promise<number> {
    return removePoints(this.#server, what)
  }
}
wire(PostgisPoints, Config)
