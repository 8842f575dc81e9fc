import { randomUUID } from 'node:crypto'
import { and, Clock, eq, Log, or, range, wire } from 'pounce/sdk'
import type { Webhook } from './records.ts'
import { StoredWebhooks } from './stored-webhooks.ts'

/** Lifetime of a claim that is not renewed: how long another kernel waits after one was killed. */
const [claimMs, renewMs] = [15_000, 5000]

/** Claims webhooks, so that one kernel at a time delivers to each. */
export class WebhookClaims {
  readonly #webhooks: StoredWebhooks
  readonly #clock: Clock
  readonly #log: Log
  readonly #kernel = randomUUID()

  constructor(webhooks: StoredWebhooks, clock: Clock, log: Log) {
    this.#webhooks = webhooks
    this.#clock = clock
    this.#log = log
  }

  /** Undefined when another kernel holds the claim, or the webhook is paused. */
  async claim(id: string): Promise<Webhook | undefined> {
    const now = this.#clock.now()
    const after = (ms: number): string => new Date(now.getTime() + ms).toISOString()
    // A claim that ends after two lifetimes is from before the clock was set back.
    const isOver = or(range('claimedUntil', { lt: after(0) }), range('claimedUntil', { gt: after(2 * claimMs) }))
    const isFree = or(eq('claimedBy', null), eq('claimedBy', this.#kernel), isOver)
    const set = { claimedBy: this.#kernel, claimedUntil: after(claimMs) }
    return this.#webhooks.update(id, { where: and(eq('isActive', true), isFree), set })
  }

  /** Renews the claim while `work` runs. */
  async renewing<T>(id: string, work: () => Promise<T>): Promise<T> {
    const timer = setInterval(() => {
      this.claim(id).catch((error: unknown) => this.#log.debug('Failed to renew the claim of a webhook', { webhook: id, error }))
    }, renewMs).unref()
    try {
      return await work()
    } finally {
      clearInterval(timer)
    }
  }

  async release(id: string): Promise<void> {
    await this.#webhooks.update(id, { where: eq('claimedBy', this.#kernel), set: { claimedBy: null, claimedUntil: null } })
  }

  isMine({ claimedBy }: Webhook): boolean {
    return claimedBy === this.#kernel
  }
}
wire(WebhookClaims, StoredWebhooks, Clock, Log)
