import { Invalid, type Json, s } from 'pounce/sdk'
import type { Geometry } from 'pounce/sdk/geo'
import type { Settings } from '../config.ts'
import { branchOf, coordinateOf, csvCell, PropertyColumns, restOf, shortHeaders, valueAt } from '../datapoints/csv-table.ts'

/** The summary of a sensor's datapoints: its first datapoint, with aggregates among the properties. */
export interface FigureRow {
  readonly id: number
  readonly created: string
  readonly start_time: string
  readonly end_time: string
  readonly last_time?: string
  readonly properties: Readonly<Record<string, Json>>
  readonly type: 'Feature'
  readonly geometry: Geometry
  readonly stream_id: readonly string[]
  readonly sensor_id: string
  readonly sensor_name: string
}

/** The same for the API documentation. */
export const FigureRowJson = s.model(
  'DatapointStatistics',
  s.Object({
    id: s.Integer({ description: 'Id of the first datapoint' }),
    created: s.String(),
    start_time: s.String({ description: 'Start time of the first datapoint' }),
    end_time: s.String({ description: 'End time of the last datapoint, or its start time if it has none' }),
    last_time: s.Optional(s.String({ description: 'Label of the latest bin, such as `2017 spring`' })),
    properties: s.Record(s.String(), s.Unknown()),
    type: s.Literal('Feature'),
    geometry: s.Record(s.String(), s.Unknown()),
    stream_id: s.Array(s.String()),
    sensor_id: s.String(),
    sensor_name: s.String(),
  }),
)

/** The columns are those of all rows, so all rows are read before the first one is sent. */
const mostRows = 10_000

/** Columns of members that are not properties. */
const fixed = {
  before: ['id', 'created', 'start_time', 'end_time', 'last_time'],
  places: ['longitude', 'latitude', 'altitude'],
  after: ['stream_id', 'sensor_id', 'sensor_name'],
} as const

/** The summaries of sensors as CSV, one line each. Throws `Invalid` for more than 10,000 sensors. */
export const figureTable = async (
  rows: AsyncIterable<FigureRow>,
  { csvSeparator, csvHidePrefix }: Pick<Settings, 'csvSeparator' | 'csvHidePrefix'>,
): Promise<AsyncIterable<string>> => {
  const columns = new PropertyColumns()
  const all: FigureRow[] = []
  for await (const row of rows) {
    if (all.push(row) > mostRows) throw new Invalid(`csv returns at most ${mostRows} sensors: filter by sensors, sources or an area`)
    columns.see(row.properties)
  }
  const before = fixed.before.filter(name => name !== 'last_time' || all.some(row => row.last_time !== undefined))
  const shown = columns.all()
  const cells = shown.map(({ path, isRest }) => ({ path, branch: isRest ? branchOf(columns.root, path) : undefined }))
  const others = [...before, ...fixed.places, ...fixed.after]
  const names = csvHidePrefix
    ? shortHeaders(shown, csvSeparator, others)
    : shown.map(({ path }) => ['properties', ...path].join(csvSeparator))
  const lineOf = (row: FigureRow): string =>
    [
      ...before.map(name => csvCell(row[name])),
      ...cells.map(({ path, branch }) => {
        const value = valueAt(row.properties, path)
        return csvCell(branch ? restOf(value, branch) : value)
      }),
      ...fixed.places.map((_, at) => coordinateOf(row.geometry, at)),
      csvCell(row.stream_id.length === 1 ? row.stream_id[0] : row.stream_id),
      csvCell(row.sensor_id),
      csvCell(row.sensor_name),
    ].join()
  const head = [...before, ...names, ...fixed.places, ...fixed.after].map(csvCell).join()
  return textOf(head, all, lineOf)
}

async function* textOf(head: string, rows: readonly FigureRow[], lineOf: (row: FigureRow) => string): AsyncGenerator<string> {
  yield `${head}\r\n`
  for (const row of rows) yield `${lineOf(row)}\r\n`
}
