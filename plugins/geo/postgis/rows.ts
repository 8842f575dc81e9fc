import type { Datapoint } from 'pounce/sdk'
import type { Row } from './server.ts'
import { fromWkb } from './wkb.ts'

/** Columns of a point, in the order that `pointOf` reads. */
export const pointColumns = 'id, stream, start_ms, end_ms, created_ms, shape, properties'

/** The point in a row of `pointColumns`. */
export const pointOf = ([id, stream, startMs, endMs, createdMs, shape, properties]: Row): Datapoint => ({
  id: Number(id),
  stream: Number(stream),
  startMs: Number(startMs),
  endMs: endMs === null || endMs === undefined ? null : Number(endMs),
  createdMs: Number(createdMs),
  geometry: fromWkb(shape ?? ''),
  properties: JSON.parse(properties ?? 'null') as Datapoint['properties'],
})
