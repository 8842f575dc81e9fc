import { Sensors, Streams, wire } from 'pounce/sdk'
import { geoNumberOf, streamIdOf } from 'pounce/sdk/geo'

/** The sensor that a stream belongs to. */
export interface StreamOwner {
  readonly sensor: number
  readonly sensorName: string
}

const maxCached = 20_000

const batchSize = 1000

/** The sensors of streams, cached for one request. Undefined for a stream that is deleted or being deleted, or whose sensor is. */
export class StreamSensors {
  readonly #streams: Streams
  readonly #sensors: Sensors
  readonly #cache = new Map<number, StreamOwner | undefined>()

  constructor(streams: Streams, sensors: Sensors) {
    this.#streams = streams
    this.#sensors = sensors
  }

  /** The result is valid until the next call. */
  async of(numbers: Iterable<number>): Promise<ReadonlyMap<number, StreamOwner | undefined>> {
    const wanted = new Set(numbers)
    let missing = [...wanted].filter(number => !this.#cache.has(number))
    if (missing.length === 0) return this.#cache
    if (this.#cache.size + missing.length > maxCached) {
      this.#cache.clear()
      missing = [...wanted]
    }
    for (let at = 0; at < missing.length; at += batchSize) await this.#look(missing.slice(at, at + batchSize))
    return this.#cache
  }

  async #look(numbers: readonly number[]): Promise<void> {
    const streams = await this.#streams.getMany(numbers.map(streamIdOf))
    const sensors = await this.#sensors.getMany([...new Set([...streams.values()].map(({ sensor }) => sensor))])
    for (const number of numbers) {
      const stream = streams.get(streamIdOf(number))
      const sensor = stream?.state === 'live' ? sensors.get(stream.sensor) : undefined
      this.#cache.set(number, sensor?.state === 'live' ? { sensor: geoNumberOf(sensor.id), sensorName: sensor.name } : undefined)
    }
  }
}

/** Creates a `StreamSensors` for each request. */
export class StreamSensorsFactory {
  #streams: Streams
  #sensors: Sensors

  constructor(streams: Streams, sensors: Sensors) {
    this.#streams = streams
    this.#sensors = sensors
  }

  begin(): StreamSensors {
    return new StreamSensors(this.#streams, this.#sensors)
  }
}
wire(StreamSensorsFactory, Streams, Sensors)
