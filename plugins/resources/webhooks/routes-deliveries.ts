import {
  type After,
  type Caller,
  Clock,
  type CloudEvent,
  Ids,
  Installation,
  Invalid,
  NotFound,
  PublicEvents,
  routesFor,
  s,
} from 'pounce/sdk'
import { afterParameter, linkToNext, pageOf, readTime } from 'pounce/sdk/kit'
import { DeliveryLog } from './deliveries.ts'
import { DeliveryDispatcher } from './delivery-dispatcher.ts'
import { messageId } from './delivery-sender.ts'
import type { WebhookDelivery } from './records.ts'
import { StoredWebhooks } from './stored-webhooks.ts'

const route = routesFor('webhooks', {
  webhooks: StoredWebhooks,
  deliveries: DeliveryLog,
  dispatcher: DeliveryDispatcher,
  events: PublicEvents,
  installation: Installation,
  clock: Clock,
  ids: Ids,
})

const AttemptJson = s.model(
  'WebhookAttempt',
  s.Object({
    at: s.String({ description: 'ISO 8601' }),
    durationMs: s.Integer(),
    status: s.Optional(s.Integer({ description: 'HTTP status of the response; absent without a response' })),
    response: s.Optional(s.String({ description: 'The first 4 kB of the response' })),
    error: s.Optional(s.String()),
  }),
)
const DeliveryJson = s.model(
  'WebhookDelivery',
  s.Object({
    id: s.String(),
    messageId: s.String({ description: 'The header `webhook-id`, the same for every attempt' }),
    type: s.String(),
    state: s.Union([s.Literal('waiting'), s.Literal('delivered'), s.Literal('failed')]),
    created: s.String({ description: 'ISO 8601' }),
    dueAt: s.Optional(s.String({ description: 'ISO 8601; when it is tried next, or later while its target fails' })),
    tries: s.Integer(),
    event: s.Optional(s.Unknown({ description: 'The body; absent if the caller may not view its subject' })),
    attempts: s.Array(AttemptJson, { description: 'The latest ten, oldest first' }),
  }),
)
const TestJson = s.model('WebhookTest', s.Object({ delivered: s.Boolean(), messageId: s.String(), attempt: AttemptJson }))

const shownDelivery = ({ id, event, state, created, dueAt, tries, attempts }: WebhookDelivery, isVisible: boolean) => ({
  ...{ id, messageId: messageId(id), type: event.event.type, state, created, tries },
  ...(state === 'waiting' && { dueAt }),
  ...(isVisible && { event: event.event as unknown }),
  attempts: attempts.map(attempt => ({ ...attempt })),
})

const params = s.Object({ webhook: s.id() })
const deliveryParams = s.Object({ webhook: s.id(), delivery: s.String({ maxLength: 60, pattern: '^[0-9a-z-]+$' }) })

export const testWebhook = route({
  method: 'POST',
  path: '/api/webhooks/:webhook/test',
  summary: 'Send a test event to a webhook',
  description: 'An event of type `webhook.tested`, sent immediately, even if the webhook is paused, and not retried.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  cost: 'fetch',
  params,
  responses: { 200: TestJson },
  throws: [NotFound],
  async handle({ caller, params }, { webhooks, dispatcher, installation, clock, ids }) {
    const webhook = await webhooks.managed(caller, params.webhook)
    const id = ids.next()
    const event: CloudEvent = {
      ...{ specversion: '1.0' as const, id, type: 'webhook.tested', source: installation.baseUrl, subject: `webhook/${webhook.id}` },
      ...{ time: clock.now().toISOString(), datacontenttype: 'application/json' as const, data: { id: webhook.id } },
    }
    const delivery = `${id}-${webhook.id}`
    const { isDelivered, attempt } = await dispatcher.test(webhook, delivery, { event })
    return { status: 200, body: { delivered: isDelivered, messageId: messageId(delivery), attempt } }
  },
})

export const listWebhookDeliveries = route({
  method: 'GET',
  path: '/api/webhooks/:webhook/deliveries',
  summary: 'List the deliveries of a webhook',
  description: 'Newest first; kept for two weeks (`resources.webhooks.keptDays`).',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params,
  query: s.Object({
    state: s.Optional(s.Union([s.Literal('waiting'), s.Literal('delivered'), s.Literal('failed')])),
    limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }),
    after: afterParameter(),
  }),
  responses: { 200: s.Array(DeliveryJson) },
  throws: [NotFound, Invalid],
  async handle({ caller, params: { webhook }, query, url: address }, { webhooks, deliveries, events, installation }) {
    await webhooks.managed(caller, webhook)
    const page = await deliveries.page(webhook, query.state, pageOf(query, readDeliveryAfter))
    const visible = await visibleTo(caller, events, page.items)
    const body = page.items.map(delivery => shownDelivery(delivery, visible.has(delivery)))
    return { status: 200, body, ...linkToNext(installation.baseUrl, address, page, { dated: false }) }
  },
})

export const getWebhookDelivery = route({
  method: 'GET',
  path: '/api/webhooks/:webhook/deliveries/:delivery',
  summary: 'Get a delivery of a webhook',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params: deliveryParams,
  responses: { 200: DeliveryJson },
  throws: [NotFound],
  async handle({ caller, params }, { webhooks, deliveries, events }) {
    const found = await deliveryOf(caller, params, { webhooks, deliveries })
    return { status: 200, body: shownDelivery(found, (await visibleTo(caller, events, [found])).has(found)) }
  },
})

export const resendWebhookDelivery = route({
  method: 'POST',
  path: '/api/webhooks/:webhook/deliveries/:delivery/resend',
  summary: 'Send a delivery again',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params: deliveryParams,
  responses: { 202: DeliveryJson },
  throws: [NotFound],
  async handle({ caller, params }, { webhooks, deliveries, events }) {
    const sent = await deliveries.resend(await deliveryOf(caller, params, { webhooks, deliveries }))
    return { status: 202, body: shownDelivery(sent, (await visibleTo(caller, events, [sent])).has(sent)) }
  },
})

export const resendWebhookDeliveries = route({
  method: 'POST',
  path: '/api/webhooks/:webhook/resend',
  summary: 'Send the deliveries of a period again',
  description: 'Oldest first, at most 10,000 per request; `hasMore` indicates whether there are others.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params,
  body: s.model(
    'ResendDeliveries',
    s.Object(
      {
        since: s.String({ maxLength: 40, description: 'ISO 8601' }),
        until: s.Optional(s.String({ maxLength: 40, description: 'ISO 8601; now if absent' })),
        state: s.Optional(s.Union([s.Literal('delivered'), s.Literal('failed'), s.Literal('all')], { description: '`failed` if absent' })),
      },
      { additionalProperties: false },
    ),
    { since: '2026-11-25T00:00:00Z', state: 'failed' },
  ),
  responses: { 202: s.model('ResentDeliveries', s.Object({ resent: s.Integer(), hasMore: s.Boolean() })) },
  throws: [NotFound, Invalid],
  async handle({ caller, params: { webhook }, body }, { webhooks, deliveries, clock }) {
    await webhooks.managed(caller, webhook)
    const since = new Date(readTime(body.since, '`since`')).toISOString()
    const until = body.until === undefined ? clock.now().toISOString() : new Date(readTime(body.until, '`until`')).toISOString()
    const states = body.state === 'all' ? (['delivered', 'failed'] as const) : ([body.state ?? 'failed'] as const)
    return { status: 202, body: await deliveries.resendAll(webhook, { since, until, states }) }
  },
})

const deliveryOf = async (
  caller: Caller,
  { webhook, delivery }: { readonly webhook: string; readonly delivery: string },
  { webhooks, deliveries }: { readonly webhooks: StoredWebhooks; readonly deliveries: DeliveryLog },
): Promise<WebhookDelivery> => {
  await webhooks.managed(caller, webhook)
  const found = await deliveries.get(webhook, delivery)
  if (!found) throw new NotFound('delivery')
  return found
}

/** The ids of events that the caller may still view. */
const visibleTo = async (caller: Caller, events: PublicEvents, some: readonly WebhookDelivery[]): Promise<ReadonlySet<WebhookDelivery>> => {
  const receivable = new Set(
    await events.receivable(
      caller,
      some.map(({ event }) => event),
    ),
  )
  return new Set(some.filter(({ event }) => receivable.has(event)))
}

const readDeliveryAfter = (text: string): After => {
  const [created, id, ...rest] = text.split('_')
  if (created === undefined || !/^[0-9TZ:.-]+$/.test(created) || !/^[0-9a-z-]{1,60}$/.test(id ?? '') || rest.length > 0)
    throw new Invalid('after must be a cursor from a Link header')
  return [created, id as string]
}
