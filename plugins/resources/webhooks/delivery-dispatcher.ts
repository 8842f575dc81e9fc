import { randomUUID } from 'node:crypto'
import {
  type After,
  and,
  type Caller,
  Clock,
  CommitConflict,
  DocumentStore,
  eq,
  Installation,
  Log,
  or,
  Policy,
  type PublicEvent,
  PublicEvents,
  range,
  Users,
  wire,
} from 'pounce/sdk'
import { requireDone, Semaphore } from 'pounce/sdk/kit'
import type { Change } from 'pounce/sdk/store-kit'
import { Config, type Settings } from './config.ts'
import { DeliverySender, type Outcome } from './delivery-sender.ts'
import { type DeliveryRecord, deliveries, type Webhook, type WebhookDelivery, type WebhookRecord, webhooks } from './records.ts'
import { type Signer, WebhookSigner } from './signer.ts'
import { StoredWebhooks } from './stored-webhooks.ts'

const pollMs = 1000
/** Lifetime of a claim that is not renewed: how long another kernel waits after one was killed. */
const [claimMs, renewMs] = [15_000, 5000]
const dayMs = 86_400_000
const maxBatch = 100
/** Maximum number of deliveries skipped because they are not due, or wait behind one of the same subject. */
const maxPassedOver = 5000
const pageSize = 200
const maxAttemptsKept = 10
/** Number of webhooks whose cut responses are recorded, so that each is logged once. */
const maxCutRemembered = 10_000
/**
 * The first retry is after 2 s, then each delay is a quarter longer than the previous one, so that it stays a fraction of the outage; at
 * most an hour.
 */
const [firstRetryMs, retryFactor, maxRetryMs] = [2000, 1.25, 3_600_000]
/** A new event during an outage of the target is tried after this time: the target may be available again. */
const probeMs = 5000
/** How long a server that is stopping waits for responses to sent messages, which would be sent again otherwise. */
const stopGraceMs = 3000
/** Maximum age of the check of a webhook and of its owner's rights when a delivery starts. */
const maxCheckAgeMs = 1000

/** Milliseconds until the next attempt after some failures, with ±20 % jitter. */
export const retryPauseMs = (failures: number, random: () => number = Math.random): number =>
  Math.round(Math.min(maxRetryMs, firstRetryMs * retryFactor ** Math.max(0, failures - 1)) * (0.8 + 0.4 * random()))

interface Result {
  readonly delivery: WebhookDelivery
  readonly outcome: Outcome
}

/** The state of one round of deliveries. */
interface Round {
  readonly webhook: Webhook
  /** Deliveries that have not started. */
  readonly pending: Set<WebhookDelivery>
  readonly results: Result[]
  /** Checks again if the last check is too old. Undefined when nothing may be sent any more. */
  signer(): Promise<Signer | undefined>
}

/** The owners of webhooks and their rights. */
export class WebhookOwners {
  readonly #users: Users
  readonly #policy: Policy

  constructor(users: Users, policy: Policy) {
    this.#users = users
    this.#policy = policy
  }

  /** The owner with their current rights; undefined for one who may no longer have such a webhook. */
  async callerOf({ owner, scope, space }: Webhook): Promise<Caller | undefined> {
    const user = await this.#users.get(owner)
    if (!user || user.status === 'Inactive') return undefined
    const caller = await this.#users.callerOf(user)
    if (scope === 'person') return caller
    if (scope === 'server') return user.status === 'Admin' ? { ...caller, superAdmin: true } : undefined
    return (await this.#policy.canOn(caller, 'EditSpace', { kind: 'space', id: space ?? '' })) === 'yes' ? caller : undefined
  }
}
wire(WebhookOwners, Users, Policy)

/** Sends waiting deliveries: for each webhook in order per subject, several subjects concurrently, while its target responds. */
export class DeliveryDispatcher {
  readonly #settings: Settings
  readonly #documents: DocumentStore
  readonly #webhooks: StoredWebhooks
  readonly #events: PublicEvents
  readonly #owners: WebhookOwners
  readonly #sender: DeliverySender
  readonly #signer: WebhookSigner
  readonly #installation: Installation
  readonly #clock: Clock
  readonly #log: Log
  readonly #kernel = randomUUID()
  /** Aborted when the server is stopping: nothing more is sent. */
  readonly #stopped = new AbortController()
  /** Aborted `stopGraceMs` later: responses are no longer awaited. */
  readonly #interrupted = new AbortController()
  readonly #running = new Map<string, Promise<void>>()
  readonly #woken = new Set<string>()
  readonly #slots: Semaphore
  readonly #targets = new Map<string, Semaphore>()
  /** Webhooks whose last response was cut. */
  readonly #cut = new Set<string>()
  #poll: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined

  constructor(
    settings: Settings,
    documents: DocumentStore,
    stored: StoredWebhooks,
    events: PublicEvents,
    owners: WebhookOwners,
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
    this.#sender = sender
    this.#signer = signer
    this.#installation = installation
    this.#clock = clock
    this.#log = log
    this.#slots = new Semaphore({ max: settings.maxConcurrent })
  }

  start(): void {
    if (!this.#installation.roles.has('worker')) return
    this.#poll = setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined
      })
    }, pollMs).unref()
  }

  async dispose(): Promise<void> {
    this.#stopped.abort(new Error('the server is stopping'))
    clearInterval(this.#poll)
    const interruption = setTimeout(() => this.#interrupted.abort(new Error('the server is stopping')), stopGraceMs)
    await this.#looking
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
  async #look(): Promise<void> {
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
        const webhook = await this.#claim(id)
        if (!webhook) return
        const hasMore = !this.#stopped.signal.aborted && (await this.#renewing(id, () => this.#round(webhook)))
        if (!hasMore) return await this.#release(id)
      }
    } catch (error) {
      if (!this.#stopped.signal.aborted) this.#log.warn('Webhook deliveries interrupted; they will continue', { webhook: id, error })
    }
  }

  /** Whether it may be tried now. */
  #isReady({ isActive, retryAfter, retryAt, lastFailure }: Webhook): boolean {
    const now = this.#clock.now().getTime()
    if (!isActive || (retryAfter && Date.parse(retryAfter) > now)) return false
    return retryAt === null || Date.parse(retryAt) <= now || lastFailure === null || Date.parse(lastFailure) + probeMs <= now
  }

  /** Undefined when another kernel holds the claim, or the webhook is paused. */
  async #claim(id: string): Promise<Webhook | undefined> {
    const now = this.#clock.now()
    const isFree = or(eq('claimedBy', null), eq('claimedBy', this.#kernel), range('claimedUntil', { lt: now.toISOString() }))
    const set = { claimedBy: this.#kernel, claimedUntil: new Date(now.getTime() + claimMs).toISOString() }
    return this.#change(id, { where: and(eq('isActive', true), isFree), set })
  }

  /** Renews the claim while `work` runs. */
  async #renewing<T>(id: string, work: () => Promise<T>): Promise<T> {
    const timer = setInterval(() => {
      this.#claim(id).catch((error: unknown) => this.#log.debug('Failed to renew the claim of a webhook', { webhook: id, error }))
    }, renewMs).unref()
    try {
      return await work()
    } finally {
      clearInterval(timer)
    }
  }

  async #release(id: string): Promise<void> {
    await this.#change(id, { where: eq('claimedBy', this.#kernel), set: { claimedBy: null, claimedUntil: null } })
  }

  async #change(
    id: string,
    change: Omit<Extract<Change<WebhookRecord>, { update: string }>, 'update' | 'in'>,
  ): Promise<Webhook | undefined> {
    try {
      return await this.#documents.commit({ update: id, in: webhooks, ...change })
    } catch (error) {
      if (error instanceof CommitConflict) return undefined
      throw error
    }
  }

  /** Sends due deliveries, at most a hundred. False when nothing more is due now. */
  async #round(webhook: Webhook): Promise<boolean> {
    const isProbing = webhook.failures > 0
    const due = isProbing ? await this.#probe(webhook) : await this.#due(webhook)
    if (due.length === 0) return false
    const round = this.#newRound(webhook, due)
    if (!(await round.signer())) return false
    try {
      await this.#sendAll(round)
    } finally {
      // Received deliveries are not sent again, regardless of the others.
      this.#reportCut(webhook, round.results)
      await this.#record(round.results)
    }
    return this.#note(round)
  }

  #newRound(webhook: Webhook, due: readonly WebhookDelivery[]): Round {
    const pending = new Set(due)
    let last: { readonly at: number; readonly signer: Promise<Signer | undefined> } | undefined
    const signer = () => {
      const now = performance.now()
      if (!last || now - last.at >= maxCheckAgeMs) last = { at: now, signer: this.#check(webhook, pending) }
      return last.signer
    }
    return { webhook, pending, results: [], signer }
  }

  /** Due deliveries in the order of their events; within a subject none overtakes another. */
  async #due({ id, recoveredAt }: Webhook): Promise<readonly WebhookDelivery[]> {
    const now = this.#clock.now().toISOString()
    const due: WebhookDelivery[] = []
    const held = new Set<string>()
    let after: After | undefined
    for (let passed = 0; passed < maxPassedOver; passed += pageSize) {
      const page = await this.#waiting(id, pageSize, after)
      for (const delivery of page.items) {
        const { event, dueAt, attempts } = delivery
        const isDue = dueAt <= now || (recoveredAt !== null && (attempts.at(-1)?.at ?? '') < recoveredAt)
        if (held.has(event.event.subject)) continue
        if (isDue) due.push(delivery)
        else held.add(event.event.subject)
        if (due.length === maxBatch) return due
      }
      after = page.next
      if (!after) break
    }
    return due
  }

  /** One delivery that probes the target: the one with the fewest attempts among the first of each subject. */
  async #probe({ id, retryAt }: Webhook): Promise<readonly WebhookDelivery[]> {
    const { items } = await this.#waiting(id, pageSize)
    const first = [...new Map(items.toReversed().map(delivery => [delivery.event.event.subject, delivery])).values()]
    const isDue = retryAt === null || retryAt <= this.#clock.now().toISOString()
    const candidates = isDue ? first : first.filter(({ tries }) => tries === 0)
    return candidates.toSorted((one, other) => one.tries - other.tries || (one.id < other.id ? -1 : 1)).slice(0, 1)
  }

  #waiting(webhook: string, limit: number, after?: After) {
    const where = and(eq('webhook', webhook), eq('state', 'waiting'))
    return this.#documents.find(deliveries, { using: 'byState', where, limit, ...(after && { after }) })
  }

  /**
   * The signer of a webhook that still delivers to the same URL; otherwise undefined. A webhook whose owner lacks the rights is paused. Drops
   * pending deliveries that the owner may not receive now.
   */
  async #check({ id, url }: Webhook, pending: Set<WebhookDelivery>): Promise<Signer | undefined> {
    const webhook = await this.#documents.get(webhooks, id)
    if (!webhook?.isActive || webhook.claimedBy !== this.#kernel || webhook.url !== url) return undefined
    const caller = await this.#owners.callerOf(webhook)
    if (!caller) {
      await this.#webhooks.pause(webhook, 'owner-without-rights')
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
  async #sendAll({ webhook, pending, results, signer }: Round): Promise<void> {
    const target = this.#targetOf(webhook.url)
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
            const outcome = await this.#slots.use(() => send(delivery))
            if (!outcome || (this.#interrupted.signal.aborted && !outcome.isDelivered)) return
            results.push({ delivery, outcome })
            if (!outcome.isDelivered) return
          }
        }),
      ),
    )
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  }

  #targetOf(url: string): Semaphore {
    const { host } = new URL(url)
    const known = this.#targets.get(host) ?? new Semaphore({ max: this.#settings.maxConcurrentPerTarget })
    this.#targets.set(host, known)
    return known
  }

  async #record(results: readonly Result[]): Promise<void> {
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
      const push = { attempts: { values: [attempt], keepLast: maxAttemptsKept } }
      // One that was resent meanwhile is sent again.
      return { change: { update: delivery.id, in: deliveries, where: eq('revision', delivery.revision), set, push } }
    })
    if (changes.length > 0) requireDone(await this.#documents.commitEach(changes))
  }

  /** Logs once per webhook that its responses are cut, until one is not. */
  #reportCut({ id, url }: Webhook, results: readonly Result[]): void {
    const isCut = results.some(({ outcome }) => outcome.isCut)
    if (isCut && !this.#cut.has(id)) this.#log.warn('Webhook response cut: too long or too slow', { webhook: id, host: new URL(url).host })
    if (this.#cut.size >= maxCutRemembered) this.#cut.clear()
    if (isCut) this.#cut.add(id)
    else if (results.length > 0) this.#cut.delete(id)
  }

  /** Records the state of the target. True when more may be due immediately. */
  async #note({ webhook, results, pending }: Round): Promise<boolean> {
    const { id, failures, failingSince } = webhook
    if (results.length === 0) return pending.size === 0
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
      await this.#change(id, { set: { ...(failures > 0 && recovered), retryAfter } })
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
    await this.#change(id, { set: failing })
    return false
  }
}
wire(
  DeliveryDispatcher,
  Config,
  DocumentStore,
  StoredWebhooks,
  PublicEvents,
  WebhookOwners,
  DeliverySender,
  WebhookSigner,
  Installation,
  Clock,
  Log,
)
