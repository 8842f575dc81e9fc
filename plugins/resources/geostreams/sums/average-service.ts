import { type Caller, type GeoFilter, GeoStore, type Json, wire } from 'pounce/sdk'
import { printTime } from '../datapoints/print-time.ts'
import { type Aggregate, figuresOf, meanOf } from './bin-entry.ts'
import type { FigureRow } from './figure-row.ts'
import { SelectedSensors, type SensorPart } from './selected-sensors.ts'
import { type SensorFigures, sensorFigures } from './sensor-figures.ts'
import { type TrendQuestion, trendOf } from './trends.ts'

/** What averages are taken of, and what is told besides. */
export interface AverageQuestion {
  readonly filter: Omit<GeoFilter, 'streams'>
  readonly shown?: ReadonlySet<string>
  readonly aggregates: readonly Aggregate[]
}

type Chosen = readonly number[] | undefined
type Members = Readonly<Record<string, Json>>

/** Sums up all readings of each sensor: averages, and how they changed. */
export class AverageService {
  #sensors: SelectedSensors
  #store: GeoStore

  constructor(sensors: SelectedSensors, store: GeoStore) {
    this.#sensors = sensors
    this.#store = store
  }

  /** A datapoint for each sensor, by name, with the averages of its readings in the place of their numbers. */
  async *averages(
    caller: Caller,
    chosen: Chosen,
    { filter, shown, aggregates }: AverageQuestion,
  ): AsyncGenerator<FigureRow, void, undefined> {
    for await (const part of this.#sensors.of(caller, chosen)) {
      const figures = await sensorFigures(this.#store, part, filter, shown)
      if (!figures) continue
      const numbers = [...figures.numbers].flatMap(([name, sums]) => {
        const more = Object.entries(figuresOf(sums, aggregates)).map(([figure, value]) => [`${name}_${figure}`, value] as const)
        return [[name, meanOf(sums)] as const, ...more]
      })
      yield rowOf(part, figures, Object.fromEntries(numbers))
    }
  }

  /** The same with what averages were within a window and on the whole. */
  async *trends(caller: Caller, chosen: Chosen, question: TrendQuestion): AsyncGenerator<FigureRow, void, undefined> {
    for await (const part of this.#sensors.of(caller, chosen)) {
      const figures = await sensorFigures(this.#store, part, question.filter, question.shown)
      if (!figures) continue
      const { properties, lastTime } = await trendOf(this.#store, part, figures, question)
      yield rowOf(part, figures, properties, lastTime === undefined ? {} : { last_time: lastTime })
    }
  }
}
wire(AverageService, SelectedSensors, GeoStore)
/** The first reading, with the time, streams and properties of all. */
const rowOf = (
  { id, name }: SensorPart,
  { first, endMs, streams, others }: SensorFigures,
  numbers: Members,
  more: Pick<FigureRow, 'last_time'> = {},
): FigureRow => ({
  id: first.id,
  created: printTime(first.createdMs),
  start_time: printTime(first.startMs),
  end_time: printTime(endMs),
  ...more,
  properties: { ...Object.fromEntries(others), ...numbers },
  type: 'Feature',
  geometry: first.geometry,
  stream_id: streams.map(String),
  sensor_id: String(id),
  sensor_name: name,
})
