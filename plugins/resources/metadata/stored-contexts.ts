import {
  anonymousUserId,
  type Caller,
  Clock,
  CommitConflict,
  collection,
  DocumentStore,
  eq,
  Ids,
  type Json,
  NotFound,
  type Stored,
  type Time,
  wire,
} from 'pounce/sdk'
import { createdBy, personalRecords, requireServerAdmin, transferred } from 'pounce/sdk/kit'

/** A named context for documents to refer to. Contexts sent with documents are stored in the documents. */
export interface ContextRecord {
  readonly name: string
  readonly context: Json
  readonly author: string
  readonly created: Time
}

export const contexts = collection<ContextRecord>()('metadata-contexts', { byName: { on: ['name', 'created'] } })

/** Named contexts in the document store. */
export class StoredContexts {
  #documents: DocumentStore
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#ids = ids
    this.#clock = clock
  }

  /** Returns the id. Several contexts may have one name. */
  async add(name: string, context: Json, caller: Caller): Promise<string> {
    const record = { name, context, author: caller.user?.id ?? anonymousUserId, created: this.#clock.now().toISOString() }
    return (await this.#documents.commit({ insert: { id: this.#ids.next(), ...record }, into: contexts })).id
  }

  get(id: string): Promise<(ContextRecord & Stored) | undefined> {
    return this.#documents.get(contexts, id)
  }

  /** The oldest context with a name. */
  async named(name: string): Promise<(ContextRecord & Stored) | undefined> {
    const { items } = await this.#documents.find(contexts, {
      using: 'byName',
      where: eq('name', name),
      sort: { by: 'created', order: 'ascending' },
      limit: 1,
    })
    return items[0]
  }

  /** For the creator and server admins. Throws `NotFound` when it is deleted. */
  async remove(id: string, caller: Caller): Promise<void> {
    const context = await this.get(id)
    if (!context) throw new NotFound('context')
    if (context.author !== caller.user?.id) requireServerAdmin(caller, 'Only the creator of this context or a server admin may delete it')
    try {
      await this.#documents.commit({ tombstone: id, in: contexts })
    } catch (error) {
      if (error instanceof CommitConflict) throw new NotFound('context', { cause: error })
      throw error
    }
  }
}
wire(StoredContexts, DocumentStore, Ids, Clock)

export const PersonalContexts = personalRecords({
  name: 'metadata-contexts',
  summary: 'Named metadata contexts that you created.',
  in: contexts,
  ...createdBy<ContextRecord>('name', 'context', 'created'),
  erase: transferred(),
})
