import { anonymousUserId, collection, type EventFilter, eq, type PublicEvent, type Stored, type Time } from 'pounce/sdk'
import { personalRecords } from 'pounce/sdk/kit'

/** The events that a webhook receives: those that its owner may view, those of a space, or all of the server. */
export type Scope = 'person' | 'space' | 'server'

/** `owner`: paused by a user. The others are set by the server. */
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
  /** The user whose rights apply: the creator or, of a webhook of a space or the server, the user who last changed it. */
  readonly owner: string
  readonly space: string | null
  /** The holder and a number below its limit; unique, so that concurrent requests cannot exceed the limit. Absent in records of earlier versions. */
  readonly slot?: string
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
  /** While deliveries fail, the time of the next attempt. */
  readonly retryAt: Time | null
  /** The target asked (`Retry-After`) that nothing be sent before this time. Absent in records of earlier versions. */
  readonly retryAfter?: Time | null
  /** Deliveries that failed before this time are due again. */
  readonly recoveredAt: Time | null
  /** The kernel that delivers, and the end of its claim. */
  readonly claimedBy: string | null
  readonly claimedUntil: Time | null
}
export type Webhook = WebhookRecord & Stored

/** An attempt to deliver. */
export interface Attempt {
  readonly at: Time
  readonly durationMs: number
  /** Absent without a response. */
  readonly status?: number
  /** The first 4 kB of the response. */
  readonly response?: string
  /** Why there was no response. */
  readonly error?: string
}

/** The delivery of an event to a webhook. The id is derived from both, so that an event is delivered once. */
export interface DeliveryRecord {
  readonly webhook: string
  readonly owner: string
  readonly event: PublicEvent
  /** `waiting`: until it is delivered, or has failed for too long. */
  readonly state: 'waiting' | 'delivered' | 'failed'
  /** The start of the attempts, which is reset when it is resent. */
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
  bySlot: { on: ['slot'], unique: true },
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

/**
 * Webhooks of a user end with the account. Those of a space or the server wait for another admin, who resumes them and becomes their owner.
 */
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
  summary: 'Deliveries to your webhooks.',
  in: deliveries,
  find: ({ id }) => ({ using: 'byOwner', where: eq('owner', id) }),
  isOf: ({ owner }, { id }) => owner === id,
  show: ({ webhook, event, state, created }) => ({ webhook, type: event.event.type, state, created }),
  erase: () => 'remove',
})
