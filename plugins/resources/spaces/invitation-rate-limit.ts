import { Clock, CommitConflict, collection, DocumentStore, range, type Time, TooMany, wire } from 'pounce/sdk'
import { durationText, removeFound } from 'pounce/sdk/kit'

/** How often an action was used in an hour. Its id contains the account, the action and the hour. */
interface QuotaRecord {
  readonly count: number
  readonly until: Time
}

export const quotas = collection<QuotaRecord>()('spaces.quotas', { byEnd: { on: ['until'] } })

const hourMs = 3_600_000

/** Limits actions per hour and account, across all kernels. */
export class InvitationRateLimit {
  #documents: DocumentStore
  #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  /** Takes `amount` from the remaining budget of a user; throws `TooMany`, and takes nothing, if less is left. */
  async take(what: string, user: string, amount: number, perHour: number): Promise<void> {
    const now = this.#clock.now().getTime()
    const end = (Math.floor(now / hourMs) + 1) * hourMs
    const id = `${what}-${user}-${end / hourMs}`
    const leftSeconds = Math.ceil((end - now) / 1000)
    if (amount > perHour) throw new TooMany(`At most ${perHour} per hour are allowed, not ${amount}`, leftSeconds)
    const refusal = new TooMany(`Limit of ${perHour} per hour reached; try again in ${durationText(leftSeconds)}`, leftSeconds)
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

  /** Deletes the records of past hours. */
  async run(signal: AbortSignal): Promise<void> {
    const where = range('until', { lte: this.#clock.now().toISOString() })
    await removeFound(this.#documents, quotas, { using: 'byEnd', where, signal })
  }
}
wire(InvitationRateLimit, DocumentStore, Clock)
