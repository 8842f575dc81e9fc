import {
  anonymousUserId,
  authorize,
  type Caller,
  Clock,
  CommitConflict,
  DocumentStore,
  eq,
  event,
  Forbidden,
  isSuperAdmin,
  NotFound,
  Policy,
  s,
  wire,
} from 'pounce/sdk'
import { geoNumberOf, type StreamStatistics, sensorIdOf } from 'pounce/sdk/geo'
import { removeFound, requirePlaced, updateWithRetry } from 'pounce/sdk/kit'
import { cellsOf } from '../cells.ts'
import { type GeoDescription, type Sensor, sensors, sourceOf } from '../collections.ts'
import { ReadingStatistics } from '../geostream-counts.ts'
import { GeostreamIds } from '../geostream-ids.ts'
import { readProperties, showTime } from '../input.ts'

/** A sensor in the format of Clowder 1.x; `spaces` is an addition. */
export const SensorJson = s.model(
  'Sensor',
  s.Object({
    id: s.Integer(),
    name: s.String(),
    created: s.String({ description: 'Such as `2017-01-25T09:30:00Z`' }),
    type: s.Literal('Feature'),
    properties: s.Record(s.String(), s.Unknown()),
    geometry: s.Record(s.String(), s.Unknown(), { description: 'GeoJSON: longitude first' }),
    min_start_time: s.Union([s.String(), s.Null()]),
    max_end_time: s.Union([s.String(), s.Null()]),
    parameters: s.Array(s.Union([s.String(), s.Null()]), { description: 'Parameters of its datapoints; `[null]` if there are none' }),
    spaces: s.Optional(s.Array(s.String(), { description: 'Spaces whose roles give rights on it; absent if there are none' })),
  }),
)

export type SensorJson = s.Static<typeof SensorJson>

/** Statistics over all datapoints of a sensor. */
export type SensorStatistics = Pick<StreamStatistics, 'firstStartMs' | 'lastEndMs' | 'properties'>

/** Times and parameters in the format of sensors and their statistics. */
export const rangeOf = (statistics: SensorStatistics | undefined) => ({
  min_start_time: showTime(statistics?.firstStartMs ?? null),
  max_end_time: showTime(statistics?.lastEndMs ?? null),
})

export const parametersOf = (statistics: SensorStatistics | undefined): (string | null)[] =>
  statistics ? [...statistics.properties] : [null]

const toSensorJson = (sensor: Sensor, statistics: SensorStatistics | undefined): SensorJson => ({
  id: geoNumberOf(sensor.id),
  name: sensor.name,
  created: showTime(sensor.created),
  type: 'Feature',
  properties: sensor.properties,
  geometry: { ...sensor.geometry },
  ...rangeOf(statistics),
  parameters: parametersOf(statistics),
  ...(sensor.spaces.length > 0 ? { spaces: [...sensor.spaces] } : {}),
})

export interface NewSensor extends GeoDescription {
  readonly name: string
  readonly spaces: readonly string[]
}

/** Changes to a sensor: properties are merged, other fields replaced. */
export interface SensorChanges extends Partial<GeoDescription> {
  readonly spaces?: readonly string[]
}

/** Creates, updates and deletes sensors. */
export class SensorService {
  #documents: DocumentStore
  #policy: Policy
  #numbers: GeostreamIds
  #clock: Clock

  constructor(documents: DocumentStore, policy: Policy, numbers: GeostreamIds, clock: Clock) {
    this.#documents = documents
    this.#policy = policy
    this.#numbers = numbers
    this.#clock = clock
  }

  /** Requires the right to add to each space. */
  async create(caller: Caller, { name, geometry, properties, spaces }: NewSensor): Promise<Sensor> {
    const into = [...new Set(spaces)]
    requirePlaced(caller, into.length > 0)
    for (const space of into) await authorize(this.#policy, caller, 'AddResourceToSpace', { kind: 'space', id: space })
    const id = sensorIdOf(await this.#numbers.next('sensor'))
    const record = {
      id,
      name,
      geometry,
      properties,
      source: sourceOf(properties),
      author: caller.user?.id ?? anonymousUserId,
      spaces: into,
      cells: cellsOf(geometry),
      created: this.#clock.now().toISOString(),
      state: 'live',
    } as const
    return this.#documents.commit({ insert: record, into: sensors }, [event('sensor.created', { kind: 'sensor', id }, {}, caller.user?.id)])
  }

  /**
   * The route must have checked the right on the sensor; those on spaces are checked here, against the spaces of the sensor at the time of
   * the change.
   */
  async change(caller: Caller, id: string, { geometry, properties, spaces }: SensorChanges): Promise<Sensor> {
    const fields = Object.entries({ geometry, properties, spaces }).flatMap(([name, value]) => (value === undefined ? [] : [name]))
    const updated = event('sensor.updated', { kind: 'sensor', id }, { fields }, caller.user?.id)
    return updateWithRetry(this.#documents, sensors, { kind: 'sensor', id }, async now => {
      const merged = properties ? readProperties({ ...now.properties, ...properties }) : now.properties
      const set = {
        ...(geometry ? { geometry, cells: cellsOf(geometry) } : {}),
        ...(properties ? { properties: merged, source: sourceOf(merged) } : {}),
        ...(spaces ? { spaces: await this.#moved(caller, now, spaces) } : {}),
      }
      return { set, events: [updated] }
    })
  }

  /** The streams are deleted by the event, and their datapoints by theirs. */
  async remove(id: string, actor: string | undefined): Promise<void> {
    for (;;) {
      const sensor = await this.#documents.get(sensors, id)
      if (!sensor) throw new NotFound('sensor')
      const removed = event('sensor.removed', { kind: 'sensor', id }, { name: sensor.name }, actor)
      try {
        await this.#documents.commit({ tombstone: id, in: sensors, where: eq('revision', sensor.revision) }, [removed])
        return
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
      }
    }
  }

  /** Stops between batches when aborted; call it again to delete the rest. */
  async removeAll(actor: string | undefined, signal: AbortSignal): Promise<void> {
    await removeFound(this.#documents, sensors, {
      using: 'byAge',
      where: eq('state', 'live'),
      events: ({ id, name }) => [event('sensor.removed', { kind: 'sensor', id }, { name }, actor)],
      signal,
    })
  }

  async #moved(caller: Caller, { author, spaces: now }: Sensor, wanted: readonly string[]): Promise<readonly string[]> {
    const next = [...new Set(wanted)]
    const isOwn = author === caller.user?.id || isSuperAdmin(caller)
    for (const id of next.filter(space => !now.includes(space))) {
      if (!isOwn) throw new Forbidden('Only the creator of the sensor may add it to a space')
      await authorize(this.#policy, caller, 'AddResourceToSpace', { kind: 'space', id })
    }
    const left = now.filter(space => !next.includes(space))
    if (!isOwn) for (const id of left) await authorize(this.#policy, caller, 'RemoveResourceFromSpace', { kind: 'space', id })
    if (left.length > 0) requirePlaced(caller, next.length > 0)
    return next
  }
}
wire(SensorService, DocumentStore, Policy, GeostreamIds, Clock)

const batchSize = 1000

const only = ([shown]: readonly SensorJson[]): SensorJson => {
  if (!shown) throw new Error('a sensor was not shown')
  return shown
}

/** Renders sensors for a caller, with statistics and the spaces that the caller may view. */
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

  /** A sensor as `change` leaves it. If it could not be rendered, nothing is changed. */
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
    for (let at = 0; at < spaces.length; at += batchSize)
      for (const id of await this.#policy.allowed(caller, 'ViewSpace', 'space', spaces.slice(at, at + batchSize))) seen.add(id)
    return seen
  }
}
wire(SensorView, ReadingStatistics, Policy)
