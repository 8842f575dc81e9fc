import {
  anonymousUserId,
  authorize,
  type Caller,
  Clock,
  CommitConflict,
  configPort,
  DocumentStore,
  eq,
  event,
  NotFound,
  Policy,
  wire,
} from 'pounce/sdk'
import { streamIdOf } from 'pounce/sdk/geo'
import { updateWithRetry } from 'pounce/sdk/kit'
import { cellsOf } from '../cells.ts'
import { type GeoDescription, type Stream, sensors, streams } from '../collections.ts'
import { config, type Settings } from '../config.ts'
import { GeostreamIds } from '../geostream-ids.ts'
import { readProperties, sensorRef } from '../input.ts'

export interface NewStream extends GeoDescription {
  readonly name: string
  /** Number of the sensor as sent. */
  readonly sensor: string | number
}

/** Creates, updates and deletes streams. */
export class StreamService {
  #anybodyMayAdd: boolean
  #documents: DocumentStore
  #policy: Policy
  #numbers: GeostreamIds
  #clock: Clock

  constructor({ anybodyMayAdd }: Settings, documents: DocumentStore, policy: Policy, numbers: GeostreamIds, clock: Clock) {
    this.#anybodyMayAdd = anybodyMayAdd
    this.#documents = documents
    this.#policy = policy
    this.#numbers = numbers
    this.#clock = clock
  }

  /** Requires the right to add to the sensor, or to view it if `anybodyMayAdd` is set. */
  async create(caller: Caller, { name, sensor: sent, geometry, properties }: NewStream): Promise<Stream> {
    const { id: sensor } = sensorRef(sent)
    await authorize(this.#policy, caller, this.#anybodyMayAdd ? 'ViewGeoStream' : 'AddGeoStream', { kind: 'sensor', id: sensor })
    const above = await this.#documents.get(sensors, sensor)
    if (above?.state !== 'live') throw new NotFound('sensor')
    const id = streamIdOf(await this.#numbers.next('stream'))
    const created = this.#clock.now().toISOString()
    const record = {
      id,
      name,
      sensor,
      geometry,
      properties,
      creator: caller.user?.id ?? anonymousUserId,
      author: above.author,
      spaces: above.spaces,
      cells: cellsOf(geometry),
      created,
      changed: created,
      parameters: [],
      state: 'live',
    } as const
    return this.#documents.commit({ insert: record, into: streams }, [
      event('stream.created', { kind: 'stream', id }, { sensor }, caller.user?.id),
    ])
  }

  /** Merges properties with the existing ones. */
  change(id: string, properties: Stream['properties'], actor: string | undefined): Promise<Stream> {
    const updated = event('stream.updated', { kind: 'stream', id }, { fields: ['properties'] }, actor)
    return updateWithRetry(this.#documents, streams, { kind: 'stream', id }, now => ({
      set: { properties: readProperties({ ...now.properties, ...properties }) },
      events: [updated],
    }))
  }

  /** The datapoints are deleted by the event. */
  async remove(id: string, actor: string | undefined): Promise<void> {
    for (;;) {
      const stream = await this.#documents.get(streams, id)
      if (!stream) throw new NotFound('stream')
      const { name, sensor, revision } = stream
      try {
        const removed = event('stream.removed', { kind: 'stream', id }, { name, sensor }, actor)
        await this.#documents.commit({ tombstone: id, in: streams, where: eq('revision', revision) }, [removed])
        return
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
      }
    }
  }
}
wire(StreamService, configPort(config), DocumentStore, Policy, GeostreamIds, Clock)
