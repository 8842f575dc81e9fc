import { Clock, CommitConflict, collection, DocumentStore, range, type Time, TooMany, wire } from 'pounce/sdk'
import { removeFound } from 'pounce/sdk/kit'

/** How often someone did something in an hour. Its id says who, what and which hour. */
interface QuotaRecord {
  readonly count: number
  readonly until: Time
}

export const quotas = collection<QuotaRecord>()('spaces.quotas', { byEnd: { on: ['until'] } })

const hourMs = 3_600_000

/** So many in an hour from one person, whichever kernels they reach. */
export class InvitationRateLimit {
  #documents: DocumentStore
  #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  /** Takes `amount` of what is left to a person; `TooMany`, and nothing is taken, when that is less. */
  async take(what: string, user: string, amount: number, perHour: number): Promise<void> {
    const now = this.#clock.now().getTime()
    const end = (Math.floor(now / hourMs) + 1) * hourMs
    const id = `${what}-${user}-${end / hourMs}`
    const refusal = new TooMany(`Limit of ${perHour} per hour reached; try again later`, Math.ceil((end - now) / 1000))
    if (amount > perHour) throw refusal
    for (;;) {
      try {
        const where = range('count', { lte: perHour - amount })
        await this.#documents.commit({ update: id, in: quotas, where, inc: { count: amount } })
        return
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
        if (error.reason === 'guard') throw refusal
      }
      try {
        await this.#documents.commit({ insert: { id, count: amount, until: new Date(end).toISOString() }, into: quotas })
        return
      } catch (error) {
        if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
      }
    }
  }

  /** Deletes past hours. */
  async run(signal: AbortSignal): Promise<void> {
    const where = range('until', { lte: this.#clock.now().toISOString() })
    await removeFound(this.#documents, quotas, { using: 'byEnd', where, signal })
  }
}
wire(InvitationRateLimit, DocumentStore, Clock)
