import {
  anonymous,
  type Caller,
  type Collection,
  DocumentStore,
  eq,
  type Json,
  Policy,
  type Searchable,
  type Stored,
  s,
  Users,
  wire,
} from 'pounce/sdk'
import { geoNumberOf, type SensorRecord, type StreamRecord } from 'pounce/sdk/geo'
import { fullNameOf, type ResourceSummary } from 'pounce/sdk/kit'
import type { MetadataValue, SearchDocument } from 'pounce/sdk/search'
import { metadataValueOf } from 'pounce/sdk/search'
import { sensors, streams } from './collections.ts'

/** Limits for the index entry of one sensor or stream. */
const maxValues = 2000

const maxDepth = 16

const maxValueLength = 1000

/** Free-form properties as searchable values: by dotted path, with each element of a list separately. Dots in names become `_`. */
const searchedProperties = (properties: { readonly [key: string]: Json }): readonly MetadataValue[] => {
  const values: MetadataValue[] = []
  const walk = (field: string, value: Json, depth: number): void => {
    if (values.length >= maxValues || depth > maxDepth || value === null) return
    if (typeof value === 'string') values.push(metadataValueOf(field, value.slice(0, maxValueLength)))
    else if (typeof value !== 'object') values.push({ field, value })
    else if (Array.isArray(value)) for (const item of value as readonly Json[]) walk(field, item, depth + 1)
    else for (const [key, item] of Object.entries(value)) walk([field, nameOf(key)].filter(Boolean).join('.'), item, depth + 1)
  }
  walk('', properties, 0)
  return values
}

const nameOf = (key: string): string => key.replaceAll('.', '_').slice(0, 200).toWellFormed()

type Listed = SensorRecord | StreamRecord

/** The additional index fields of a kind. */
export interface Particulars {
  readonly kind: 'sensor' | 'stream'
  readonly values: readonly MetadataValue[]
  readonly childOf: readonly string[]
}

/** Index entries of sensors or streams. */
const searchDocuments = async <T extends Listed>(
  { documents, users, policy }: { readonly documents: DocumentStore; readonly users: Users; readonly policy: Policy },
  from: Collection<T>,
  ids: readonly string[],
  particulars: (one: T & Stored) => Particulars,
): Promise<ReadonlyMap<string, SearchDocument>> => {
  const found = await documents.getMany(from, ids)
  const authors = await users.getMany([...new Set([...found.values()].map(({ author }) => author))])
  const isPublic = policy.can(anonymous, 'ViewGeoStream') === 'yes'
  const describe = (one: T & Stored): SearchDocument => {
    const { kind, values, childOf } = particulars(one)
    const author = authors.get(one.author)
    return {
      id: one.id,
      kind,
      revision: one.revision,
      name: one.name,
      description: '',
      creator: one.author,
      creatorName: author ? fullNameOf(author) : '',
      creatorEmail: author?.email ?? '',
      created: new Date(one.created),
      tags: [],
      comments: [],
      metadata: [...searchedProperties(one.properties), ...values],
      childOf,
      spaces: one.spaces,
      isPublic,
      isListed: one.state === 'live',
    }
  }
  return new Map([...found].map(([id, one]) => [id, describe(one)]))
}

/** The fields of sensors or streams in the full view of a search. */
const summaries = <T extends Listed>(
  found: ReadonlyMap<string, T & Stored>,
  valuesOf: (one: T & Stored) => readonly MetadataValue[],
): ReadonlyMap<string, ResourceSummary> => {
  const summarize = (one: T & Stored): ResourceSummary => ({
    id: String(geoNumberOf(one.id)),
    ...{ name: one.name, description: '', author: one.author, created: one.created, tags: [] },
    containers: one.spaces.map(id => ({ kind: 'space', id })),
    values: [...searchedProperties(one.properties), ...valuesOf(one)],
  })
  return new Map([...found].filter(([, { state }]) => state === 'live').map(([id, one]) => [id, summarize(one)]))
}

const streamValues = ({ parameters }: StreamRecord): readonly MetadataValue[] => parameters.map(value => ({ field: 'parameters', value }))

const sensorValues = ({ source }: SensorRecord): readonly MetadataValue[] => (source === null ? [] : [{ field: 'source', value: source }])

/** Every id, for a rebuild. */
async function* idsIn(documents: DocumentStore, from: Collection<Listed>): AsyncIterable<string> {
  for await (const { id } of documents.scan(from, { using: 'byAge', where: eq('state', 'live') })) yield id
}

/** Index entries of streams. */
export class SearchableStreams implements Searchable {
  readonly kind = 'stream'
  #documents: DocumentStore
  #users: Users
  #policy: Policy

  constructor(documents: DocumentStore, users: Users, policy: Policy) {
    this.#documents = documents
    this.#users = users
    this.#policy = policy
  }

  describe(ids: readonly string[]): Promise<ReadonlyMap<string, SearchDocument>> {
    const tools = { documents: this.#documents, users: this.#users, policy: this.#policy }
    return searchDocuments(tools, streams, ids, stream => ({
      kind: 'stream',
      values: streamValues(stream),
      childOf: [stream.sensor, ...stream.spaces],
    }))
  }

  all(): AsyncIterable<string> {
    return idsIn(this.#documents, streams)
  }

  async present(ids: readonly string[], _caller: Caller): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
    const found = await this.#documents.getMany(streams, ids)
    return new Map(
      [...found].map(([id, { name, created, sensor }]) => [
        id,
        {
          id: String(geoNumberOf(id)),
          name,
          created: s.toV1Date(created),
          sensor_id: String(geoNumberOf(sensor)),
          resource_type: 'stream',
        },
      ]),
    )
  }

  async summarize(ids: readonly string[]): Promise<ReadonlyMap<string, ResourceSummary>> {
    return summaries(await this.#documents.getMany(streams, ids), streamValues)
  }
}
wire(SearchableStreams, DocumentStore, Users, Policy)

/** Index entries of sensors. */
export class SearchableSensors implements Searchable {
  readonly kind = 'sensor'
  #documents: DocumentStore
  #users: Users
  #policy: Policy

  constructor(documents: DocumentStore, users: Users, policy: Policy) {
    this.#documents = documents
    this.#users = users
    this.#policy = policy
  }

  describe(ids: readonly string[]): Promise<ReadonlyMap<string, SearchDocument>> {
    const tools = { documents: this.#documents, users: this.#users, policy: this.#policy }
    return searchDocuments(tools, sensors, ids, sensor => ({
      kind: 'sensor',
      values: sensorValues(sensor),
      childOf: sensor.spaces,
    }))
  }

  all(): AsyncIterable<string> {
    return idsIn(this.#documents, sensors)
  }

  async present(ids: readonly string[], _caller: Caller): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
    const found = await this.#documents.getMany(sensors, ids)
    return new Map(
      [...found].map(([id, { name, created }]) => [
        id,
        { id: String(geoNumberOf(id)), name, created: s.toV1Date(created), resource_type: 'sensor' },
      ]),
    )
  }

  async summarize(ids: readonly string[]): Promise<ReadonlyMap<string, ResourceSummary>> {
    return summaries(await this.#documents.getMany(sensors, ids), sensorValues)
  }
}
wire(SearchableSensors, DocumentStore, Users, Policy)
