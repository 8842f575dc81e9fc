import { type Caller, Policy, wire } from 'pounce/sdk'
import type { Sensor } from '../records.ts'
import { ReadingStatistics } from '../statistics.ts'
import { type SensorJson, type SensorStatistics, toSensorJson } from './sensor-json.ts'

const spacesAtOnce = 1000

const only = ([shown]: readonly SensorJson[]): SensorJson => {
  if (!shown) throw new Error('a sensor was not shown')
  return shown
}

/** Sensors as they are shown to somebody: with what is known of their readings, and of their spaces those that the caller may see. */
export class SensorView {
  #statistics: ReadingStatistics
  #policy: Policy

  constructor(statistics: ReadingStatistics, policy: Policy) {
    this.#statistics = statistics
    this.#policy = policy
  }

  async show(caller: Caller, some: readonly Sensor[]): Promise<SensorJson[]> {
    return this.#shown(caller, some, await this.#statistics.ofSensors(some.map(({ id }) => id)))
  }

  /** A sensor as `change` leaves it. When it could not be shown nothing is changed. */
  async changed(caller: Caller, id: string, change: () => Promise<Sensor>): Promise<SensorJson> {
    const known = await this.#statistics.ofSensors([id])
    return only(await this.#shown(caller, [await change()], known))
  }

  async #shown(caller: Caller, some: readonly Sensor[], known: ReadonlyMap<string, SensorStatistics>): Promise<SensorJson[]> {
    const seen = await this.#seen(caller, [...new Set(some.flatMap(({ spaces }) => spaces))])
    return some.map(sensor => toSensorJson({ ...sensor, spaces: sensor.spaces.filter(id => seen.has(id)) }, known.get(sensor.id)))
  }

  async one(caller: Caller, sensor: Sensor): Promise<SensorJson> {
    return only(await this.show(caller, [sensor]))
  }

  async #seen(caller: Caller, spaces: readonly string[]): Promise<ReadonlySet<string>> {
    const seen = new Set<string>()
    for (let at = 0; at < spaces.length; at += spacesAtOnce)
      for (const id of await this.#policy.allowed(caller, 'ViewSpace', 'space', spaces.slice(at, at + spacesAtOnce))) seen.add(id)
    return seen
  }
}
wire(SensorView, ReadingStatistics, Policy)
