import type { Datapoint, Geometry } from 'pounce/sdk'
import type { Row } from './postgis-connection.ts'
import { fromWkb } from './wkb.ts'

/** Columns of a point that its text is made of. */
export const pointColumns = 'id, stream, start_ms, end_ms, created_ms, shape, properties'

/**
 * A point as one text, which `PointReader` reads, out of the columns of `table`: of a million rows, taking each column by itself would cost the
 * driver more than all else.
 */
export const pointText = (table: string): string => {
  const [id, stream, start, end, created, shape, properties] = pointColumns.split(', ').map(column => `${table}.${column}`)
  return `concat('[', ${id}, ',', ${stream}, ',', ${start}, ',', coalesce(${end}::text, 'null'), ',', ${created}, ',"', ${shape}, '",', ${properties}, ']')`
}

type Parts = readonly [
  id: number,
  stream: number,
  startMs: number,
  endMs: number | null,
  createdMs: number,
  shape: string,
  properties: Datapoint['properties'],
]

/** Longer texts of shapes are not kept, and no more than so many. */
const most = { characters: 200, shapes: 10_000 }

/** Reads rows of `pointText`. Points at one place share its geometry. */
export class PointReader {
  readonly #shapes = new Map<string, Geometry>()

  read([text]: Row): Datapoint {
    const [id, stream, startMs, endMs, createdMs, shape, properties] = JSON.parse(text ?? '') as Parts
    return { id, stream, startMs, endMs, createdMs, geometry: this.#geometry(shape), properties }
  }

  #geometry(shape: string): Geometry {
    const known = this.#shapes.get(shape)
    if (known) return known
    const geometry = fromWkb(shape)
    if (this.#shapes.size >= most.shapes) this.#shapes.clear()
    if (shape.length <= most.characters) this.#shapes.set(shape, geometry)
    return geometry
  }
}
