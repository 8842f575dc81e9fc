import {
  and,
  type Caller,
  Clock,
  CommitConflict,
  Conflict,
  DocumentStore,
  type EventFilter,
  eq,
  event,
  Fetch,
  Forbidden,
  Ids,
  Invalid,
  isServerAdmin,
  NotFound,
  Policy,
  Problem,
  PublicEvents,
  type StoredEvent,
  signedIn,
  Taken,
  wire,
} from 'pounce/sdk'
import type { Change } from 'pounce/sdk/store-kit'
import { Config, type Settings } from './config.ts'
import { type PauseReason, type Webhook, type WebhookRecord, webhooks } from './records.ts'
import { WebhookSigner } from './signer.ts'

const hourMs = 3_600_000
/** Maximum number of simultaneously valid secrets of one webhook. */
const maxSecrets = 5
const maxListed = 1000

/** The fields that users set. */
export interface WebhookChange {
  readonly url?: string
  readonly description?: string
  readonly filter?: EventFilter
  readonly active?: boolean
}

type StateChange = Omit<Extract<Change<WebhookRecord>, { update: string }>, 'update' | 'in'>

/** The owner of a new webhook. */
export type WebhookOwner = { readonly scope: 'person' | 'server' } | { readonly scope: 'space'; readonly space: string }

/** Subscriptions, and who may manage them. */
export class StoredWebhooks {
  readonly #settings: Settings
  readonly #documents: DocumentStore
  readonly #policy: Policy
  readonly #events: PublicEvents
  readonly #fetch: Fetch
  readonly #signer: WebhookSigner
  readonly #clock: Clock
  readonly #ids: Ids

  constructor(
    settings: Settings,
    documents: DocumentStore,
    policy: Policy,
    events: PublicEvents,
    fetch: Fetch,
    signer: WebhookSigner,
    clock: Clock,
    ids: Ids,
  ) {
    this.#settings = settings
    this.#documents = documents
    this.#policy = policy
    this.#events = events
    this.#fetch = fetch
    this.#signer = signer
    this.#clock = clock
    this.#ids = ids
  }

  /** The secret is returned once. Throws `Conflict` beyond the limit of the user, the space or the server. */
  async create(
    caller: Caller,
    of: WebhookOwner,
    { url = '', description = '', filter = {} }: WebhookChange,
  ): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
    const owner = signedIn(caller).id
    this.#check(url, filter)
    const space = of.scope === 'space' ? of.space : null
    const id = this.#ids.next()
    const { secret, stored } = await this.#signer.newSecret(id)
    const created = event('webhook.created', { kind: 'user', id: owner }, { webhook: id, scope: of.scope, space }, owner)
    for (;;) {
      const slot = await this.#freeSlot(of, owner)
      const record: WebhookRecord = {
        ...{ scope: of.scope, owner, space, slot, url, description, filter, secrets: [stored], created: this.#clock.now().toISOString() },
        ...{ isActive: true, pauseReason: null, failures: 0, failingSince: null, retryAt: null, recoveredAt: null, lastFailure: null },
        ...{ retryAfter: null, claimedBy: null, claimedUntil: null },
      }
      try {
        return { webhook: await this.#documents.commit({ insert: { id, ...record }, into: webhooks }, [created]), secret }
      } catch (error) {
        if (!(error instanceof Taken)) throw error
      }
    }
  }

  /** Newest first; not paginated. */
  async list(of: WebhookOwner, owner: string): Promise<readonly Webhook[]> {
    const { items } = await this.#documents.find(webhooks, { ...queryOf(of, owner), limit: maxListed })
    return items.toReversed()
  }

  /** Throws `NotFound` for a webhook that does not exist or that the caller may not manage. */
  async managed(caller: Caller, id: string): Promise<Webhook> {
    const webhook = await this.#documents.get(webhooks, id)
    if (!webhook || !(await this.#mayManage(caller, webhook))) throw new NotFound('webhook')
    return webhook
  }

  /** The user who changes a webhook of a space or of the server becomes its owner: deliveries follow their rights. */
  async change(caller: Caller, id: string, { url, description, filter, active }: WebhookChange): Promise<Webhook> {
    const known = await this.managed(caller, id)
    const actor = signedIn(caller).id
    const owner = known.scope === 'person' ? known.owner : actor
    this.#check(url, filter)
    const recoveredAt = this.#clock.now().toISOString()
    const fresh = { failures: 0, failingSince: null, retryAt: null, retryAfter: null, recoveredAt }
    const resumed = { isActive: true, pauseReason: null, ...fresh }
    const set = {
      owner,
      ...(url !== undefined && { url, retryAfter: null }),
      // Failures of the former target say nothing about the new one.
      ...(url !== undefined && url !== known.url && fresh),
      ...(description !== undefined && { description }),
      ...(filter && { filter }),
      ...(active === true && resumed),
      ...(active === false && { isActive: false, pauseReason: 'owner' }),
    }
    const fields = Object.entries({ url, description, filter, active }).flatMap(([name, value]) => (value === undefined ? [] : [name]))
    try {
      const updated = event('webhook.updated', { kind: 'user', id: owner }, { webhook: id, fields }, actor)
      return await this.#documents.commit({ update: id, in: webhooks, set }, [updated])
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
      throw new NotFound('webhook', { cause: error })
    }
  }

  /** Creates a new secret; deliveries are also signed with the previous ones until the overlap ends. */
  async rotate(caller: Caller, id: string): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
    const actor = signedIn(caller).id
    const { secret, stored } = await this.#signer.newSecret(id)
    for (;;) {
      const { owner, secrets, revision } = await this.managed(caller, id)
      const now = this.#clock.now()
      const expires = new Date(now.getTime() + this.#settings.rotationHours * hourMs).toISOString()
      const former = secrets.map(one => ({ ...one, expires: one.expires ?? expires })).filter(one => one.expires > now.toISOString())
      const set = { secrets: [stored, ...former].slice(0, maxSecrets) }
      const rotated = event('webhook.updated', { kind: 'user', id: owner }, { webhook: id, fields: ['secret'] }, actor)
      try {
        return {
          webhook: await this.#documents.commit({ update: id, in: webhooks, set, where: eq('revision', revision) }, [rotated]),
          secret,
        }
      } catch (error) {
        // Deliveries also change the record.
        if (!(error instanceof CommitConflict)) throw error
      }
    }
  }

  async remove(caller: Caller, id: string): Promise<void> {
    const { owner } = await this.managed(caller, id)
    const removed = event('webhook.removed', { kind: 'user', id: owner }, { webhook: id }, caller.user?.id)
    try {
      await this.#documents.commit({ tombstone: id, in: webhooks }, [removed])
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
      throw new NotFound('webhook', { cause: error })
    }
  }

  /** Deletes the webhooks of a deleted space. */
  async removeOfSpace(space: string): Promise<void> {
    for await (const { id, owner } of this.#documents.scan(webhooks, queryOf({ scope: 'space', space }, '')))
      try {
        const removed = event('webhook.removed', { kind: 'user', id: owner }, { webhook: id })
        await this.#documents.commit({ tombstone: id, in: webhooks }, [removed])
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
      }
  }

  /** Changes the state of deliveries. Undefined if the webhook does not exist, or the condition does not hold. */
  async update(id: string, change: StateChange): Promise<Webhook | undefined> {
    try {
      return await this.#documents.commit({ update: id, in: webhooks, ...change })
    } catch (error) {
      if (error instanceof CommitConflict) return undefined
      throw error
    }
  }

  /** Stops deliveries until a user resumes them. Idempotent. */
  async pause({ id, owner, url, description }: Webhook, reason: PauseReason): Promise<void> {
    const about = { webhook: id, reason, host: new URL(url).host, description, days: this.#settings.pauseAfterDays }
    const paused = event('webhook.paused', { kind: 'user', id: owner }, about)
    const set = { isActive: false, pauseReason: reason, claimedBy: null, claimedUntil: null }
    try {
      const where = and(eq('isActive', true), eq('url', url))
      await this.#documents.commit({ update: id, in: webhooks, where, set }, [paused])
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  /** The first free slot. It is always below the limit minus the number of webhooks without a slot, so concurrent requests cannot exceed the limit. */
  async #freeSlot(of: WebhookOwner, owner: string): Promise<string> {
    const existing = await Array.fromAsync(this.#documents.scan(webhooks, queryOf(of, owner)))
    if (existing.length >= this.#settings.maxPerOwner)
      throw new Conflict(`At most ${this.#settings.maxPerOwner} webhooks are allowed here: delete others first`)
    const used = new Set(existing.map(({ slot }) => slot))
    const holder = of.scope === 'space' ? of.space : of.scope === 'server' ? 'server' : owner
    for (let n = 0; ; n += 1) if (!used.has(`${holder} ${n}`)) return `${holder} ${n}`
  }

  #check(url: string | undefined, filter: EventFilter | undefined): void {
    if (url !== undefined) {
      try {
        this.#fetch.check(url)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        throw error instanceof Forbidden ? new Invalid(error.message, { cause: error }) : error
      }
    }
    if (!filter) return
    this.#events.check(filter)
    const [progress] = filter.types?.flatMap(type => /^(.+)\.progressed$/.exec(type)?.[1] ?? []) ?? []
    if (progress !== undefined)
      throw new Invalid(`${progress}.progressed is sent by GET /api/live only: use ${progress}.finished or ${progress}.failed`)
  }

  async #mayManage(caller: Caller, { scope, owner, space }: Webhook): Promise<boolean> {
    if (caller.limits !== undefined || caller.scope !== 'full') return false
    if (scope === 'server') return isServerAdmin(caller)
    if (scope === 'space') return (await this.#policy.canOn(caller, 'EditSpace', { kind: 'space', id: space ?? '' })) === 'yes'
    return caller.user?.id === owner || caller.superAdmin
  }
}
wire(StoredWebhooks, Config, DocumentStore, Policy, PublicEvents, Fetch, WebhookSigner, Clock, Ids)

/** Nobody could see, resume or delete them any more. */
export class RemoveWebhooksOnSpaceRemoved {
  readonly #webhooks: StoredWebhooks

  constructor(stored: StoredWebhooks) {
    this.#webhooks = stored
  }

  async handle({ subject }: StoredEvent<'space.removed'>): Promise<void> {
    await this.#webhooks.removeOfSpace(subject.id)
  }
}
wire(RemoveWebhooksOnSpaceRemoved, StoredWebhooks)

const queryOf = (of: WebhookOwner, owner: string) =>
  of.scope === 'space'
    ? ({ using: 'bySpace', where: { op: 'and', all: [eq('scope', 'space'), eq('space', of.space)] } } as const)
    : of.scope === 'server'
      ? ({ using: 'byOwner', where: eq('scope', 'server') } as const)
      : ({ using: 'byOwner', where: { op: 'and', all: [eq('scope', 'person'), eq('owner', owner)] } } as const)
