import { Clock, CommitConflict, DocumentStore, type StoredEvent, Users, wire } from 'pounce/sdk'
import { digests, periodMs, wishOf } from './digest-record.ts'

const concerned = new Set(['notifications', 'status'])

/** Follows what people wish: who wants news gets a record, who does not has none. */
export class UpdateDigestOnUserUpdated {
  #documents: DocumentStore
  #users: Users
  #clock: Clock

  constructor(documents: DocumentStore, users: Users, clock: Clock) {
    this.#documents = documents
    this.#users = users
    this.#clock = clock
  }

  async handle({ subject: { id }, data: { fields } }: StoredEvent<'user.updated'>): Promise<void> {
    if (!fields.some(field => concerned.has(field))) return
    const [user, known] = await Promise.all([this.#users.get(id), this.#documents.get(digests, id)])
    const every = user && wishOf(user)
    if (every === known?.every) return
    try {
      if (!every) await this.#documents.commit({ tombstone: id, in: digests })
      else await this.#keep(id, every, known !== undefined)
    } catch (error) {
      // Another one was at it at the same moment, with what the account says now.
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  async #keep(id: string, every: 'hourly' | 'daily', isKnown: boolean): Promise<void> {
    const now = this.#clock.now()
    const due = new Date(now.getTime() + periodMs[every]).toISOString()
    if (isKnown) await this.#documents.commit({ update: id, in: digests, set: { every, due } })
    else await this.#documents.commit({ insert: { id, every, told: now.toISOString(), until: null, due }, into: digests })
  }
}
wire(UpdateDigestOnUserUpdated, DocumentStore, Users, Clock)
