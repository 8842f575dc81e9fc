import { and, CommitConflict, DocumentStore, eq, event, Spaces, type StoredEvent, wire } from 'pounce/sdk'
import { removeFound, requireDone } from 'pounce/sdk/kit'
import { type Sensor, type Stream, sensors, streams } from '../collections.ts'

const batchSize = 200

/** Deletes the streams of a deleted sensor; their events delete the datapoints. */
export class DeleteStreamsOnSensorRemoved {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async handle({ subject: { id }, actor }: StoredEvent<'sensor.removed'>): Promise<void> {
    if (await this.#documents.get(sensors, id)) return
    await removeFound(this.#documents, streams, {
      using: 'ageBySensor',
      where: and(eq('state', 'live'), eq('sensor', id)),
      events: stream => [event('stream.removed', { kind: 'stream', id: stream.id }, { name: stream.name, sensor: id }, actor)],
    })
  }
}
wire(DeleteStreamsOnSensorRemoved, DocumentStore)

const takeOut = async (documents: DocumentStore, { id }: Sensor, gone: readonly string[], actor: string | undefined): Promise<void> => {
  const updated = event('sensor.updated', { kind: 'sensor', id }, { fields: ['spaces'] }, actor)
  try {
    await documents.commit({ update: id, in: sensors, pull: { spaces: gone } }, [updated])
  } catch (error) {
    if (!(error instanceof CommitConflict)) throw error
  }
}

/** Removes sensors from a deleted space. */
export class DetachSensorsOnSpaceRemoved {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async handle({ subject, actor }: StoredEvent<'space.removed'>): Promise<void> {
    const where = and(eq('state', 'live'), eq('spaces', subject.id))
    for (;;) {
      const { items } = await this.#documents.find(sensors, { using: 'ageBySpace', where, limit: batchSize })
      if (items.length === 0) return
      for (const sensor of items) await takeOut(this.#documents, sensor, [subject.id], actor)
    }
  }
}
wire(DetachSensorsOnSpaceRemoved, DocumentStore)

/**
 * Updates the copies of a sensor's rights in its streams, which lists and search use; a sensor that was added to a space during the space's
 * deletion is removed from it.
 */
export class UpdateStreamsOnSensorUpdated {
  #documents: DocumentStore
  #spaces: Spaces

  constructor(documents: DocumentStore, spaces: Spaces) {
    this.#documents = documents
    this.#spaces = spaces
  }

  async handle({ type, subject, actor, data }: StoredEvent<'sensor.created' | 'sensor.updated'>): Promise<void> {
    if (type === 'sensor.updated' && 'fields' in data && !data.fields.some(field => field === 'spaces' || field === 'author')) return
    const sensor = await this.#documents.get(sensors, subject.id)
    if (!sensor) return
    const there = sensor.spaces.length > 0 ? await this.#spaces.getMany(sensor.spaces) : new Map()
    const removed = sensor.spaces.filter(space => !there.has(space))
    if (removed.length > 0) return takeOut(this.#documents, sensor, removed, actor)
    await this.#settle(sensor, actor)
  }

  async #settle(sensor: Sensor, actor: string | undefined): Promise<void> {
    let some: Stream[] = []
    const where = and(eq('state', 'live'), eq('sensor', sensor.id))
    for await (const stream of this.#documents.scan(streams, { using: 'ageBySensor', where })) {
      if (!differs(stream, sensor)) continue
      some.push(stream)
      if (some.length < batchSize) continue
      await bring(this.#documents, some, sensor, actor)
      some = []
    }
    await bring(this.#documents, some, sensor, actor)
  }
}
wire(UpdateStreamsOnSensorUpdated, DocumentStore, Spaces)

const differs = (stream: Stream, { author, spaces }: Sensor): boolean =>
  stream.author !== author || stream.spaces.length !== spaces.length || stream.spaces.some((space, at) => space !== spaces[at])

const bring = async (
  documents: DocumentStore,
  some: readonly Stream[],
  { author, spaces }: Sensor,
  actor: string | undefined,
): Promise<void> => {
  if (some.length === 0) return
  const changes = some.map(({ id }) => ({
    change: { update: id, in: streams, set: { author, spaces } },
    events: [event('stream.updated', { kind: 'stream', id }, { fields: ['spaces'] }, actor)],
  }))
  requireDone(await documents.commitEach(changes))
}

/** Updates a stream created while its sensor was being deleted or changed spaces. */
export class ReconcileNewStream {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async handle({ subject: { id }, actor }: StoredEvent<'stream.created'>): Promise<void> {
    const stream = await this.#documents.get(streams, id)
    if (!stream) return
    const sensor = await this.#documents.get(sensors, stream.sensor)
    if (sensor) {
      if (differs(stream, sensor)) await bring(this.#documents, [stream], sensor, actor)
      return
    }
    const removed = event('stream.removed', { kind: 'stream', id }, { name: stream.name, sensor: stream.sensor }, actor)
    requireDone(await this.#documents.commitEach([{ change: { tombstone: id, in: streams }, events: [removed] }]))
  }
}
wire(ReconcileNewStream, DocumentStore)
