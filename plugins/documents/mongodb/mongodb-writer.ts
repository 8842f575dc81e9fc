import { randomBytes } from 'node:crypto'
import { type Collection, CommitConflict, type Stored, Taken, Unavailable } from 'pounce/sdk'
import { applyUpdate, type Change, checkId, matcher } from 'pounce/sdk/store-kit'
import { InsertBatcher } from './insert-batcher.ts'
import type { MongodbCatalog } from './mongodb-catalog.ts'
import type { MongodbConnection } from './mongodb-connection.ts'
import { isDuplicate } from './problems.ts'
import { encodeText, freeKeysOf, type OutboxEvent, partsOf, type RecordFormat, type StoredRecord, uniqueMember } from './record-format.ts'

/** A completed change. */
export interface WriteResult {
  readonly document: Stored
  /** Events that are now in the document. */
  readonly left: readonly OutboxEvent[]
  /** The document is deleted; while it has events left, its tombstone remains. */
  readonly isGone: boolean
  readonly before: Before
}

/**
 * What preceded a change of a document: nothing, a change by this kernel, a tombstone that was not read, or the IDs of the events that the document had when
 * read.
 */
export type Before = 'nothing' | 'own' | 'unread' | readonly string[]

/** The collection of a change. */
export const collectionOf = (change: Change): Collection<object> => ('insert' in change ? change.into : change.in)

/** The ID of the document that a change is about. */
export const idOf = (change: Change): string => {
  if ('insert' in change) return change.insert.id
  if ('replace' in change) return change.replace.id
  return 'update' in change ? change.update : change.tombstone
}

type Guarded = Extract<Change, { update: string } | { tombstone: string }>

/**
 * Creates the events of a change again for each attempt, so that their IDs rise with the revisions: they are greater than `after`, the ID of the document's
 * last event. A tombstone's events end with its marker.
 */
export type MakeEvents = (after?: string) => readonly OutboxEvent[]

/** Maximum number of documents whose latest state is cached, and maximum characters of each. */
const remembered = { documents: 500, characters: 32_768 }

interface State {
  readonly birth: string
  readonly revision: number
  readonly text: string
  /** IDs of events that the document had when read. */
  readonly earlier?: readonly string[]
  /** ID of the document's last event. */
  readonly last?: string | undefined
}

/** Documents of earlier versions have no `l`. */
const eventsIn = (ev: readonly Pick<OutboxEvent, 'id'>[], l: string | undefined) => {
  const earlier = ev.map(({ id }) => id)
  return { earlier, last: l ?? earlier.at(-1) }
}

const noEvents = eventsIn([], undefined)

const lastOf = (events: readonly OutboxEvent[]): { readonly l?: string } => {
  const last = events.at(-1)
  return last ? { l: last.id } : {}
}

/** Maximum attempts of a change that conflicts with other kernels: each conflict means that another change succeeded. */
const maxTries = 100

/**
 * Applies changes, each with one conditional write: a change is computed here from the current document, and applied only if that
 * still has the same revision. The last written state is cached, so that the next change of the same document need not read it.
 */
export class MongodbWriter {
  readonly #server: MongodbConnection
  readonly #catalog: MongodbCatalog
  readonly #inserts: InsertBatcher
  readonly #states = new Map<string, State>()

  constructor(server: MongodbConnection, catalog: MongodbCatalog) {
    this.#server = server
    this.#catalog = catalog
    this.#inserts = new InsertBatcher(server)
  }

  /** Throws the error for the caller. */
  async write(change: Change, makeEvents: MakeEvents): Promise<WriteResult> {
    const format = this.#catalog.formatForWriting(collectionOf(change))
    if ('insert' in change) return this.#insert(format, change.insert as Stored, makeEvents())
    if ('replace' in change) return this.#replace(format, change.replace, makeEvents)
    return this.#guarded(format, change, makeEvents)
  }

  async #insert(format: RecordFormat, input: Stored, events: readonly OutboxEvent[]): Promise<WriteResult> {
    checkId(input.id)
    const { id, revision: _, ...rest } = input
    const text = JSON.stringify({ id, revision: 1, ...rest })
    const document = JSON.parse(text) as Stored
    const birth = newBirth()
    const parts = { ...partsOf(format, document, text), b: birth }
    let inserted: 'new' | 'replaced' | undefined
    while (!inserted) inserted = await this.#insertOnce(format, id, parts, events)
    this.#remember(format, id, { birth, revision: 1, text, last: events.at(-1)?.id })
    return { document, left: events, isGone: false, before: inserted === 'new' ? 'nothing' : 'unread' }
  }

  /** Undefined when a tombstone with this ID has been deleted meanwhile. */
  async #insertOnce(
    format: RecordFormat,
    id: string,
    parts: Omit<StoredRecord, '_id' | 'ev'>,
    events: readonly OutboxEvent[],
  ): Promise<'new' | 'replaced' | undefined> {
    try {
      await this.#inserts.add(format.name, { _id: encodeText(id), ...parts, ...lastOf(events), ev: [...events] })
      return 'new'
    } catch (error) {
      if (!isDuplicate(error)) throw error
      if (await this.#find(format, id)) throw new CommitConflict('exists', `${format.name} already has ${id}`)
      const taken = takenBy(format, error)
      if (taken) throw taken
    }
    return (await this.#replaceTombstone(format, id, parts, events)) ? 'replaced' : undefined
  }

  /** A tombstone stays until its events are delivered. Returns false when there is none. */
  async #replaceTombstone(
    format: RecordFormat,
    id: string,
    parts: Omit<StoredRecord, '_id' | 'ev'>,
    events: readonly OutboxEvent[],
  ): Promise<boolean> {
    const update = { $set: { ...parts, ...lastOf(events) }, $unset: { gone: true as const }, $push: { ev: { $each: [...events] } } }
    try {
      return await this.#update(format, { _id: encodeText(id), gone: true }, update)
    } catch (error) {
      throw (isDuplicate(error) && takenBy(format, error)) || error
    }
  }

  async #replace(format: RecordFormat, input: Stored, makeEvents: MakeEvents): Promise<WriteResult> {
    const { id, revision, ...rest } = input
    const { earlier, last } = makeEvents().length === 0 ? noEvents : await this.#eventsOf(format, id)
    const events = makeEvents(last)
    const text = JSON.stringify({ id, revision: revision + 1, ...rest })
    const document = JSON.parse(text) as Stored
    const isDone = await this.#rewrite(format, { r: revision }, { document, text, events })
    // The revision is still the same, so no event was added after these were read.
    if (isDone) return { document, left: events, isGone: false, before: earlier }
    const found = await this.#read(format, id)
    throw new CommitConflict('revision', `${format.name} ${id} is at revision ${found.revision}, not ${revision}`)
  }

  async #guarded(format: RecordFormat, change: Guarded, makeEvents: MakeEvents): Promise<WriteResult> {
    const id = idOf(change)
    const known = this.#states.get(stateKey(format, id))
    // The cached state may be stale: only success proves that it was current.
    const first = known && (await this.#attempt(format, change, known, makeEvents).catch(unlessRefused))
    if (first) return first
    for (let tries = 1; tries <= maxTries; tries++) {
      const written = await this.#attempt(format, change, await this.#read(format, id), makeEvents)
      if (written) return written
    }
    throw new Unavailable(`${format.name} ${id} changes too often`)
  }

  /** Undefined when the document has a different revision. */
  async #attempt(
    format: RecordFormat,
    change: Guarded,
    { birth, revision, text: old, earlier, last }: State,
    makeEvents: MakeEvents,
  ): Promise<WriteResult | undefined> {
    const document = JSON.parse(old) as Stored & { revision: number }
    const before = earlier ?? 'own'
    if (!matcher(change.where)(document)) {
      throw new CommitConflict('guard', `${format.name} ${document.id} is not in the state this needs`)
    }
    if ('tombstone' in change) {
      const removed = await this.#remove(format, document, birth, makeEvents(last))
      return removed && { ...removed, before }
    }
    applyUpdate(document, change)
    document.revision = revision + 1
    const text = JSON.stringify(document)
    const left = makeEvents(last)
    const isDone = await this.#rewrite(format, { r: revision, b: birth }, { document, text, events: left })
    if (!isDone) return undefined
    // Events of this change wait for the earlier ones, and those of the next change wait for these.
    const state = { birth, revision: document.revision, text, last: left.at(-1)?.id ?? last }
    this.#remember(format, document.id, { ...state, ...(left.length === 0 && earlier && { earlier }) })
    return { document: JSON.parse(text) as Stored, left, isGone: false, before }
  }

  /** False when the document has a different revision or does not exist. */
  async #rewrite(
    format: RecordFormat,
    state: { readonly r: number; readonly b?: string },
    { document, text, events }: { readonly document: Stored; readonly text: string; readonly events: readonly OutboxEvent[] },
  ): Promise<boolean> {
    const parts = partsOf(format, document, text)
    const update = events.length > 0 ? { $set: { ...parts, ...lastOf(events) }, $push: { ev: { $each: [...events] } } } : { $set: parts }
    this.#states.delete(stateKey(format, document.id))
    try {
      return await this.#update(format, { _id: encodeText(document.id), ...state }, update)
    } catch (error) {
      throw (isDuplicate(error) && takenBy(format, error)) || error
    }
  }

  /** Without pending events the document is deleted at once; otherwise it becomes a tombstone, invisible to reads and unique keys. */
  async #remove(
    format: RecordFormat,
    document: Stored,
    birth: string,
    events: readonly OutboxEvent[],
  ): Promise<Omit<WriteResult, 'before'> | undefined> {
    const { id, revision } = document
    this.#states.delete(stateKey(format, id))
    const filter = { _id: encodeText(id), r: revision, b: birth }
    if (events.length === 1) {
      const { deletedCount } = await this.#server.use(() => this.#collection(format).deleteOne({ ...filter, ev: { $size: 0 } }))
      if (deletedCount > 0) return { document, left: [], isGone: true }
    }
    const set = { gone: true, u: freeKeysOf(format, id), ...lastOf(events) }
    const update = { $set: set, $unset: { r: true, b: true, f: true, d: true, k: true }, $push: { ev: { $each: [...events] } } }
    return (await this.#update(format, filter, update)) ? { document, left: events, isGone: true } : undefined
  }

  async #update(format: RecordFormat, filter: object, update: object): Promise<boolean> {
    const { matchedCount } = await this.#server.use(() => this.#collection(format).updateOne(filter, update))
    return matchedCount > 0
  }

  async #read(format: RecordFormat, id: string): Promise<State> {
    const found = await this.#find(format, id)
    if (found === undefined) throw new CommitConflict('absent', `${format.name} has no ${id}`)
    return found
  }

  async #find(format: RecordFormat, id: string): Promise<State | undefined> {
    const options = { projection: { r: 1, b: 1, d: 1, 'ev.id': 1, l: 1 } }
    const kept = await this.#server.use(() => this.#collection(format).findOne({ _id: encodeText(id) }, options))
    if (kept?.d === undefined || kept.r === undefined) return undefined
    return { birth: kept.b ?? '', revision: kept.r, text: kept.d, ...eventsIn(kept.ev, kept.l) }
  }

  async #eventsOf(format: RecordFormat, id: string): Promise<Required<Pick<State, 'earlier' | 'last'>>> {
    const options = { projection: { 'ev.id': 1, l: 1 } }
    const kept = await this.#server.use(() => this.#collection(format).findOne({ _id: encodeText(id) }, options))
    return eventsIn(kept?.ev ?? [], kept?.l)
  }

  #collection(format: RecordFormat) {
    return this.#server.collection<StoredRecord>(format.name)
  }

  #remember(format: RecordFormat, id: string, state: State): void {
    const key = stateKey(format, id)
    this.#states.delete(key)
    if (state.text.length > remembered.characters) return
    this.#states.set(key, state)
    for (const oldest of this.#states.keys()) {
      if (this.#states.size <= remembered.documents) return
      this.#states.delete(oldest)
    }
  }
}

const process = randomBytes(6).toString('hex')
let births = 0

/** Unique across all kernels. */
const newBirth = (): string => `${process}${(++births).toString(36)}`

const stateKey = ({ name }: RecordFormat, id: string): string => `${name}/${id}`

/** A conflict with the cached state is retried; any other error is final. */
const unlessRefused = (error: unknown): undefined => {
  if (error instanceof CommitConflict || (error instanceof Error && error.name === 'Invalid')) return undefined
  throw error
}

/** The unique index of a duplicate key; undefined when it is the ID. */
const takenBy = (format: RecordFormat, error: unknown): Taken | undefined => {
  const index = / index: (.+?) dup key: /.exec(error instanceof Error ? error.message : '')?.[1]
  const found = format.unique.find(one => uniqueMember(...one) === index)
  if (found === undefined) return undefined
  const [name, { on }] = found
  return new Taken(name, `${on.join(', ')} is already in use`)
}
