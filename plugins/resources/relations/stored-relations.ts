import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type After,
  type AnyEvent,
  and,
  authorize,
  type BatchHandler,
  type Caller,
  Clock,
  CommitConflict,
  collection,
  DocumentStore,
  eq,
  InTrash,
  isIn,
  NotFound,
  Policy,
  type Ref,
  type Stored,
  type StoredEvent,
  type Time,
  wire,
} from 'pounce/sdk'
import { geoNumberOf, isGeoId, sensorIdOf, streamIdOf } from 'pounce/sdk/geo'
import { removeFound, requireServerAdmin } from 'pounce/sdk/kit'

/** The types of resources that can be related (reference, api-data §8). */
export const relatedTypes = ['dataset', 'file', 'collection', 'user', 'sensor', 'stream', 'folder', 'metadata'] as const

export type RelatedType = (typeof relatedTypes)[number]

/** One end of a relation: a resource of this server, or an external one given by its URL. */
export interface RelationEnd {
  readonly id: string
  readonly resourceType: RelatedType
}

/** A relation between two resources. Its id is derived from the ends and the type, so that there is at most one. */
export interface RelationRecord {
  readonly source: RelationEnd
  readonly target: RelationEnd
  readonly rdfType: string | null
  readonly author: string | null
  readonly created: Time
}

export const relations = collection<RelationRecord>()('relations', {
  bySource: { on: ['source.id', 'target.resourceType'] },
  byTarget: { on: ['target.id'] },
})

const ownId = /^[0-9a-f]{24}$/

/** Clients identify sensors and streams by numbers. */
const numbered = { sensor: sensorIdOf, stream: streamIdOf } as const
const isNumbered = (kind: string): kind is keyof typeof numbered => Object.hasOwn(numbered, kind)

/** The resource of this server at an end; undefined for URLs and malformed ids. A number has one spelling, without leading zeros. */
export const resourceOf = ({ id, resourceType: kind }: RelationEnd): Ref | undefined => {
  if (!isNumbered(kind)) return ownId.test(id) ? { kind, id } : undefined
  const number = Number(id)
  return isGeoId(number) && String(number) === id ? { kind, id: numbered[kind](number) } : undefined
}

const isExternal = ({ id }: RelationEnd): boolean => /^https?:\/\//i.test(id) && URL.canParse(id)

/** The id of a resource as used in ends of relations. */
const endIdOf = ({ kind, id }: Ref): string => (isNumbered(kind) ? String(geoNumberOf(id)) : id)

type Relation = RelationRecord & Stored

type NewRelation = Pick<RelationRecord, 'source' | 'target' | 'rdfType'>

const batchSize = 200

const idOf = ({ source, target, rdfType }: NewRelation): string => {
  const parts = [source.resourceType, source.id, target.resourceType, target.id, rdfType]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24)
}

/** Relations in the document store. */
export class StoredRelations implements BatchHandler {
  #documents: DocumentStore
  #policy: Policy
  #clock: Clock

  constructor(documents: DocumentStore, policy: Policy, clock: Clock) {
    this.#documents = documents
    this.#policy = policy
    this.#clock = clock
  }

  get(id: string): Promise<Relation | undefined> {
    return this.#documents.get(relations, id)
  }

  /**
   * Requires the right to relate on one end, and that the other end is visible if it is on this server; only a server admin may relate two
   * external resources. Malformed ids are answered like unknown ones.
   */
  async mayAdd(caller: Caller, { source, target }: NewRelation): Promise<void> {
    const things = [source, target].flatMap(end => {
      const thing = resourceOf(end)
      if (!thing && !isExternal(end)) throw new NotFound(end.resourceType)
      return thing ?? []
    })
    if (things.length === 0) requireServerAdmin(caller, 'The source or the target must be a resource of this server')
    let isAllowed = things.length === 0
    for (const thing of things) {
      const decision = await this.#policy.canOn(caller, 'CreateRelation', thing)
      if (decision === 'unseen') throw new NotFound(thing.kind)
      if (decision === 'frozen') throw new InTrash(thing.kind)
      if (decision === 'yes') isAllowed = true
    }
    const [first] = things
    if (!isAllowed && first) await authorize(this.#policy, caller, 'CreateRelation', first)
  }

  /** Returns the id of the new relation; undefined if it exists already. */
  async add(relation: NewRelation, author: string | undefined): Promise<string | undefined> {
    const id = idOf(relation)
    try {
      const created = this.#clock.now().toISOString()
      await this.#documents.commit({ insert: { id, ...relation, author: author ?? null, created }, into: relations })
      return id
    } catch (error) {
      if (error instanceof CommitConflict && error.reason === 'exists') return undefined
      throw error
    }
  }

  async remove(id: string): Promise<void> {
    try {
      await this.#documents.commit({ tombstone: id, in: relations })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  /** All relations that the caller may view, by id, read during iteration. */
  async *visible(caller: Caller): AsyncIterable<Relation> {
    let some: Relation[] = []
    for await (const relation of this.#documents.walk(relations)) {
      some.push(relation)
      if (some.length < batchSize) continue
      yield* await this.#seen(caller, some)
      some = []
      await nextTurn()
    }
    yield* await this.#seen(caller, some)
  }

  /** Ids of the resources related to a resource, by relations that the caller may view. */
  async *targets(caller: Caller, source: RelationEnd, targetType: RelatedType): AsyncIterable<string> {
    const where = and(eq('source.id', source.id), eq('target.resourceType', targetType))
    let after: After | undefined
    do {
      const page = await this.#documents.find(relations, { using: 'bySource', where, limit: batchSize, ...(after ? { after } : {}) })
      const fitting = page.items.filter(relation => relation.source.resourceType === source.resourceType)
      for (const { target } of await this.#seen(caller, fitting)) yield target.id
      after = page.next
    } while (after)
  }

  async #seen(caller: Caller, some: readonly Relation[]): Promise<readonly Relation[]> {
    const ids = some.map(({ id }) => id)
    const seen = await this.#policy.allowed(caller, 'ViewRelation', 'relation', ids)
    return some.filter(({ id }) => seen.has(id))
  }

  /** Deletes relations with their ends. */
  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    for (const [kind, gone] of Map.groupBy(events, ({ subject }) => subject.kind)) {
      const ids = gone.map(({ subject }) => endIdOf(subject))
      const from = and(isIn('source.id', ids), eq('source.resourceType', kind))
      const to = and(isIn('target.id', ids), eq('target.resourceType', kind))
      await removeFound(this.#documents, relations, { using: 'bySource', where: from })
      await removeFound(this.#documents, relations, { using: 'byTarget', where: to })
    }
  }
}
wire(StoredRelations, DocumentStore, Policy, Clock)

/** Relates a copy to its original, while both exist. */
export class RelateCopies {
  #relations: StoredRelations

  constructor(stored: StoredRelations) {
    this.#relations = stored
  }

  async handle({ subject, actor, data }: StoredEvent<'dataset.copied' | 'file.copied'>): Promise<void> {
    const resourceType = subject.kind === 'file' ? 'file' : 'dataset'
    const [source, target] = [data.from, subject.id].map(id => ({ id, resourceType }) as const)
    if (source && target) await this.#relations.add({ source, target, rdfType: null }, actor)
  }
}
wire(RelateCopies, StoredRelations)
