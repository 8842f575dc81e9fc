import {
  type AnyEvent,
  type BatchHandler,
  CommitConflict,
  type Counters,
  collection,
  DocumentStore,
  type EventType,
  eq,
  wire,
} from 'pounce/sdk'

const names = ['spaces', 'collections', 'datasets', 'files', 'bytes', 'users'] as const
type Name = (typeof names)[number]
type Totals = Readonly<Record<Name, number>>

interface CounterRecord extends Totals {
  /** The newest events that were counted, so that one which comes twice counts once. */
  readonly counted: readonly string[]
}

/** One document: the totals of the installation. */
export const counters = collection<CounterRecord>('counters')

const theCounter = '00000000000000000000c0a7'
const none: Totals = { spaces: 0, collections: 0, datasets: 0, files: 0, bytes: 0, users: 0 }

/** More than the outbox hands out at once, so that what is handed out again is still remembered. */
const remembered = 1000

/** Events after which a total differs. What is in the trash is not counted. */
export const countedEvents: readonly EventType[] = [
  'space.created',
  'space.removed',
  'collection.created',
  'collection.trashed',
  'collection.restored',
  'collection.removed',
  'dataset.created',
  'dataset.trashed',
  'dataset.restored',
  'dataset.removed',
  'file.created',
  'file.removed',
  'user.created',
]

const changeOf = (event: AnyEvent): Partial<Record<Name, number>> => {
  switch (event.type) {
    case 'space.created':
      return { spaces: 1 }
    case 'space.removed':
      return { spaces: -1 }
    case 'collection.created':
    case 'collection.restored':
      return { collections: 1 }
    case 'collection.trashed':
      return { collections: -1 }
    case 'collection.removed':
      return { collections: event.data.wasTrashed ? 0 : -1 }
    case 'dataset.created':
    case 'dataset.restored':
      return { datasets: 1 }
    case 'dataset.trashed':
      return { datasets: -1 }
    case 'dataset.removed':
      return { datasets: event.data.wasTrashed ? 0 : -1 }
    case 'file.created':
      return { files: 1, bytes: event.data.sizeBytes }
    case 'file.removed':
      return { files: -1, bytes: -event.data.sizeBytes }
    case 'user.created':
      return { users: 1 }
    default:
      return {}
  }
}

/** Keeps the totals, one commit for many events. */
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
    const known = (await this.#documents.get(counters, theCounter)) ?? (await this.#first())
    const counted = new Set(known.counted)
    const fresh = events.filter(event => !counted.has(event.id))
    const inc: Record<string, number> = {}
    for (const event of fresh) for (const [name, by] of Object.entries(changeOf(event))) inc[name] = (inc[name] ?? 0) + by
    if (fresh.length === 0) return
    const push = { counted: { values: fresh.map(event => event.id), keepLast: remembered } }
    // a conflict is another kernel counting: the outbox hands these out again
    await this.#documents.commit({ update: theCounter, in: counters, where: eq('revision', known.revision), inc, push })
  }

  async #first() {
    try {
      return await this.#documents.commit({ insert: { id: theCounter, ...none, counted: [] }, into: counters })
    } catch (error) {
      const made = error instanceof CommitConflict ? await this.#documents.get(counters, theCounter) : undefined
      if (made) return made
      throw error
    }
  }
}
wire(StoredCounters, DocumentStore)
