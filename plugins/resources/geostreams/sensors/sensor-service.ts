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
  removeFound,
  requirePlaced,
  sensorIdOf,
  updateWithRetry,
  wire,
} from 'pounce/sdk'
import { cellsOf } from '../cells.ts'
import { sensors } from '../collections.ts'
import { GeostreamIds } from '../geostream-ids.ts'
import { readProperties } from '../input.ts'
import { type Described, type Sensor, sourceOf } from '../records.ts'

export interface NewSensor extends Described {
  readonly name: string
  readonly spaces: readonly string[]
}

/** What is to become of a sensor: properties are joined with those it has, the others replace what was. */
export interface SensorChanges extends Partial<Described> {
  readonly spaces?: readonly string[]
}

/** Makes, changes and removes sensors. */
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

  /** Takes the right to add to each space. */
  async create(caller: Caller, { name, geometry, properties, spaces }: NewSensor): Promise<Sensor> {
    const into = [...new Set(spaces)]
    requirePlaced(caller, into.length > 0)
    for (const space of into) await authorize(this.#policy, caller, 'AddResourceToSpace', { kind: 'space', id: space })
    const id = sensorIdOf(await this.#numbers.next('sensor'))
    const made = {
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
    return this.#documents.commit({ insert: made, into: sensors }, [event('sensor.created', { kind: 'sensor', id }, {}, caller.user?.id)])
  }

  /** The right on the sensor is the route's to check; those on spaces are checked here, against the spaces it is in when it is changed. */
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

  /** The streams follow by the event, and the readings follow them. */
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

  /** Ends between batches when aborted; what is left goes by calling again. */
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
