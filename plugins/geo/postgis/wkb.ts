import type { Geometry, GeoPosition } from 'pounce/sdk/geo'

/** Extended well-known binary as PostGIS reads and writes it: WGS 84, little endian, unmodified doubles. */
const types = ['Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon', 'GeometryCollection'] as const
const zFlag = 0x80000000
const sridFlag = 0x20000000
const srid = 4326

type Rings = readonly (readonly GeoPosition[])[]

const hasAltitude = (geometry: Geometry): boolean => {
  if (geometry.type === 'GeometryCollection') return geometry.geometries.some(hasAltitude)
  let first: unknown = geometry.coordinates
  while (Array.isArray(first) && Array.isArray(first[0])) first = first[0]
  return Array.isArray(first) && first.length > 2
}

/** The simple geometries that a multi-geometry consists of. */
const membersOf = (geometry: Geometry): readonly Geometry[] => {
  switch (geometry.type) {
    case 'MultiPoint':
      return geometry.coordinates.map(coordinates => ({ type: 'Point', coordinates }))
    case 'MultiLineString':
      return geometry.coordinates.map(coordinates => ({ type: 'LineString', coordinates }))
    case 'MultiPolygon':
      return geometry.coordinates.map(coordinates => ({ type: 'Polygon', coordinates }))
    case 'GeometryCollection':
      return geometry.geometries
    default:
      return []
  }
}

class Writer {
  #bytes = Buffer.allocUnsafe(64)
  #at = 0

  geometry(geometry: Geometry, hasZ: boolean, isOuter: boolean): this {
    this.#grow(9)
    this.#at = this.#bytes.writeUInt8(1, this.#at)
    const flags = (hasZ ? zFlag : 0) + (isOuter ? sridFlag : 0)
    this.#number(types.indexOf(geometry.type) + 1 + flags)
    if (isOuter) this.#number(srid)
    if (geometry.type === 'Point') this.#position(geometry.coordinates, hasZ)
    else if (geometry.type === 'LineString') this.#line(geometry.coordinates, hasZ)
    else if (geometry.type === 'Polygon') this.#rings(geometry.coordinates, hasZ)
    else {
      const members = membersOf(geometry)
      this.#number(members.length)
      for (const member of members) this.geometry(member, hasZ, false)
    }
    return this
  }

  get hex(): string {
    return this.#bytes.toString('hex', 0, this.#at)
  }

  #rings(rings: Rings, hasZ: boolean): void {
    this.#number(rings.length)
    for (const ring of rings) this.#line(ring, hasZ)
  }

  #line(positions: readonly GeoPosition[], hasZ: boolean): void {
    this.#number(positions.length)
    for (const position of positions) this.#position(position, hasZ)
  }

  #position([longitude = 0, latitude = 0, altitude = 0]: GeoPosition, hasZ: boolean): void {
    this.#grow(24)
    this.#at = this.#bytes.writeDoubleLE(longitude, this.#at)
    this.#at = this.#bytes.writeDoubleLE(latitude, this.#at)
    if (hasZ) this.#at = this.#bytes.writeDoubleLE(altitude, this.#at)
  }

  #number(value: number): void {
    this.#grow(4)
    this.#at = this.#bytes.writeUInt32LE(value, this.#at)
  }

  #grow(more: number): void {
    if (this.#at + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(this.#bytes.length * 2)
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(hex: string) {
    this.#bytes = Buffer.from(hex, 'hex')
  }

  geometry(): Geometry {
    this.#at += 1
    const header = this.#number()
    const hasZ = (header & zFlag) !== 0
    if ((header & sridFlag) !== 0) this.#at += 4
    const type = types[(header & 0xff) - 1]
    switch (type) {
      case 'Point':
        return { type, coordinates: this.#position(hasZ) }
      case 'LineString':
        return { type, coordinates: this.#line(hasZ) }
      case 'Polygon':
        return { type, coordinates: this.#many(() => this.#line(hasZ)) }
      case 'GeometryCollection':
        return { type, geometries: this.#many(() => this.geometry()) }
      case 'MultiPoint':
      case 'MultiLineString':
      case 'MultiPolygon':
        return { type, coordinates: this.#many(() => this.#coordinates()) } as Geometry
      default:
        throw new Error(`A geometry in the database has the type ${header & 0xff}, which GeoJSON does not support`)
    }
  }

  #coordinates(): unknown {
    const member = this.geometry()
    return 'coordinates' in member ? member.coordinates : undefined
  }

  #line(hasZ: boolean): readonly GeoPosition[] {
    return this.#many(() => this.#position(hasZ))
  }

  #many<T>(read: () => T): readonly T[] {
    return Array.from({ length: this.#number() }, read)
  }

  #position(hasZ: boolean): GeoPosition {
    const at = this.#at
    this.#at += hasZ ? 24 : 16
    const [longitude, latitude] = [this.#bytes.readDoubleLE(at), this.#bytes.readDoubleLE(at + 8)]
    return hasZ ? [longitude, latitude, this.#bytes.readDoubleLE(at + 16)] : [longitude, latitude]
  }

  #number(): number {
    const value = this.#bytes.readUInt32LE(this.#at)
    this.#at += 4
    return value
  }
}

/** A valid geometry as hexadecimal text that PostgreSQL casts to `geometry`. */
export const toWkb = (geometry: Geometry): string => new Writer().geometry(geometry, hasAltitude(geometry), true).hex

/** The input of `toWkb`, restored exactly. */
export const fromWkb = (hex: string): Geometry => new Reader(hex).geometry()
