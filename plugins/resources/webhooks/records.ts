import { anonymousUserId, collection, type EventFilter, eq, type PublicEvent, type Stored, type Time } from 'pounce/sdk'
import { personalRecords } from 'pounce/sdk/kit'

/** Whose events a webhook receives: those that its owner may view, those of a space, or all of the server. */
export type Scope = 'person' | 'space' | 'server'

/** `owner`: by a person. The others by the server. */
export type PauseReason = 'owner' | 'failing' | 'gone' | 'backlog' | 'owner-without-rights'

/** A secret that signs deliveries, encrypted. */
export interface SealedSecret {
  readonly sealed: string
  readonly created: Time
  /** Null for the newest one. */
  readonly expires: Time | null
}

/** A subscription. */
export interface WebhookRecord {
  readonly scope: Scope
  /** Whose rights decide: who created it, or the last who changed it. */
  readonly owner: string
  readonly space: string | null
  readonly url: string
  readonly description: string
  readonly filter: EventFilter
  readonly secrets: readonly SealedSecret[]
  readonly created: Time
  readonly isActive: boolean
  readonly pauseReason: PauseReason | null
  /** Failures since the last success. */
  readonly failures: number
  readonly failingSince: Time | null
  readonly lastFailure: Time | null
  /** While deliveries fail, the next one is made then. */
  readonly retryAt: Time | null
  /** What failed before is due again since then. */
  readonly recoveredAt: Time | null
  /** The kernel that delivers, and until when that holds. */
  readonly claimedBy: string | null
  readonly claimedUntil: Time | null
}
export type Webhook = WebhookRecord & Stored

/** A try to deliver. */
export interface Attempt {
  readonly at: Time
  readonly durationMs: number
  /** Absent when there was no answer. */
  readonly status?: number
  /** The first 4 kB of the answer. */
  readonly response?: string
  /** Why there was none. */
  readonly error?: string
}

/** An event on its way to a webhook. The id is that of the event and of the webhook, so that one event is one delivery. */
export interface DeliveryRecord {
  readonly webhook: string
  readonly owner: string
  readonly event: PublicEvent
  /** `waiting`: until it is delivered, or failed for too long. */
  readonly state: 'waiting' | 'delivered' | 'failed'
  /** The attempts begin again from here when it is resent on request. */
  readonly since: Time
  readonly created: Time
  readonly dueAt: Time
  readonly tries: number
  /** The last ten. */
  readonly attempts: readonly Attempt[]
}
export type WebhookDelivery = DeliveryRecord & Stored

export const webhooks = collection<WebhookRecord>()('webhooks', {
  byOwner: { on: ['scope', 'owner'] },
  bySpace: { on: ['scope', 'space'] },
  byActive: { on: ['isActive'] },
  byPerson: { on: ['owner'] },
})

export const deliveries = collection<DeliveryRecord>()('webhooks.deliveries', {
  byState: { on: ['webhook', 'state'] },
  byCreated: { on: ['webhook', 'created'] },
  byWaiting: { on: ['state', 'webhook'] },
  byAge: { on: ['state', 'created'] },
  byOwner: { on: ['owner'] },
})

/** Ids of events are in the order of commits, so deliveries are too. */
export const deliveryId = (event: PublicEvent, webhook: string): string => `${event.event.id}-${webhook}`

/** Webhooks of a person end with the account. Those of a space or the server wait for another admin, who resumes them and is their owner then. */
export const PersonalWebhooks = personalRecords({
  name: 'webhooks',
  summary: 'Your webhooks, without their secrets.',
  in: webhooks,
  find: ({ id }) => ({ using: 'byPerson', where: eq('owner', id) }),
  isOf: ({ owner }, { id }) => owner === id,
  show: ({ scope, space, url, description, filter, created, isActive }) => ({ scope, space, url, description, filter, created, isActive }),
  erase: ({ scope }) => {
    if (scope === 'person') return 'remove'
    const paused = { isActive: false, pauseReason: 'owner-without-rights', claimedBy: null, claimedUntil: null } as const
    return { set: { owner: anonymousUserId, ...paused } }
  },
})

export const PersonalDeliveries = personalRecords({
  name: 'webhook-deliveries',
  summary: 'What was delivered to your webhooks.',
  in: deliveries,
  find: ({ id }) => ({ using: 'byOwner', where: eq('owner', id) }),
  isOf: ({ owner }, { id }) => owner === id,
  show: ({ webhook, event, state, created }) => ({ webhook, type: event.event.type, state, created }),
  erase: () => 'remove',
})
