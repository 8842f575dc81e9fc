import {
  type After,
  and,
  anonymous,
  Clock,
  DocumentStore,
  eq,
  isIn,
  Log,
  type Page,
  type PublicEvent,
  PublicEvents,
  range,
  type StoredEvent,
  wire,
} from 'pounce/sdk'
import { type PublicEventHandler, removeFound, requireDone } from 'pounce/sdk/kit'
import { Config, type Settings } from './config.ts'
import { DeliveryDispatcher } from './delivery-dispatcher.ts'
import { type DeliveryRecord, deliveries, deliveryId, type Webhook, type WebhookDelivery, webhooks } from './records.ts'
import { StoredWebhooks } from './stored-webhooks.ts'
import { WebhookOwners } from './webhook-owners.ts'

const dayMs = 86_400_000
const batchSize = 500
/** Maximum number of deliveries that one request resends. */
const maxResent = 10_000

/**
 * Creates a delivery of each event for each webhook that selects it and whose owner may receive it, which is checked again when it is sent.
 * A repeated event creates none.
 */
export class EnqueueDeliveries implements PublicEventHandler {
  readonly #documents: DocumentStore
  readonly #events: PublicEvents
  readonly #owners: WebhookOwners
  readonly #dispatcher: DeliveryDispatcher
  readonly #clock: Clock

  constructor(documents: DocumentStore, events: PublicEvents, owners: WebhookOwners, dispatcher: DeliveryDispatcher, clock: Clock) {
    this.#documents = documents
    this.#events = events
    this.#owners = owners
    this.#dispatcher = dispatcher
    this.#clock = clock
  }

  async handle(described: readonly PublicEvent[]): Promise<void> {
    let after: After | undefined
    do {
      const query = { using: 'byActive', where: eq('isActive', true), limit: batchSize } as const
      const { items, next } = await this.#documents.find(webhooks, { ...query, ...(after && { after }) })
      for (const webhook of items) await this.#enqueue(webhook, described)
      after = next
    } while (after)
  }

  async #enqueue(webhook: Webhook, described: readonly PublicEvent[]): Promise<void> {
    const { id, owner, scope, space, filter } = webhook
    const caller = await this.#owners.callerOf(webhook)
    const inScope = scope === 'space' ? described.filter(event => event.spaces.includes(space ?? '')) : described
    const selected = inScope.filter(event => this.#events.matches(filter, event, caller ?? anonymous))
    // Left to the dispatcher, which pauses the webhook of an owner without rights.
    const receivable = caller ? await this.#events.receivable(caller, selected, filter) : selected
    if (receivable.length === 0) return
    const now = this.#clock.now().toISOString()
    const records = receivable.map((event): DeliveryRecord & { readonly id: string } => ({
      ...{ id: deliveryId(event, id), webhook: id, owner, event },
      ...{ state: 'waiting', since: now, created: now, dueAt: now, tries: 0, attempts: [] },
    }))
    requireDone(await this.#documents.commitEach(records.map(insert => ({ change: { insert, into: deliveries } }))))
    this.#dispatcher.wake(id)
  }
}
wire(EnqueueDeliveries, DocumentStore, PublicEvents, WebhookOwners, DeliveryDispatcher, Clock)

/** The log of deliveries. */
export class DeliveryLog {
  readonly #documents: DocumentStore
  readonly #dispatcher: DeliveryDispatcher
  readonly #clock: Clock

  constructor(documents: DocumentStore, dispatcher: DeliveryDispatcher, clock: Clock) {
    this.#documents = documents
    this.#dispatcher = dispatcher
    this.#clock = clock
  }

  /** Newest first. */
  page(
    webhook: string,
    state: DeliveryRecord['state'] | undefined,
    page: { readonly after?: After; readonly limit: number },
  ): Promise<Page<WebhookDelivery>> {
    const where = and(eq('webhook', webhook), ...(state === undefined ? [] : [eq('state', state)]))
    return this.#documents.find(deliveries, {
      using: 'byCreated',
      where,
      sort: { by: 'created', order: 'descending' },
      maxScanned: 2000,
      ...page,
    })
  }

  async get(webhook: string, id: string): Promise<WebhookDelivery | undefined> {
    const found = await this.#documents.get(deliveries, id)
    return found?.webhook === webhook ? found : undefined
  }

  /** Resends a delivery, regardless of its outcome. */
  async resend({ id, webhook }: WebhookDelivery): Promise<WebhookDelivery> {
    const sent = await this.#documents.commit({ update: id, in: deliveries, set: this.#resetState() })
    this.#dispatcher.wake(webhook)
    return sent
  }

  /** Resends the deliveries of a period, oldest first, at most 10,000. Returns their number, and whether there are more. */
  async resendAll(
    webhook: string,
    { since, until, states }: { readonly since: string; readonly until: string; readonly states: readonly DeliveryRecord['state'][] },
  ): Promise<{ readonly resent: number; readonly hasMore: boolean }> {
    const where = and(eq('webhook', webhook), range('created', { gte: since, lte: until }), isIn('state', states))
    let [resent, hasMore] = [0, false]
    let after: After | undefined
    do {
      const query = { using: 'byCreated', where, sort: { by: 'created', order: 'ascending' }, limit: batchSize } as const
      const page = await this.#documents.find(deliveries, { ...query, ...(after && { after }) })
      const reset = this.#resetState()
      requireDone(await this.#documents.commitEach(page.items.map(({ id }) => ({ change: { update: id, in: deliveries, set: reset } }))))
      resent += page.items.length
      after = page.next
      hasMore = after !== undefined && resent >= maxResent
    } while (after && !hasMore)
    this.#dispatcher.wake(webhook)
    return { resent, hasMore }
  }

  #resetState() {
    const now = this.#clock.now().toISOString()
    return { state: 'waiting', since: now, dueAt: now, tries: 0 }
  }
}
wire(DeliveryLog, DocumentStore, DeliveryDispatcher, Clock)

/** Deletes the deliveries of a deleted webhook. */
export class RemoveDeliveries {
  readonly #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async handle({ data: { webhook } }: StoredEvent<'webhook.removed'>): Promise<void> {
    await removeFound(this.#documents, deliveries, { using: 'byState', where: eq('webhook', webhook) })
  }
}
wire(RemoveDeliveries, DocumentStore)

/**
 * Turns deliveries that have waited too long into dead letters, pauses webhooks with too many waiting deliveries, and deletes deliveries
 * whose retention has ended.
 */
export class DeliveryRetention {
  readonly #settings: Settings
  readonly #documents: DocumentStore
  readonly #webhooks: StoredWebhooks
  readonly #clock: Clock
  readonly #log: Log

  constructor(settings: Settings, documents: DocumentStore, stored: StoredWebhooks, clock: Clock, log: Log) {
    this.#settings = settings
    this.#documents = documents
    this.#webhooks = stored
    this.#clock = clock
    this.#log = log
  }

  async run(signal: AbortSignal): Promise<void> {
    for (const state of ['delivered', 'failed'] as const) {
      const where = and(eq('state', state), range('created', { lt: this.#before(this.#settings.keptDays) }))
      await removeFound(this.#documents, deliveries, { using: 'byAge', where, signal })
    }
    await this.#expire(signal)
    for await (const webhook of this.#documents.scan(webhooks, { using: 'byActive', where: eq('isActive', true) })) {
      if (signal.aborted) return
      const where = and(eq('webhook', webhook.id), eq('state', 'waiting'))
      const waiting = await this.#documents.count(deliveries, { using: 'byState', where, upTo: this.#settings.maxWaiting })
      if (waiting < this.#settings.maxWaiting) continue
      this.#log.warn('Webhook paused: too many deliveries wait', { webhook: webhook.id, waiting })
      await this.#webhooks.pause(webhook, 'backlog')
    }
  }

  /** While a target fails, only one delivery is tried at a time: the others expire here. */
  async #expire(signal: AbortSignal): Promise<void> {
    const before = this.#before(this.#settings.retryDays)
    while (!signal.aborted) {
      const where = and(eq('state', 'waiting'), range('created', { lt: before }), range('since', { lt: before }))
      const { items } = await this.#documents.find(deliveries, { using: 'byAge', where, limit: batchSize })
      if (items.length === 0) return
      const change = (id: string) => ({ change: { update: id, in: deliveries, where: eq('state', 'waiting'), set: { state: 'failed' } } })
      requireDone(await this.#documents.commitEach(items.map(({ id }) => change(id))))
    }
  }

  #before(days: number): string {
    return new Date(this.#clock.now().getTime() - days * dayMs).toISOString()
  }
}
wire(DeliveryRetention, Config, DocumentStore, StoredWebhooks, Clock, Log)
