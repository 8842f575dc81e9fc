import { hash } from 'node:crypto'
import type { Geometry } from 'pounce/sdk'
import { boxAround, type GeoBox, positionsOf } from 'pounce/sdk/geo'
import type { Connection } from 'pounce/sdk/sqlite'

/** Streams whose places are remembered. */
const mostStreams = 20_000

/** A place that a stream has, or the box of a geometry that stands with its point alone. */
export type Placed = { readonly place: number } | { readonly place: undefined; readonly box: GeoBox }

const keyOf = (geometry: string): string => (geometry.length <= 64 ? geometry : hash('sha256', geometry, 'base64'))

/** Numbers of places for the one connection that writes. Forget it when a transaction is undone. */
export class PlaceIds {
  readonly #db: Connection
  readonly #mostPlaces: number
  readonly #streams = new Map<number, Map<string, number>>()

  /** Whatever moves on beyond `mostPlaces` has geometries of its own. */
  constructor(db: Connection, mostPlaces: number) {
    this.#db = db
    this.#mostPlaces = mostPlaces
  }

  place(stream: number, text: string): Placed {
    const known = this.#of(stream)
    const key = keyOf(text)
    const place = known.get(key)
    if (place !== undefined) return { place }
    const geometry = JSON.parse(text) as Geometry
    const box = boxAround(positionsOf(geometry))
    if (known.size >= this.#mostPlaces) return { place: undefined, box }
    const id = this.#db.insert(
      'INSERT INTO places (stream, key, geometry, is_point, west, south, east, north) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      ...[stream, key, text, Number(geometry.type === 'Point'), ...box],
    )
    known.set(key, id)
    return { place: id }
  }

  forget(stream: number): void {
    this.#streams.delete(stream)
  }

  #of(stream: number): Map<string, number> {
    let known = this.#streams.get(stream)
    if (known === undefined) {
      if (this.#streams.size >= mostStreams) this.#streams.clear()
      const rows = this.#db.all('SELECT key, id FROM places WHERE stream = ?', stream)
      known = new Map(rows.map(([key, id]) => [String(key), Number(id)]))
      this.#streams.set(stream, known)
    }
    return known
  }
}
