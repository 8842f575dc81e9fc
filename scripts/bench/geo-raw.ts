import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { type BoxAndTime, placeOf, pointAt, stations } from './geo-points.ts'

/** The same readings written and read by hand: rows of one table, an index on stream and time, durable commits. */
export interface RawPoints {
  readonly name: string
  /** Inserts so many, in batches of 500; resolves to readings a second. */
  ingest(count: number): Promise<number>
  /** How many readings lie in a box and a span of time; streams are chosen by their place first. */
  ask(area: BoxAndTime): Promise<number>
  close(): Promise<void>
}

const perCommit = 500
const streamsIn = ({ box: [west, south, east, north] }: BoxAndTime): readonly number[] =>
  Array.from({ length: stations }, (_, n) => n).flatMap(n => {
    const [longitude, latitude] = placeOf(n)
    return longitude >= west && longitude <= east && latitude >= south && latitude <= north ? [n + 1] : []
  })

export const rawSqlite = (folder: string, count: number): RawPoints => {
  const db = new DatabaseSync(join(folder, 'raw.sqlite'))
  db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536')
  db.exec('CREATE TABLE point(id INTEGER PRIMARY KEY, stream INT, start INT, stop INT, made INT, place TEXT, properties TEXT)')
  db.exec('CREATE INDEX by_stream ON point(stream, start)')
  const insert = db.prepare('INSERT INTO point VALUES(?,?,?,?,?,?,?)')
  const read = db.prepare('SELECT * FROM point WHERE stream=? AND start>=? AND stop<=?')
  return {
    name: 'node:sqlite by hand',
    ingest: async size => {
      const begin = performance.now()
      for (let n = 0; n < size; n += perCommit) {
        db.exec('BEGIN')
        for (let at = n; at < n + perCommit; at++) {
          const { id, stream, startMs, endMs, createdMs, geometry, properties } = pointAt(at, count)
          insert.run(id, stream, startMs, endMs, createdMs, JSON.stringify(geometry), JSON.stringify(properties))
        }
        db.exec('COMMIT')
      }
      return size / ((performance.now() - begin) / 1000)
    },
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

/** Eight connections insert at once, as the loggers of the workload do. */
export const rawPg = async (url: string, count: number): Promise<RawPoints> => {
  const schema = `bench_${randomBytes(6).toString('hex')}`
  const pool = new pg.Pool({ connectionString: url, max: 8, options: `-c search_path=${schema},public` })
  await pool.query(`CREATE SCHEMA ${schema}`)
  await pool.query(table)
  const insert = async (first: number): Promise<void> => {
    const points = Array.from({ length: perCommit }, (_, at) => pointAt(first + at, count))
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
    name: 'pg by hand',
    ingest: async size => {
      const begin = performance.now()
      let next = 0
      const worker = async (): Promise<void> => {
        while (next < size) {
          const first = next
          next += perCommit
          await insert(first)
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
    close: async () => {
      await pool.query(`DROP SCHEMA ${schema} CASCADE`)
      await pool.end()
    },
  }
}
