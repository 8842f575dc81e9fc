import type { Json, SensorRecord, Stored, StreamRecord, Update } from 'pounce/sdk'
import { cellsOf } from './cells.ts'

/** A stored sensor. */
export type Sensor = SensorRecord & Stored
/** A stored stream. */
export type Stream = StreamRecord & Stored

/** What somebody says of a sensor or stream: its place and properties. */
export interface Described {
  readonly geometry: SensorRecord['geometry']
  readonly properties: SensorRecord['properties']
}

/** The text at `properties.type.id`, which names a sensor's source. */
export const sourceOf = ({ type }: { readonly [key: string]: Json }): string | null => {
  if (typeof type !== 'object' || type === null || Array.isArray(type)) return null
  const { id } = type as { readonly [key: string]: Json }
  return typeof id === 'string' && id !== '' ? id.slice(0, 500) : null
}

/** A change with what follows from a new geometry or new properties. */
export const withDerived = (update: Update, { hasSource }: { readonly hasSource: boolean }): Update => {
  const { geometry, properties } = (update.set ?? {}) as Partial<Described>
  if (geometry === undefined && properties === undefined) return update
  const cells = geometry === undefined ? {} : { cells: cellsOf(geometry) }
  const source = properties === undefined || !hasSource ? {} : { source: sourceOf(properties) }
  return { ...update, set: { ...update.set, ...cells, ...source } }
}
