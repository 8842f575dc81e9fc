import { Invalid, type Json, s } from 'pounce/sdk'
import type { Geometry } from 'pounce/sdk/geo'
import { type CsvSettings, cellOf, coordinateOf, csvCell, membersShown, PropertyColumns, propertiesShown } from '../datapoints/csv-table.ts'

/** The summary of a sensor's datapoints: its first datapoint, with aggregates among the properties. */
export interface AverageRow {
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
export const AverageRowJson = s.model(
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
const maxRows = 10_000

/** A column of a member that is not a property: its path in JSON, its header and its cell. */
interface Member {
  readonly path: string
  readonly header: string
  readonly print: (row: AverageRow) => string
}

const textMember = (name: 'created' | 'start_time' | 'end_time' | 'last_time' | 'sensor_id' | 'sensor_name'): Member => ({
  path: name,
  header: name,
  print: row => csvCell(row[name]),
})

const coordinate = (header: string, at: number): Member => ({
  path: 'geometry|coordinates',
  header,
  print: ({ geometry }) => coordinateOf(geometry, at),
})

const lastTime = textMember('last_time')

const membersBefore: readonly Member[] = [
  { path: 'id', header: 'id', print: ({ id }) => csvCell(id) },
  textMember('created'),
  textMember('start_time'),
  textMember('end_time'),
  lastTime,
]

const membersAfter: readonly Member[] = [
  coordinate('longitude', 0),
  coordinate('latitude', 1),
  coordinate('altitude', 2),
  { path: 'stream_id', header: 'stream_id', print: ({ stream_id: ids }) => csvCell(ids.length === 1 ? ids[0] : ids) },
  textMember('sensor_id'),
  textMember('sensor_name'),
]

/** The summaries of sensors as CSV, one line each. Throws `Invalid` for more than 10,000 sensors. */
export const averagesTable = async (rows: AsyncIterable<AverageRow>, settings: CsvSettings): Promise<AsyncIterable<string>> => {
  const columns = new PropertyColumns()
  const all: AverageRow[] = []
  for await (const row of rows) {
    if (all.push(row) > maxRows) throw new Invalid(`csv returns at most ${maxRows} sensors: filter by sensors, sources or an area`)
    columns.see(row.properties)
  }
  const hasLastTime = all.some(row => row.last_time !== undefined)
  const before = membersShown(membersBefore, settings).filter(member => hasLastTime || member !== lastTime)
  const after = membersShown(membersAfter, settings)
  const others = [...before, ...after].map(({ header }) => header)
  const { shown, headers } = propertiesShown(columns, settings, others)
  const cells = shown.map(column => cellOf(columns.root, column))
  const lineOf = (row: AverageRow): string =>
    [
      ...before.map(({ print }) => print(row)),
      ...cells.map(cell => csvCell(cell(row.properties))),
      ...after.map(({ print }) => print(row)),
    ].join()
  const head = [...before.map(({ header }) => header), ...headers, ...after.map(({ header }) => header)].map(csvCell).join()
  return textOf(head, all, lineOf)
}

async function* textOf(head: string, rows: readonly AverageRow[], lineOf: (row: AverageRow) => string): AsyncGenerator<string> {
  yield `${head}\r\n`
  for (const row of rows) yield `${lineOf(row)}\r\n`
}
