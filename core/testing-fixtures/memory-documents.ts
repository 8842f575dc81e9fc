import {
  type AnyEvent,
  type Change,
  type Clock,
  Clock as ClockPort,
  type Collection,
  CommitConflict,
  type Committed,
  type DocumentStore,
  DocumentStore as DocumentStorePort,
  definePlugin,
  type Find,
  type Ids,
  Ids as IdsPort,
  type Lines,
  linesOf,
  type NewEvent,
  type Page,
  provide,
  type Stored,
  wire,
} from 'pounce/sdk'
import { applyUpdate, matcher } from '../../sdk/documents/index.ts'
import { MemoryOutbox } from './memory-outbox.ts'

type Row = Stored & object

/** A document store in memory, as far as the kernel itself uses one. What it holds outlives a stop, so a kernel can be started again on it. */
export class MemoryDocuments implements DocumentStore {
  readonly outbox: MemoryOutbox
  readonly #clock: Clock
  readonly #ids: Ids
  readonly #collections = new Map<string, Map<string, Row>>()
  /** Names that were declared. */
  readonly declared = new Set<string>()

  constructor(clock: Clock, ids: Ids) {
    this.#clock = clock
    this.#ids = ids
    this.outbox = new MemoryOutbox(clock)
  }

  async declare(collections: readonly Collection<object>[]): Promise<void> {
    for (const { name } of collections) this.declared.add(name)
  }

  async get<T extends object>(from: Collection<T>, id: string): Promise<(T & Stored) | undefined> {
    return this.#rows(from).get(id) as (T & Stored) | undefined
  }

  async getMany<T extends object>(from: Collection<T>, ids: readonly string[]): Promise<ReadonlyMap<string, T & Stored>> {
    return new Map([...this.#rows(from)].filter(([id]) => ids.includes(id)) as [string, T & Stored][])
  }

  async find<T extends object>(from: Collection<T>, query: Find): Promise<Page<T & Stored>> {
    const fits = matcher(query.where)
    const rows = [...this.#rows(from).values()].filter(row => fits(row)).sort((a, b) => (a.id < b.id ? -1 : 1))
    return { items: rows.slice(0, query.limit) as (T & Stored)[] }
  }

  async count<T extends object>(from: Collection<T>, query: Pick<Find, 'using' | 'where'> & { readonly upTo: number }): Promise<number> {
    return (await this.find(from, { ...query, limit: query.upTo })).items.length
  }

  async *scan<T extends object>(from: Collection<T>, query: Omit<Find, 'limit' | 'after'>): AsyncIterable<T & Stored> {
    yield* (await this.find(from, { ...query, limit: Number.MAX_SAFE_INTEGER })).items
  }

  async *walk<T extends object>(from: Collection<T>, after = ''): AsyncIterable<T & Stored> {
    yield* (await this.find(from, { using: [], limit: Number.MAX_SAFE_INTEGER })).items.filter(({ id }) => id > after)
  }

  async *lines<T extends object>(from: Collection<T>, lines: Lines, query?: Pick<Find, 'using' | 'where'>): AsyncIterable<Uint8Array> {
    const documents = query ? this.scan(from, query) : this.walk(from)
    yield* linesOf(documents, lines, (name, ids) => this.getMany<object>({ name, indexes: {} }, ids))
  }

  async commit<T extends object>(change: Change<T>, events: readonly NewEvent[] = []): Promise<T & Stored> {
    const document = this.#apply(change)
    const at = this.#clock.now().toISOString()
    this.outbox.add(events.map(event => ({ ...event, id: this.#ids.next(), at }) as AnyEvent))
    return document
  }

  async commitEach<T extends object>(
    items: readonly { readonly change: Change<T>; readonly events?: readonly NewEvent[] }[],
  ): Promise<readonly Committed<T>[]> {
    const results: Committed<T>[] = []
    for (const { change, events } of items) {
      try {
        results.push({ ok: true, document: await this.commit(change, events) })
      } catch (error) {
        results.push({ ok: false, error: error as Error })
      }
    }
    return results
  }

  #rows(of: Collection<never> | Collection<object>): Map<string, Row> {
    const rows = this.#collections.get(of.name) ?? new Map<string, Row>()
    this.#collections.set(of.name, rows)
    return rows
  }

  #apply<T extends object>(change: Change<T>): T & Stored {
    if ('insert' in change) {
      const rows = this.#rows(change.into)
      if (rows.has(change.insert.id)) throw new CommitConflict('exists', 'It exists')
      return this.#keep(rows, { ...structuredClone(change.insert), revision: 1 })
    }
    const rows = this.#rows(change.in)
    const id = 'replace' in change ? change.replace.id : 'update' in change ? change.update : change.tombstone
    const now = rows.get(id)
    if (!now) throw new CommitConflict('absent', 'It does not exist')
    if ('where' in change && !matcher(change.where)(now)) throw new CommitConflict('guard', 'The condition does not hold')
    if ('tombstone' in change) {
      rows.delete(id)
      return now as T & Stored
    }
    if ('replace' in change) return this.#keep(rows, { ...structuredClone(change.replace), revision: now.revision + 1 })
    const next = structuredClone(now)
    applyUpdate(next, change)
    return this.#keep(rows, { ...next, revision: now.revision + 1 } as T & Stored)
  }

  #keep<T extends object>(rows: Map<string, Row>, document: T & Stored): T & Stored {
    rows.set(document.id, Object.freeze(document))
    return document
  }
}
wire(MemoryDocuments, ClockPort, IdsPort)

/** Provides a fresh `MemoryDocuments`. */
export const memoryStore = definePlugin({
  id: 'documents.memory',
  summary: 'Documents in memory, for tests.',
  provides: [provide(DocumentStorePort, MemoryDocuments)],
})
