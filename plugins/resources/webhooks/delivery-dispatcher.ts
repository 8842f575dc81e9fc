import { and, Clock, DocumentStore, eq, Installation, Log, type PublicEvent, PublicEvents, range, wire } from 'pounce/sdk'
import { requireDone, Semaphore } from 'pounce/sdk/kit'
import { Config, type Settings } from './config.ts'
import { DeliveryOutcomes, type TriedDelivery } from './delivery-outcomes.ts'
import { DeliverySender, type Outcome } from './delivery-sender.ts'
import { DueDeliveries } from './due-deliveries.ts'
import { deliveries, type Webhook, type WebhookDelivery, webhooks } from './records.ts'
import { type Signer, WebhookSigner } from './signer.ts'
import { StoredWebhooks } from './stored-webhooks.ts'
import { WebhookClaims } from './webhook-claims.ts'
import { WebhookOwners } from './webhook-owners.ts'

const pollMs = 1000
/** A new event during an outage of the target is tried after this time: the target may be available again. */
const probeMs = 5000
/** How long a server that is stopping waits for responses to sent messages, which would be sent again otherwise. */
const stopGraceMs = 3000
/** Maximum age of the check of a webhook and of its owner's rights when a delivery starts. */
const maxCheckAgeMs = 1000
/** How many owners of webhooks whose targets respond slowly can use all deliveries in progress. */
const minOwners = 4

/** The state of one round of deliveries. */
interface DeliveryRound {
  readonly webhook: Webhook
  /** Deliveries that have not started. */
  readonly pending: Set<WebhookDelivery>
  readonly results: TriedDelivery[]
  /** Checks again if the last check is too old. Undefined when nothing may be sent any more. */
  signer(): Promise<Signer | undefined>
}

/** Sends waiting deliveries: for each webhook in order per subject, several subjects concurrently, while its target responds. */
export class DeliveryDispatcher {
  readonly #settings: Settings
  readonly #documents: DocumentStore
  readonly #webhooks: StoredWebhooks
  readonly #events: PublicEvents
  readonly #owners: WebhookOwners
  readonly #claims: WebhookClaims
  readonly #due: DueDeliveries
  readonly #outcomes: DeliveryOutcomes
  readonly #sender: DeliverySender
  readonly #signer: WebhookSigner
  readonly #installation: Installation
  readonly #clock: Clock
  readonly #log: Log
  /** Aborted when the server is stopping: nothing more is sent. */
  readonly #stopped = new AbortController()
  /** Aborted `stopGraceMs` later: responses are no longer awaited. */
  readonly #interrupted = new AbortController()
  readonly #running = new Map<string, Promise<void>>()
  readonly #woken = new Set<string>()
  readonly #slots: Semaphore
  /** By host. */
  readonly #targets: KeyedSemaphores
  /** By owner. */
  readonly #shares: KeyedSemaphores
  #poll: NodeJS.Timeout | undefined
  #finding: Promise<void> | undefined

  constructor(
    settings: Settings,
    documents: DocumentStore,
    stored: StoredWebhooks,
    events: PublicEvents,
    owners: WebhookOwners,
    claims: WebhookClaims,
    due: DueDeliveries,
    outcomes: DeliveryOutcomes,
    sender: DeliverySender,
    signer: WebhookSigner,
    installation: Installation,
    clock: Clock,
    log: Log,
  ) {
    this.#settings = settings
    this.#documents = documents
    this.#webhooks = stored
    this.#events = events
    this.#owners = owners
    this.#claims = claims
    this.#due = due
    this.#outcomes = outcomes
    this.#sender = sender
    this.#signer = signer
    this.#installation = installation
    this.#clock = clock
    this.#log = log
    this.#slots = new Semaphore({ max: settings.maxConcurrent })
    this.#targets = new KeyedSemaphores(settings.maxConcurrentPerTarget)
    this.#shares = new KeyedSemaphores(Math.ceil(settings.maxConcurrent / minOwners))
  }

  start(): void {
    if (!this.#installation.roles.has('worker')) return
    this.#poll = setInterval(() => {
      this.#finding ??= this.#findWaiting().finally(() => {
        this.#finding = undefined
      })
    }, pollMs).unref()
  }

  async dispose(): Promise<void> {
    this.#stopped.abort(new Error('the server is stopping'))
    clearInterval(this.#poll)
    const interruption = setTimeout(() => this.#interrupted.abort(new Error('the server is stopping')), stopGraceMs)
    await this.#finding
    await Promise.all(this.#running.values())
    clearTimeout(interruption)
  }

  /** Deliveries of a webhook may be due. */
  wake(webhook: string): void {
    if (this.#stopped.signal.aborted || !this.#installation.roles.has('worker')) return
    if (this.#running.has(webhook)) {
      this.#woken.add(webhook)
      return
    }
    const work = this.#deliver(webhook).finally(() => {
      this.#running.delete(webhook)
      if (this.#woken.delete(webhook)) this.wake(webhook)
    })
    this.#running.set(webhook, work)
  }

  /** Sends one event immediately, ahead of waiting deliveries, and does not record it. */
  async test(webhook: Webhook, id: string, event: Pick<PublicEvent, 'event'>): Promise<Outcome> {
    return this.#sender.send(webhook.url, id, event, await this.#signer.signerOf(webhook), this.#interrupted.signal)
  }

  /** Finds webhooks with waiting deliveries, one read each. */
  async #findWaiting(): Promise<void> {
    try {
      let last = ''
      while (!this.#stopped.signal.aborted) {
        const where = and(eq('state', 'waiting'), range('webhook', { gt: last }))
        const sort = { by: 'webhook', order: 'ascending' } as const
        const [next] = (await this.#documents.find(deliveries, { using: 'byWaiting', where, sort, limit: 1 })).items
        if (!next) return
        last = next.webhook
        this.wake(last)
      }
    } catch (error) {
      this.#log.debug('Failed to look for waiting deliveries', { error })
    }
  }

  async #deliver(id: string): Promise<void> {
    try {
      for (;;) {
        const known = await this.#documents.get(webhooks, id)
        if (!known || !this.#isReady(known)) return
        const webhook = await this.#claims.claim(id)
        if (!webhook) return
        const hasMore = !this.#stopped.signal.aborted && (await this.#claims.renewing(id, () => this.#round(webhook)))
        if (!hasMore) return await this.#claims.release(id)
      }
    } catch (error) {
      if (!this.#stopped.signal.aborted) this.#log.warn('Webhook deliveries interrupted; they will continue', { webhook: id, error })
    }
  }

  /** Whether it may be tried now. */
  #isReady({ isActive, retryAfter, retryAt, lastFailure }: Webhook): boolean {
    const now = this.#clock.now().getTime()
    // A failure in the future is from before the clock was set back: its times are void.
    if (isActive && lastFailure !== null && Date.parse(lastFailure) > now) return true
    if (!isActive || (retryAfter && Date.parse(retryAfter) > now)) return false
    return retryAt === null || Date.parse(retryAt) <= now || lastFailure === null || Date.parse(lastFailure) + probeMs <= now
  }

  /** Sends due deliveries, at most a hundred. False when nothing more is due now. */
  async #round(webhook: Webhook): Promise<boolean> {
    const due = await this.#due.of(webhook)
    if (due.length === 0) return false
    const round = this.#newRound(webhook, due)
    if (!(await round.signer())) return false
    try {
      await this.#targets.lend(new URL(webhook.url).host, target =>
        this.#shares.lend(webhook.owner, share => this.#sendAll(round, target, share)),
      )
    } finally {
      await this.#outcomes.record(webhook, round.results)
    }
    return round.results.length === 0 ? round.pending.size === 0 : this.#outcomes.note(webhook, round.results)
  }

  #newRound(webhook: Webhook, due: readonly WebhookDelivery[]): DeliveryRound {
    const pending = new Set(due)
    let last: { readonly at: number; readonly signer: Promise<Signer | undefined> } | undefined
    const signer = () => {
      const now = performance.now()
      if (!last || now - last.at >= maxCheckAgeMs) last = { at: now, signer: this.#check(webhook, pending) }
      return last.signer
    }
    return { webhook, pending, results: [], signer }
  }

  /**
   * The signer of a webhook that still delivers to the same URL; otherwise undefined. A webhook whose owner lacks the rights is paused. Drops
   * pending deliveries that the owner may not receive now.
   */
  async #check({ id, url }: Webhook, pending: Set<WebhookDelivery>): Promise<Signer | undefined> {
    const webhook = await this.#documents.get(webhooks, id)
    if (!webhook?.isActive || !this.#claims.isMine(webhook) || webhook.url !== url) return undefined
    const caller = await this.#owners.callerOf(webhook)
    if (!caller) {
      if (!(await this.#owners.hasLostSpace(webhook))) await this.#webhooks.pause(webhook, 'owner-without-rights')
      return undefined
    }
    const signer = await this.#signer.signerOf(webhook)
    if (!signer.canSign) {
      await this.#webhooks.pause(webhook, 'owner')
      return undefined
    }
    const events = [...pending].map(({ event }) => event)
    const receivable = new Set(await this.#events.receivable(caller, events, webhook.filter))
    const dropped = [...pending].filter(({ event }) => !receivable.has(event))
    for (const delivery of dropped) pending.delete(delivery)
    if (dropped.length > 0)
      requireDone(
        await this.#documents.commitEach(dropped.map(({ id: delivery }) => ({ change: { tombstone: delivery, in: deliveries } }))),
      )
    return signer
  }

  /**
   * Subjects concurrently, each in order. A failure ends the deliveries of its subject; failures without a success, or a target that asks to
   * wait, end the whole round.
   */
  async #sendAll({ webhook, pending, results, signer }: DeliveryRound, target: Semaphore, share: Semaphore): Promise<void> {
    const isOver = () =>
      this.#stopped.signal.aborted ||
      results.some(({ outcome }) => outcome.retryAfterSeconds !== undefined) ||
      (results.length >= this.#settings.maxConcurrentPerTarget && !results.some(({ outcome }) => outcome.isDelivered))
    const send = async (delivery: WebhookDelivery): Promise<Outcome | undefined> => {
      const current = isOver() ? undefined : await signer()
      if (!current || isOver() || !pending.delete(delivery)) return undefined
      return this.#sender.send(webhook.url, delivery.id, delivery.event, current, this.#interrupted.signal)
    }
    const chains = Map.groupBy(pending, ({ event }) => event.event.subject)
    const ended = await Promise.allSettled(
      [...chains.values()].map(chain =>
        target.use(async () => {
          for (const delivery of chain) {
            const outcome = await share.use(() => this.#slots.use(() => send(delivery)))
            if (!outcome || (this.#interrupted.signal.aborted && !outcome.isDelivered)) return
            results.push({ delivery, outcome })
            if (!outcome.isDelivered) return
          }
        }),
      ),
    )
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  }
}
wire(
  DeliveryDispatcher,
  Config,
  DocumentStore,
  StoredWebhooks,
  PublicEvents,
  WebhookOwners,
  WebhookClaims,
  DueDeliveries,
  DeliveryOutcomes,
  DeliverySender,
  WebhookSigner,
  Installation,
  Clock,
  Log,
)

/** A semaphore for each key, retained while it is lent. */
class KeyedSemaphores {
  readonly #max: number
  readonly #lent = new Map<string, { readonly semaphore: Semaphore; users: number }>()

  constructor(max: number) {
    this.#max = max
  }

  async lend<T>(key: string, work: (semaphore: Semaphore) => Promise<T>): Promise<T> {
    const one = this.#lent.get(key) ?? { semaphore: new Semaphore({ max: this.#max }), users: 0 }
    one.users += 1
    this.#lent.set(key, one)
    try {
      return await work(one.semaphore)
    } finally {
      one.users -= 1
      if (one.users === 0) this.#lent.delete(key)
    }
  }
}
