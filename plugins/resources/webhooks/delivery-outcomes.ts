import { Clock, DocumentStore, eq, Log, wire } from 'pounce/sdk'
import { requireDone } from 'pounce/sdk/kit'
import { Config, type Settings } from './config.ts'
import type { Outcome } from './delivery-sender.ts'
import { type DeliveryRecord, deliveries, type Webhook, type WebhookDelivery } from './records.ts'
import { StoredWebhooks } from './stored-webhooks.ts'

const dayMs = 86_400_000
const maxAttempts = 10
/** Number of webhooks whose cut responses are recorded, so that each is logged once. */
const maxCut = 10_000
/**
 * The first retry is after 2 s, then each delay is a quarter longer than the previous one, so that it stays a fraction of the outage; at
 * most an hour.
 */
const [firstRetryMs, retryFactor, maxRetryMs] = [2000, 1.25, 3_600_000]

/** Milliseconds until the next attempt after some failures, with ±20 % jitter. */
const retryPauseMs = (failures: number): number =>
  Math.round(Math.min(maxRetryMs, firstRetryMs * retryFactor ** Math.max(0, failures - 1)) * (0.8 + 0.4 * Math.random()))

/** A delivery that was tried. */
export interface TriedDelivery {
  readonly delivery: WebhookDelivery
  readonly outcome: Outcome
}

/** Records the outcomes of deliveries and the state of their targets. */
export class DeliveryOutcomes {
  readonly #settings: Settings
  readonly #documents: DocumentStore
  readonly #webhooks: StoredWebhooks
  readonly #clock: Clock
  readonly #log: Log
  /** Webhooks whose last response was cut. */
  readonly #cut = new Set<string>()

  constructor(settings: Settings, documents: DocumentStore, webhooks: StoredWebhooks, clock: Clock, log: Log) {
    this.#settings = settings
    this.#documents = documents
    this.#webhooks = webhooks
    this.#clock = clock
    this.#log = log
  }

  /** Records the attempts, so that received deliveries are not sent again. */
  async record(webhook: Webhook, results: readonly TriedDelivery[]): Promise<void> {
    this.#reportCut(webhook, results)
    const now = this.#clock.now().getTime()
    const changes = results.map(({ delivery, outcome }) => {
      const { attempt, isDelivered, retryAfterSeconds = 0 } = outcome
      const tries = delivery.tries + 1
      const isOver = now - Date.parse(delivery.since) >= this.#settings.retryDays * dayMs
      const pauseMs = Math.max(retryPauseMs(tries), retryAfterSeconds * 1000)
      const set = {
        tries,
        state: isDelivered ? 'delivered' : isOver ? 'failed' : 'waiting',
        ...(isDelivered ? {} : { dueAt: new Date(now + pauseMs).toISOString() }),
      } satisfies Partial<DeliveryRecord>
      const push = { attempts: { values: [attempt], keepLast: maxAttempts } }
      // One that was resent meanwhile is sent again.
      return { change: { update: delivery.id, in: deliveries, where: eq('revision', delivery.revision), set, push } }
    })
    if (changes.length > 0) requireDone(await this.#documents.commitEach(changes))
  }

  /** Records the state of the target. True when more may be due immediately. */
  async note(webhook: Webhook, results: readonly TriedDelivery[]): Promise<boolean> {
    const { id, url, failures, failingSince } = webhook
    const failed = results.filter(({ outcome }) => !outcome.isDelivered)
    const now = this.#clock.now()
    if (failed.some(({ outcome }) => outcome.isGone)) {
      await this.#webhooks.pause(webhook, 'gone')
      return false
    }
    const waitMs = Math.max(0, ...failed.map(({ outcome }) => (outcome.retryAfterSeconds ?? 0) * 1000))
    const retryAfter = waitMs > 0 ? new Date(now.getTime() + waitMs).toISOString() : null
    if (results.length > failed.length) {
      if (failures === 0 && retryAfter === null) return true
      if (failures > 0) this.#log.info('Webhook target reachable again', { webhook: id, host: new URL(webhook.url).host })
      const recovered = { failures: 0, failingSince: null, retryAt: null, recoveredAt: now.toISOString() }
      await this.#webhooks.update(id, { where: eq('url', url), set: { ...(failures > 0 && recovered), retryAfter } })
      return retryAfter === null
    }
    const since = failingSince ?? now.toISOString()
    if (now.getTime() - Date.parse(since) >= this.#settings.pauseAfterDays * dayMs) {
      this.#log.warn('Webhook paused: its target has been failing for too long', { webhook: id, since })
      await this.#webhooks.pause(webhook, 'failing')
      return false
    }
    const [last] = failed.toReversed()
    const pauseMs = Math.max(retryPauseMs(failures + 1), waitMs)
    if (failures === 0) {
      const { status, error } = last?.outcome.attempt ?? {}
      this.#log.warn('Webhook target failed; deliveries will be retried', { webhook: id, host: new URL(webhook.url).host, status, error })
    }
    const retryAt = new Date(now.getTime() + pauseMs).toISOString()
    const failing = { failures: failures + 1, failingSince: since, lastFailure: now.toISOString(), retryAt, retryAfter }
    await this.#webhooks.update(id, { where: eq('url', url), set: failing })
    return false
  }

  /** Logs once per webhook that its responses are cut, until one is not. */
  #reportCut({ id, url }: Webhook, results: readonly TriedDelivery[]): void {
    const isCut = results.some(({ outcome }) => outcome.isCut)
    if (isCut && !this.#cut.has(id)) this.#log.warn('Webhook response cut: too long or too slow', { webhook: id, host: new URL(url).host })
    if (this.#cut.size >= maxCut) this.#cut.clear()
    if (isCut) this.#cut.add(id)
    else if (results.length > 0) this.#cut.delete(id)
  }
}
wire(DeliveryOutcomes, Config, DocumentStore, StoredWebhooks, Clock, Log)
