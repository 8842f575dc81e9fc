import { type After, and, Clock, DocumentStore, eq, wire } from 'pounce/sdk'
import { deliveries, type Webhook, type WebhookDelivery } from './records.ts'

const maxBatch = 100
/** Maximum number of deliveries skipped because they are not due, or wait behind one of the same subject. */
const maxSkipped = 5000
const pageSize = 200

/** Finds the deliveries of a webhook that may be sent now. */
export class DueDeliveries {
  readonly #documents: DocumentStore
  readonly #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  /** At most a hundred; while the target fails, at most one. */
  of(webhook: Webhook): Promise<readonly WebhookDelivery[]> {
    return webhook.failures > 0 ? this.#probe(webhook) : this.#due(webhook)
  }

  /** Due deliveries in the order of their events; within a subject none overtakes another. */
  async #due({ id, recoveredAt }: Webhook): Promise<readonly WebhookDelivery[]> {
    const now = this.#clock.now().toISOString()
    const due: WebhookDelivery[] = []
    const blockedSubjects = new Set<string>()
    let after: After | undefined
    for (let skipped = 0; skipped < maxSkipped; skipped += pageSize) {
      const page = await this.#waiting(id, pageSize, after)
      for (const delivery of page.items) {
        const { event, since, dueAt, attempts } = delivery
        const lastTry = attempts.at(-1)?.at
        // Times in the future are from before the clock was set back.
        const isDue = dueAt <= now || (lastTry ?? since) > now || (recoveredAt !== null && (lastTry ?? '') < recoveredAt)
        if (blockedSubjects.has(event.event.subject)) continue
        if (isDue) due.push(delivery)
        else blockedSubjects.add(event.event.subject)
        if (due.length === maxBatch) return due
      }
      after = page.next
      if (!after) break
    }
    return due
  }

  /** One delivery that probes the target: the one with the fewest attempts among the first of each subject. */
  async #probe({ id, retryAt, lastFailure }: Webhook): Promise<readonly WebhookDelivery[]> {
    const { items } = await this.#waiting(id, pageSize)
    const first = [...new Map(items.toReversed().map(delivery => [delivery.event.event.subject, delivery])).values()]
    const now = this.#clock.now().toISOString()
    const isDue = retryAt === null || retryAt <= now || (lastFailure ?? '') > now
    const candidates = isDue ? first : first.filter(({ tries }) => tries === 0)
    return candidates.toSorted((one, other) => one.tries - other.tries || (one.id < other.id ? -1 : 1)).slice(0, 1)
  }

  #waiting(webhook: string, limit: number, after?: After) {
    const where = and(eq('webhook', webhook), eq('state', 'waiting'))
    return this.#documents.find(deliveries, { using: 'byState', where, limit, ...(after && { after }) })
  }
}
wire(DueDeliveries, DocumentStore, Clock)
