import type { Connection } from 'pounce/sdk/sqlite'
import { newerFormat } from './file-check.ts'

/** Maximum number of numeric properties with columns of their own; further ones are in `rest`. */
export const valueColumns = 8
const values = Array.from({ length: valueColumns }, (_, at) => `v${at}`)

/**
 * `points` is clustered by stream and time, so that a stream is read from adjacent pages. `span` is the time from start to end; null: no end.
 * `place` refers to a geometry that the point shares with others of its stream; a point with its own `geometry` is also in `moving`.
 * `shape` refers to the properties: the names of the numbers in v0, v1 …, and all other properties, unless those are not shared: then they are
 * in `rest`. `uses` and `names` count how often a stream has a shape, or a name in `rest`. In `streams`, `longest` is an upper bound of the
 * spans, and the box is that of the points' own geometries, too large while `is_stale`. `changes` increases with each change of the stream.
 */
const first = `
  CREATE TABLE points (
    stream INTEGER NOT NULL, start INTEGER NOT NULL, id INTEGER NOT NULL, span INTEGER, created INTEGER NOT NULL, place INTEGER,
    shape INTEGER NOT NULL, ${values.map(name => `${name} REAL`).join(', ')}, rest TEXT, geometry TEXT,
    PRIMARY KEY (stream, start, id)) WITHOUT ROWID;
  CREATE INDEX by_start ON points (start, id);
  CREATE TABLE ids (id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, start INTEGER NOT NULL);
  CREATE TABLE streams (
    stream INTEGER PRIMARY KEY, count INTEGER NOT NULL, first INTEGER NOT NULL, last_end INTEGER, longest INTEGER NOT NULL,
    moving INTEGER NOT NULL, west REAL, south REAL, east REAL, north REAL, is_stale INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX moving_streams ON streams (stream, count, west, south, east, north) WHERE moving > 0;
  CREATE TABLE places (
    id INTEGER PRIMARY KEY AUTOINCREMENT, stream INTEGER NOT NULL, key TEXT NOT NULL, geometry TEXT NOT NULL, is_point INTEGER NOT NULL,
    west REAL NOT NULL, south REAL NOT NULL, east REAL NOT NULL, north REAL NOT NULL, count INTEGER NOT NULL DEFAULT 0);
  CREATE UNIQUE INDEX places_of ON places (stream, key);
  CREATE TABLE shapes (id INTEGER PRIMARY KEY, names TEXT NOT NULL, rest TEXT NOT NULL, UNIQUE (names, rest));
  CREATE TABLE uses (stream INTEGER NOT NULL, shape INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (stream, shape)) WITHOUT ROWID;
  CREATE TABLE names (stream INTEGER NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (stream, name)) WITHOUT ROWID;
  CREATE VIRTUAL TABLE moving USING rtree (id, west, east, south, north, from_day, to_day, +stream, +start);
  INSERT INTO shapes VALUES (1, '[]', '');
`

/** Migrations from each file format to the next. */
export const migrations: readonly string[] = [first]

/**
 * Migrates a file to the current format, one transaction per step. Throws for a file written by a newer program,
 * which is not modified.
 */
export const migrate = (db: Connection, file: string, steps: readonly string[] = migrations): void => {
  const formOf = (): number => Number(db.get('PRAGMA user_version')?.[0])
  if (formOf() > steps.length) {
    throw new Error(newerFormat(file, formOf(), steps.length))
  }
  for (const [at, step] of steps.entries()) {
    if (formOf() > at) continue
    db.transaction(() => {
      // Another process may have migrated it meanwhile.
      if (formOf() > at) return
      db.exec(step)
      db.exec(`PRAGMA user_version=${at + 1}`)
    })
  }
}
