import type { GeoArea, Geometry } from 'pounce/sdk/geo'
import { altitudeOf, type GeoBox, intersects } from 'pounce/sdk/geo'
import type { Connection } from 'pounce/sdk/sqlite'
import { type ReadShape, readShape } from './packed-points.ts'
import { boxesOf } from './plan.ts'

/** The places in an area, and the streams with points there. */
export interface ChosenPlaces {
  readonly places: ReadonlySet<number>
  readonly streams: ReadonlySet<number>
  readonly isAll: boolean
}

interface PlaceSelection {
  readonly places: Set<number>
  readonly streams: Set<number>
  /** How many places it has checked. */
  upTo: number
}

/** Places of fixed points in memory, some 100 bytes each, so that the streams of an area are found without a query. */
export class PlaceCache {
  readonly #db: Connection
  #ids: number[] = []
  #streams: number[] = []
  #isPoint: boolean[] = []
  #longitudes: number[] = []
  #latitudes: number[] = []
  /** The cost of comparing all of them with one position. */
  #costs: number[] = []
  #allStreams = new Set<number>()
  #choices = new Map<string, PlaceSelection>()
  #geometries = new Map<number, { readonly text: string; readonly altitude: number }>()
  #geometryLength = 0
  #epoch = 0

  constructor(db: Connection) {
    this.#db = db
  }

  /** Reads new places, up to a limit; all of them again when streams were removed meanwhile. True when complete. */
  refresh(epoch: number, limit = Number.MAX_SAFE_INTEGER): boolean {
    if (epoch !== this.#epoch) this.#forget(epoch)
    const sql = 'SELECT id, stream, is_point, west, south, octet_length(geometry) FROM places WHERE id > ? ORDER BY id LIMIT ?'
    const rows = this.#db.all(sql, this.#ids.at(-1) ?? 0, limit)
    for (const [id, stream, isPoint, west, south, length] of rows) {
      this.#ids.push(Number(id))
      this.#streams.push(Number(stream))
      this.#isPoint.push(isPoint === 1)
      this.#longitudes.push(Number(west))
      this.#latitudes.push(Number(south))
      this.#costs.push((this.#costs.at(-1) ?? 0) + (isPoint === 1 ? 1 : Number(length)))
      this.#allStreams.add(Number(stream))
    }
    return rows.length < limit
  }

  #forget(epoch: number): void {
    this.#epoch = epoch
    for (const list of [this.#ids, this.#streams, this.#isPoint, this.#longitudes, this.#latitudes, this.#costs]) list.length = 0
    this.#allStreams.clear()
    this.#choices.clear()
  }

  /** Every stream: the first point of each has a place. */
  get streams(): ReadonlySet<number> {
    return this.#allStreams
  }

  /** How many comparisons of positions are needed to evaluate these areas. */
  costOf(areas: readonly GeoArea[]): number {
    const upTo = this.#choices.get(JSON.stringify(areas))?.upTo ?? 0
    const positions = areas.reduce((sum, area) => sum + ('polygon' in area ? area.polygon.flat().length : 4), 0)
    return positions * ((this.#costs.at(-1) ?? 0) - (this.#costs[upTo - 1] ?? 0))
  }

  choose(areas: readonly GeoArea[]): ChosenPlaces {
    const key = JSON.stringify(areas)
    const choosing = this.#choices.get(key) ?? { places: new Set(), streams: new Set(), upTo: 0 }
    this.#choices.delete(key)
    this.#choices.set(key, choosing)
    const boxes = choosing.upTo < this.#ids.length ? areas.flatMap(boxesOf) : []
    for (; choosing.upTo < this.#ids.length; choosing.upTo += 1) {
      if (this.#isAside(choosing.upTo, boxes) || !areas.some(area => this.#touches(choosing.upTo, area))) continue
      choosing.places.add(this.#ids[choosing.upTo] as number)
      choosing.streams.add(this.#streams[choosing.upTo] as number)
    }
    if (this.#choices.size > 4) this.#choices.delete(this.#choices.keys().next().value as string)
    return { places: choosing.places, streams: choosing.streams, isAll: choosing.places.size === this.#ids.length }
  }

  /** True for most places outside an area, without creating an object for each of them. */
  #isAside(index: number, boxes: readonly GeoBox[]): boolean {
    if (!this.#isPoint[index]) return false
    const longitude = this.#longitudes[index] as number
    const latitude = this.#latitudes[index] as number
    for (let at = 0; at < boxes.length; at += 1) {
      const box = boxes[at] as GeoBox
      if (longitude >= box[0] && longitude <= box[2] && latitude >= box[1] && latitude <= box[3]) return false
    }
    return true
  }

  #touches(index: number, area: GeoArea): boolean {
    const place = [this.#longitudes[index] as number, this.#latitudes[index] as number]
    if (this.#isPoint[index]) return intersects({ type: 'Point', coordinates: place }, area)
    const text = this.geometry(this.#ids[index] as number)?.text
    return text !== undefined && intersects(JSON.parse(text) as Geometry, area)
  }

  /** Undefined when it was deleted together with its points. */
  geometry(place: number): { readonly text: string; readonly altitude: number } | undefined {
    const known = this.#geometries.get(place)
    if (known) return known
    const text = this.#db.get('SELECT geometry FROM places WHERE id = ?', place)?.[0]
    if (typeof text !== 'string') return undefined
    this.#geometryLength += text.length
    if (this.#geometryLength > 4_000_000) {
      this.#geometries.clear()
      this.#geometryLength = text.length
    }
    const geometry = { text, altitude: altitudeOf(JSON.parse(text) as Geometry) }
    this.#geometries.set(place, geometry)
    return geometry
  }
}

/** Shapes by number. They are few, and never changed or deleted. */
export class ShapeCache {
  readonly #db: Connection
  readonly #shapes: ReadShape[] = []
  #maxNames = 0

  constructor(db: Connection) {
    this.#db = db
  }

  /** Reads new shapes. To be called in the transaction that reads points. */
  refresh(): void {
    for (const [id, names, rest] of this.#db.all('SELECT id, names, rest FROM shapes WHERE id >= ? ORDER BY id', this.#shapes.length)) {
      const shape = readShape({ names: JSON.parse(String(names)) as string[], rest: String(rest) })
      this.#shapes[Number(id)] = shape
      this.#maxNames = Math.max(this.#maxNames, shape.names.length)
    }
  }

  get(id: number): ReadShape {
    return this.#shapes[id] as ReadShape
  }

  /** Maximum number of numeric columns of any point. */
  get maxNames(): number {
    return this.#maxNames
  }
}
