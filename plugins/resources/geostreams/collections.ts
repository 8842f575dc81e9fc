import { collection, type Json, type Stored, s, type Update } from 'pounce/sdk'
import type { SensorRecord, StreamRecord } from 'pounce/sdk/geo'
import { cellsOf } from './cells.ts'

/** `byAge` and `ageBy…` are sorted by id, which is the order of creation. */
const lists = {
  byAge: { on: ['state'] },
  byName: { on: ['state', 'name'] },
  byAuthor: { on: ['state', 'author', 'name'] },
  bySpace: { on: ['state', 'spaces', 'name'], array: 'spaces' },
  byCell: { on: ['state', 'cells', 'name'], array: 'cells' },
  ageByAuthor: { on: ['state', 'author'] },
  ageBySpace: { on: ['state', 'spaces'], array: 'spaces' },
  ageByCell: { on: ['state', 'cells'], array: 'cells' },
} as const

/** Sensors; ids from `sensorIdOf`. */
export const sensors = collection<SensorRecord>()('sensors', { ...lists, bySource: { on: ['state', 'source', 'name'] } })

/** Streams; ids from `streamIdOf`. */
export const streams = collection<StreamRecord>()('streams', {
  ...lists,
  bySensor: { on: ['state', 'sensor', 'name'] },
  ageBySensor: { on: ['state', 'sensor'] },
})

/** The next number of each kind; the id is the name of the kind. */
export interface NumbersRecord {
  readonly next: number
}

export const geoNumbers = collection<NumbersRecord>()('geo-numbers')

/** A stored sensor. */
export type Sensor = SensorRecord & Stored

/** A stored stream. */
export type Stream = StreamRecord & Stored

/** The client-supplied geometry and properties of a sensor or stream. */
export interface GeoDescription {
  readonly geometry: SensorRecord['geometry']
  readonly properties: SensorRecord['properties']
}

/** The text or number at `properties.type.id`, which names a sensor's source. */
export const sourceOf = ({ type }: { readonly [key: string]: Json }): string | null => {
  if (typeof type !== 'object' || type === null || Array.isArray(type)) return null
  const { id } = type as { readonly [key: string]: Json }
  const source = typeof id === 'string' || typeof id === 'number' ? String(id) : ''
  return source === '' ? null : source.slice(0, 500)
}

/** A change with the fields derived from a new geometry or new properties. */
export const withDerived = (update: Update, { hasSource }: { readonly hasSource: boolean }): Update => {
  const { geometry, properties } = (update.set ?? {}) as Partial<GeoDescription>
  if (geometry === undefined && properties === undefined) return update
  const cells = geometry === undefined ? {} : { cells: cellsOf(geometry) }
  const source = properties === undefined || !hasSource ? {} : { source: sourceOf(properties) }
  return { ...update, set: { ...update.set, ...cells, ...source } }
}

const saying = (status: string) => s.Unsafe<{ readonly status: string }>(s.Object({ status: s.Literal(status) }))

/** The response of deletions. */
export const ok = { 200: saying('ok') }

/** The response of statistics updates. */
export const updated = { 200: saying('updated') }
