import type { Cell } from 'pounce/sdk/sqlite'
import { valueColumns } from './schema.ts'

/** A row of `points` as it is read: these cells, then as many numbers as the longest shape names. */
export type PointRow = readonly Cell[]

export const at = { stream: 0, start: 1, id: 2, span: 3, created: 4, place: 5, shape: 6, rest: 7, geometry: 8, values: 9 } as const

const fixed = 'stream, start, id, span, created, place, shape, rest, geometry'
const lists = Array.from({ length: valueColumns + 1 }, (_, count) =>
  [fixed, ...Array.from({ length: count }, (_, column) => `v${column}`)].join(', '),
)

/** The columns of a row with this many numbers. */
export const columnsWith = (values: number): string => lists[values] as string

export const startOf = (row: PointRow): number => row[at.start] as number
export const idOf = (row: PointRow): number => row[at.id] as number
export const streamOf = (row: PointRow): number => row[at.stream] as number

/** How many characters a row has beside its numbers. */
export const textLengthOf = (row: PointRow): number => {
  const [rest, geometry] = [row[at.rest], row[at.geometry]]
  return (typeof rest === 'string' ? rest.length : 0) + (typeof geometry === 'string' ? geometry.length : 0)
}
