import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Datapoint } from 'pounce/sdk/geo'
import { type BoxAndTime, placeOf, pointAt, stations, yearCount, yearPoint, yearStream } from './geo-points.ts'

/** The size of a table, including its header. */
interface Table {
  readonly lines: number
  readonly bytes: number
}

/** The same readings written and read directly: one table, an index on stream and time, durable commits. */
export interface RawPoints {
  readonly name: string
  /** Inserts `count` readings in batches of 500; resolves to readings per second. */
  ingest(count: number): Promise<number>
  /** The number of readings in a box and a time range; streams are selected by location first. */
  ask(area: BoxAndTime): Promise<number>
  /** Inserts a year of readings of one stream. */
  addYear(): Promise<void>
  /** Aggregates each value of that year by day; resolves to the number of aggregates. */
  days(): Promise<number>
  /** Reads all readings in chunks, ordered by id, and formats them as CSV. */
  csv(): Promise<Table>
  close(): Promise<void>
}

const perCommit = 500
const streamsIn = ({ box: [west, south, east, north] }: BoxAndTime): readonly number[] =>
  Array.from({ length: stations }, (_, n) => n).flatMap(n => {
    const [longitude, latitude] = placeOf(n)
    return longitude >= west && longitude <= east && latitude >= south && latitude <= north ? [n + 1] : []
  })

const yearPoints = (count: number): readonly Datapoint[] => Array.from({ length: yearCount }, (_, n) => yearPoint(n, count + n + 1))

const perPiece = 2000
const named = ['discharge', 'nitrate', 'site', 'temperature'] as const
const head = ['id', 'created', 'start_time', 'end_time', ...named, 'type', 'geometry', 'longitude', 'latitude', 'stream_id'].join(',')

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
const cell = (value: unknown): string => (value === undefined ? '' : typeof value === 'string' ? quoted(value) : JSON.stringify(value))
const time = (ms: unknown): string => new Date(Number(ms)).toISOString()

/** Formats a reading as a line from the column values of a driver. */
const line = (
  [id, stream, start, stop, made]: readonly unknown[],
  [longitude, latitude]: readonly unknown[],
  properties: Readonly<Record<string, unknown>>,
): string => {
  const before = [id, quoted(time(made)), quoted(time(start)), quoted(time(stop))]
  return [...before, ...named.map(name => cell(properties[name])), '"Feature"', '"Point"', longitude, latitude, `"${stream}"`].join(',')
}

/** Encodes the header and the chunks of lines, as a server would send them. */
const written = async (pieces: AsyncIterable<readonly string[]> | Iterable<readonly string[]>): Promise<Table> => {
  let [lines, bytes] = [1, Buffer.from(`${head}\r\n`).length]
  for await (const piece of pieces) {
    lines += piece.length
    bytes += Buffer.from(`${piece.join('\r\n')}\r\n`).length
  }
  return { lines, bytes }
}

export const rawSqlite = (folder: string, count: number): RawPoints => {
  const db = new DatabaseSync(join(folder, 'raw.sqlite'))
  db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536')
  db.exec('CREATE TABLE point(id INTEGER PRIMARY KEY, stream INT, start INT, stop INT, made INT, place TEXT, properties TEXT)')
  db.exec('CREATE INDEX by_stream ON point(stream, start)')
  const insert = db.prepare('INSERT INTO point VALUES(?,?,?,?,?,?,?)')
  const read = db.prepare('SELECT * FROM point WHERE stream=? AND start>=? AND stop<=?')
  const all = db.prepare('SELECT * FROM point ORDER BY id')
  const days = db.prepare(
    `SELECT start / 86400000 AS day, key, count(*), sum(value), min(value), max(value) FROM point, json_each(properties)
      WHERE stream=? AND type IN ('integer', 'real') GROUP BY key, day ORDER BY key, day`,
  )
  const commit = (points: Iterable<Datapoint>): void => {
    db.exec('BEGIN')
    for (const { id, stream, startMs, endMs, createdMs, geometry, properties } of points)
      insert.run(id, stream, startMs, endMs, createdMs, JSON.stringify(geometry), JSON.stringify(properties))
    db.exec('COMMIT')
  }
  function* pieces(): Generator<readonly string[]> {
    let piece: string[] = []
    for (const { id, stream, start, stop, made, place, properties } of all.iterate()) {
      const { coordinates } = JSON.parse(String(place)) as { readonly coordinates: readonly number[] }
      piece.push(line([id, stream, start, stop, made], coordinates, JSON.parse(String(properties)) as Record<string, unknown>))
      if (piece.length < perPiece) continue
      yield piece
      piece = []
    }
    if (piece.length > 0) yield piece
  }
  return {
    name: 'node:sqlite directly',
    ingest: async size => {
      const begin = performance.now()
      for (let n = 0; n < size; n += perCommit) commit(Array.from({ length: perCommit }, (_, at) => pointAt(n + at, count)))
      return size / ((performance.now() - begin) / 1000)
    },
    addYear: async () => commit(yearPoints(count)),
    days: async () => days.all(yearStream).length,
    csv: () => written(pieces()),
    ask: async area => streamsIn(area).reduce((sum, stream) => sum + read.all(stream, area.fromMs, area.untilMs).length, 0),
    close: async () => db.close(),
  }
}

const table = `CREATE TABLE point(id bigint PRIMARY KEY, stream bigint, start bigint, stop bigint, made bigint, place geometry(Geometry,4326), properties jsonb);
  CREATE INDEX ON point(stream, start); CREATE INDEX ON point USING gist(place)`
const insertion = `INSERT INTO point SELECT id, stream, start, stop, made, ST_SetSRID(ST_GeomFromGeoJSON(place), 4326), properties
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::jsonb[]) AS p(id, stream, start, stop, made, place, properties)`
const question = `SELECT id, stream, start, stop, ST_AsGeoJSON(place), properties FROM point
  WHERE stream = ANY($1) AND start >= $2 AND stop <= $3 AND place && ST_MakeEnvelope($4, $5, $6, $7, 4326) ORDER BY start`

const daily = `SELECT start / 86400000 AS day, key, count(*), sum(value::float8), min(value::float8), max(value::float8)
  FROM point, jsonb_each(properties) AS e(key, value) WHERE stream = $1 AND jsonb_typeof(value) = 'number' GROUP BY key, day ORDER BY key, day`
const everything = 'SELECT id, stream, start, stop, made, ST_X(place), ST_Y(place), properties FROM point ORDER BY id'

/** The lines of a cursor; the next chunk is fetched while the current one is formatted. */
async function* linesOf(pool: pg.Pool): AsyncGenerator<readonly string[]> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN READ ONLY')
    await client.query(`DECLARE everything NO SCROLL CURSOR FOR ${everything}`)
    const fetch = () => client.query<unknown[]>({ text: `FETCH ${perPiece} FROM everything`, rowMode: 'array' })
    let ahead = fetch()
    for (let rows = (await ahead).rows; rows.length > 0; rows = (await ahead).rows) {
      ahead = fetch()
      yield rows.map(row => line(row, row.slice(5, 7), row[7] as Record<string, unknown>))
    }
    await client.query('ROLLBACK')
  } finally {
    client.release()
  }
}

/** Uses eight connections for inserts, like the loggers of the workload. */
export const rawPg = async (url: string, count: number): Promise<RawPoints> => {
  const schema = `bench_${randomBytes(6).toString('hex')}`
  const pool = new pg.Pool({ connectionString: url, max: 8, options: `-c search_path=${schema},public` })
  await pool.query(`CREATE SCHEMA ${schema}`)
  await pool.query(table)
  const insert = async (points: readonly Datapoint[]): Promise<void> => {
    const columns = [
      points.map(({ id }) => id),
      points.map(({ stream }) => stream),
      points.map(({ startMs }) => startMs),
      points.map(({ endMs }) => endMs),
      points.map(({ createdMs }) => createdMs),
      points.map(({ geometry }) => JSON.stringify(geometry)),
      points.map(({ properties }) => JSON.stringify(properties)),
    ]
    await pool.query({ name: 'insert', text: insertion, values: columns })
  }
  return {
    name: 'pg directly',
    ingest: async size => {
      const begin = performance.now()
      let next = 0
      const worker = async (): Promise<void> => {
        while (next < size) {
          const first = next
          next += perCommit
          await insert(Array.from({ length: perCommit }, (_, at) => pointAt(first + at, count)))
        }
      }
      await Promise.all(Array.from({ length: 8 }, worker))
      await pool.query('ANALYZE point')
      return size / ((performance.now() - begin) / 1000)
    },
    ask: async area => {
      const values = [streamsIn(area), area.fromMs, area.untilMs, ...area.box]
      return (await pool.query({ name: 'ask', text: question, values })).rows.length
    },
    addYear: async () => {
      const points = yearPoints(count)
      for (let n = 0; n < points.length; n += perCommit) await insert(points.slice(n, n + perCommit))
      await pool.query('ANALYZE point')
    },
    days: async () => (await pool.query({ name: 'days', text: daily, values: [yearStream], rowMode: 'array' })).rows.length,
    csv: () => written(linesOf(pool)),
    close: async () => {
      await pool.query(`DROP SCHEMA ${schema} CASCADE`)
      await pool.end()
    },
  }
}
