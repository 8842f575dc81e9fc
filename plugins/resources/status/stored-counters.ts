import {
  type AnyEvent,
  type BatchHandler,
  CommitConflict,
  type Counters,
  collection,
  DocumentStore,
  type EventType,
  eq,
  type StoredEvent,
  wire,
} from 'pounce/sdk'

export const totalNames = ['spaces', 'collections', 'datasets', 'files', 'bytes', 'users'] as const
export type TotalName = (typeof totalNames)[number]
export type Totals = Readonly<Record<TotalName, number>>

interface CounterRecord extends Totals {
  /** The most recently counted events, so that redelivered ones are counted once. */
  readonly counted: readonly string[]
}

/** One document: the totals of the installation. */
export const counters = collection<CounterRecord>()('counters')

export const theCounter = '00000000000000000000c0a7'
export const none: Totals = { spaces: 0, collections: 0, datasets: 0, files: 0, bytes: 0, users: 0 }

/** More than the outbox delivers at once, so that redelivered events are still recognized. */
const remembered = 1000
const maxTries = 20

type Change = Partial<Record<TotalName, number>>

/** How each event changes the totals. Resources in the trash are not counted. */
const changes: { readonly [T in EventType]?: (event: StoredEvent<T>) => Change } = {
  'space.created': () => ({ spaces: 1 }),
  'space.removed': () => ({ spaces: -1 }),
  'collection.created': () => ({ collections: 1 }),
  'collection.trashed': () => ({ collections: -1 }),
  'collection.restored': () => ({ collections: 1 }),
  'collection.removed': ({ data }) => ({ collections: data.wasTrashed ? 0 : -1 }),
  'dataset.created': () => ({ datasets: 1 }),
  'dataset.trashed': () => ({ datasets: -1 }),
  'dataset.restored': () => ({ datasets: 1 }),
  'dataset.removed': ({ data }) => ({ datasets: data.wasTrashed || data.wasImporting ? 0 : -1 }),
  'file.created': ({ data }) => ({ files: 1, bytes: data.sizeBytes }),
  'file.removed': ({ data }) => (data.wasImporting ? {} : { files: -1, bytes: -data.sizeBytes }),
  'user.created': () => ({ users: 1 }),
}
export const countedEvents = Object.keys(changes) as readonly EventType[]

const changeOf = (event: AnyEvent): Change => (changes[event.type] as ((event: AnyEvent) => Change) | undefined)?.(event) ?? {}

/** Maintains the totals, with one commit for many events. */
export class StoredCounters implements Counters, BatchHandler {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async instance(): Promise<Totals> {
    const { spaces, collections, datasets, files, bytes, users } = (await this.#documents.get(counters, theCounter)) ?? none
    return { spaces, collections, datasets, files, bytes, users }
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#count(events)
      } catch (error) {
        // A conflict is another kernel counting. After this many the outbox redelivers the events, and counted ones are recognized.
        if (!(error instanceof CommitConflict) || tries === maxTries) throw error
      }
    }
  }

  async #count(events: readonly AnyEvent[]): Promise<void> {
    const known = (await this.#documents.get(counters, theCounter)) ?? (await this.#first())
    const counted = new Set(known.counted)
    const fresh = events.filter(event => !counted.has(event.id))
    const inc: Record<string, number> = {}
    for (const event of fresh) for (const [name, by] of Object.entries(changeOf(event))) inc[name] = (inc[name] ?? 0) + by
    if (fresh.length === 0) return
    const push = { counted: { values: fresh.map(event => event.id), keepLast: remembered } }
    await this.#documents.commit({ update: theCounter, in: counters, where: eq('revision', known.revision), inc, push })
  }

  async #first() {
    try {
      return await this.#documents.commit({ insert: { id: theCounter, ...none, counted: [] }, into: counters })
    } catch (error) {
      const existing = error instanceof CommitConflict ? await this.#documents.get(counters, theCounter) : undefined
      if (existing) return existing
      throw error
    }
  }
}
wire(StoredCounters, DocumentStore)
