import type { GeoBox } from 'pounce/sdk/geo'
import type { Connection } from 'pounce/sdk/sqlite'

/** What a transaction adds to the statistics of a stream. */
interface StatisticsDelta {
  count: number
  first: number
  lastEnd: number | null
  longest: number
  moving: number
  box: GeoBox | undefined
}

interface Counted<Key> {
  readonly stream: number
  readonly key: Key
  by: number
}

/** The later of two ends; null when both are null. */
export const later = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)

const joined = (one: GeoBox | undefined, other: GeoBox): GeoBox =>
  one ? [Math.min(one[0], other[0]), Math.min(one[1], other[1]), Math.max(one[2], other[2]), Math.max(one[3], other[3])] : other

/** Sums by stream and key. */
class StreamSums<Key> {
  readonly #streams = new Map<number, Map<Key, Counted<Key>>>()

  add(stream: number, key: Key, by: number): void {
    let keys = this.#streams.get(stream)
    if (keys === undefined) {
      keys = new Map()
      this.#streams.set(stream, keys)
    }
    const known = keys.get(key)
    if (known) known.by += by
    else keys.set(key, { stream, key, by })
  }

  *all(): Iterable<Counted<Key>> {
    for (const keys of this.#streams.values()) yield* keys.values()
  }
}

/** Collects the changes of a transaction to its streams, so that each row about a stream is written once. */
export class StreamChanges {
  readonly #gains = new Map<number, StatisticsDelta>()
  readonly #places = new StreamSums<number>()
  readonly #shapes = new StreamSums<number>()
  readonly #names = new StreamSums<string>()

  came(stream: number, start: number, span: number | null, box: GeoBox | undefined): void {
    let gain = this.#gains.get(stream)
    if (gain === undefined) {
      gain = { count: 0, first: start, lastEnd: null, longest: 0, moving: 0, box: undefined }
      this.#gains.set(stream, gain)
    }
    gain.count += 1
    gain.first = Math.min(gain.first, start)
    if (span !== null) {
      gain.lastEnd = later(gain.lastEnd, start + span)
      gain.longest = Math.max(gain.longest, span)
    }
    if (!box) return
    gain.moving += 1
    gain.box = joined(gain.box, box)
  }

  /** Counts a point at a shared place: 1 when added, -1 when removed. */
  place(stream: number, place: number, by: 1 | -1): void {
    this.#places.add(stream, place, by)
  }

  /** Counts a shape, and the names in `rest`. */
  properties(stream: number, shape: number, rest: string | null, by: 1 | -1): void {
    this.#shapes.add(stream, shape, by)
    if (rest !== null) for (const name of Object.keys(JSON.parse(rest) as object)) this.#names.add(stream, name, by)
  }

  write(db: Connection): void {
    for (const [stream, { count, first, lastEnd, longest, moving, box }] of this.#gains) {
      db.run(
        `INSERT INTO streams (stream, count, first, last_end, longest, moving, west, south, east, north) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (stream) DO UPDATE SET count = count + excluded.count, first = min(first, excluded.first),
           last_end = max(ifnull(last_end, excluded.last_end), ifnull(excluded.last_end, last_end)), longest = max(longest, excluded.longest),
           moving = moving + excluded.moving, changes = changes + 1,
           west = min(ifnull(west, excluded.west), ifnull(excluded.west, west)), south = min(ifnull(south, excluded.south), ifnull(excluded.south, south)),
           east = max(ifnull(east, excluded.east), ifnull(excluded.east, east)), north = max(ifnull(north, excluded.north), ifnull(excluded.north, north))`,
        ...[stream, count, first, lastEnd, longest, moving, ...(box ?? [null, null, null, null])],
      )
    }
    for (const { key, by } of this.#places.all()) db.run('UPDATE places SET count = count + ? WHERE id = ?', by, key)
    const counted = 'ON CONFLICT DO UPDATE SET count = count + excluded.count'
    for (const { stream, key, by } of this.#shapes.all()) db.run(`INSERT INTO uses VALUES (?, ?, ?) ${counted}`, stream, key, by)
    for (const { stream, key, by } of this.#names.all()) db.run(`INSERT INTO names VALUES (?, ?, ?) ${counted}`, stream, key, by)
  }
}
