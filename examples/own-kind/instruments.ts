import {
  type After,
  Clock,
  CommitConflict,
  collection,
  DocumentStore,
  defineResource,
  eq,
  event,
  Ids,
  type NewEvent,
  NotFound,
  type Page,
  type Ref,
  type Stored,
  type StoredEvent,
  wire,
} from 'pounce/sdk'
import { createdBy, removeFound, transferred, updateWithRetry } from 'pounce/sdk/kit'

/** Type declarations that correspond to the definition below. */
declare module 'pounce/sdk/kit' {
  interface PluginKinds {
    instrument: true
  }
  interface PluginPermissions {
    ViewInstrument: true
    EditInstrument: true
  }
}
declare module 'pounce/sdk' {
  interface EventMap {
    'instrument.created': Readonly<Record<never, never>>
    'instrument.updated': { readonly fields: readonly string[] }
    'instrument.removed': { readonly name: string; readonly within: readonly Ref[] }
  }
}

interface InstrumentRecord {
  readonly name: string
  readonly description: string
  readonly model: string
  readonly space: string
  readonly author: string
  readonly created: string
}
export type Instrument = InstrumentRecord & Stored

const instruments = collection<InstrumentRecord>()('example.instruments', {
  byCreated: { on: ['created'] },
  bySpace: { on: ['space', 'name'] },
  byAuthor: { on: ['author', 'created'] },
})

const space = (id: string): Ref => ({ kind: 'space', id })

/** An instrument has the rights of its space; its creator has all permissions. */
export const instrumentResource = defineResource<InstrumentRecord>({
  kind: 'instrument',
  collection: instruments,
  view: 'ViewInstrument',
  rights: ({ author, space: id }) => ({ author, spaces: [], isPublic: false, state: 'live', parents: [space(id)] }),
  name: ({ name }) => name,
  events: ['instrument.created', 'instrument.updated', 'instrument.removed'],
  counts: { space: id => ({ using: 'bySpace', where: eq('space', id) }) },
  tree: { sort: { by: 'name', order: 'ascending' }, node: ({ name, author }) => ({ name, data: { authorId: author } }), isLeaf: true },
  search: {
    using: 'byCreated',
    entry: ({ name, description, model, author, created, space: id }) => ({
      ...{ name, description, author, created },
      values: [{ field: 'instrument.model', value: model }],
      within: [space(id)],
    }),
  },
  personalData: {
    name: 'instruments',
    summary: 'Instruments that you added.',
    ...createdBy<InstrumentRecord>('name', 'description', 'model', 'created'),
    erase: transferred(),
  },
})

const removed = ({ id, name, space: where }: Instrument, actor?: string): NewEvent =>
  event('instrument.removed', { kind: 'instrument', id }, { name, within: [space(where)] }, actor)

/** The user-editable members of an instrument. */
export type InstrumentText = Pick<InstrumentRecord, 'name' | 'description' | 'model'>

/** Stores instruments in the document store; each change is one commit together with its event. */
export class Instruments {
  readonly #documents: DocumentStore
  readonly #ids: Ids
  readonly #clock: Clock

  constructor(documents: DocumentStore, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#ids = ids
    this.#clock = clock
  }

  get(id: string): Promise<Instrument | undefined> {
    return this.#documents.get(instruments, id)
  }

  of(where: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<Instrument>> {
    const sort = { by: 'name', order: 'ascending' } as const
    return this.#documents.find(instruments, { using: 'bySpace', where: eq('space', where), sort, ...page })
  }

  async add(text: InstrumentText, where: string, author: string): Promise<Instrument> {
    const id = this.#ids.next()
    const created = this.#clock.now().toISOString()
    const insert = { id, ...text, space: where, author, created }
    return this.#documents.commit({ insert, into: instruments }, [event('instrument.created', { kind: 'instrument', id }, {}, author)])
  }

  async change(id: string, text: Partial<InstrumentText>, actor: string): Promise<void> {
    await updateWithRetry(this.#documents, instruments, { kind: 'instrument', id }, now => {
      const fields = (Object.keys(text) as (keyof InstrumentText)[]).filter(field => text[field] !== now[field])
      if (fields.length === 0) return undefined
      return { set: text, events: [event('instrument.updated', { kind: 'instrument', id }, { fields }, actor)] }
    })
  }

  async remove(id: string, actor: string): Promise<void> {
    const found = await this.get(id)
    try {
      if (found) await this.#documents.commit({ tombstone: id, in: instruments }, [removed(found, actor)])
    } catch (error) {
      throw error instanceof CommitConflict ? new NotFound('instrument', { cause: error }) : error
    }
  }
}
wire(Instruments, DocumentStore, Ids, Clock)

/** Deletes instruments with their space. */
export class RemoveInstruments {
  readonly #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async handle({ subject, actor }: StoredEvent<'space.removed'>): Promise<void> {
    await removeFound(this.#documents, instruments, {
      using: 'bySpace',
      where: eq('space', subject.id),
      events: instrument => [removed(instrument, actor)],
    })
  }
}
wire(RemoveInstruments, DocumentStore)
