import {
  type After,
  type Caller,
  Clock,
  type CloudEvent,
  Conflict,
  type EventFilter,
  Ids,
  Installation,
  Invalid,
  NotFound,
  PublicEvents,
  ref,
  routesFor,
  s,
  signedIn,
} from 'pounce/sdk'
import { afterParameter, linkToNext, pageOf, readTime } from 'pounce/sdk/kit'
import { DeliveryLog } from './deliveries.ts'
import { DeliveryDispatcher } from './delivery-dispatcher.ts'
import { messageId } from './delivery-sender.ts'
import type { Webhook, WebhookDelivery } from './records.ts'
import { StoredWebhooks, type WebhookOwner } from './stored-webhooks.ts'

const route = routesFor('webhooks', {
  webhooks: StoredWebhooks,
  deliveries: DeliveryLog,
  dispatcher: DeliveryDispatcher,
  events: PublicEvents,
  installation: Installation,
  clock: Clock,
  ids: Ids,
})

const maxValues = 100
const spaceId = s.String({ pattern: '^[0-9a-f]{24}$' })
/** Sensors and streams are identified by numbers. */
const resourceId = s.String({ pattern: '^([0-9a-f]{24}|\\d{1,10})$' })
const Filter = s.model(
  'EventFilter',
  s.Object(
    {
      kinds: s.Optional(
        s.Array(s.String({ maxLength: 40 }), {
          maxItems: maxValues,
          description: 'Kinds of resources, such as `dataset`, or prefixes of event types',
        }),
      ),
      ids: s.Optional(
        s.Array(resourceId, {
          maxItems: maxValues,
          description: 'Ids of resources (numbers for sensors and streams); events about resources directly in them are included',
        }),
      ),
      spaces: s.Optional(s.Array(spaceId, { maxItems: maxValues })),
      types: s.Optional(
        s.Array(s.String({ maxLength: 80 }), { maxItems: maxValues, description: 'Types of events, such as `file.created` or `file.*`' }),
      ),
      mine: s.Optional(s.Boolean({ description: 'Only resources that the owner of the webhook created' })),
    },
    {
      additionalProperties: false,
      description: 'Selects events. Absent members select everything; several values of a member are alternatives',
    },
  ),
  { types: ['file.created', 'extraction.finished'] },
)

const url = s.String({ minLength: 8, maxLength: 2000, description: 'URL that events are posted to; a public address, http or https' })
const description = s.String({ maxLength: 500, pattern: '^[^\\u0000-\\u001f\\u007f]*$', description: 'May be empty' })
const NewWebhook = s.model(
  'NewWebhook',
  s.Object({ url, description: s.Optional(description), filter: s.Optional(Filter) }, { additionalProperties: false }),
  { url: 'https://example.org/hooks/pounce', filter: { types: ['file.created'] } },
)
const WebhookUpdate = s.model(
  'WebhookUpdate',
  s.Object(
    {
      url: s.Optional(url),
      description: s.Optional(description),
      filter: s.Optional(Filter),
      active: s.Optional(s.Boolean({ description: 'false pauses deliveries, true resumes them' })),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
  { active: true },
)

const webhookMembers = {
  id: s.id(),
  scope: s.Union([s.Literal('person'), s.Literal('space'), s.Literal('server')]),
  space: s.Optional(s.id()),
  owner: s.String({ description: 'Id of the user whose rights decide which events are delivered' }),
  url: s.String(),
  description: s.String(),
  filter: Filter,
  created: s.String({ description: 'ISO 8601' }),
  active: s.Boolean(),
  pauseReason: s.Optional(s.String({ description: '`owner`, `failing`, `gone`, `backlog` or `owner-without-rights`' })),
  failingSince: s.Optional(s.String({ description: 'ISO 8601; absent while deliveries succeed' })),
  retryAt: s.Optional(s.String({ description: 'ISO 8601; when the next delivery is tried while they fail' })),
}
const WebhookJson = s.model('Webhook', s.Object(webhookMembers))
const WebhookWithSecret = s.model(
  'WebhookWithSecret',
  s.Object({ ...webhookMembers, secret: s.String({ description: 'Shown once; verify `webhook-signature` with it (Standard Webhooks)' }) }),
)

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

const shown = ({ id, scope, space, owner, url: target, description: about, filter, created, isActive, ...more }: Webhook) => ({
  ...{
    id,
    scope,
    ...(space !== null && { space }),
    owner,
    url: target,
    description: about,
    filter: filter as s.Static<typeof Filter>,
    created,
  },
  ...{ active: isActive, ...(more.pauseReason !== null && { pauseReason: more.pauseReason }) },
  ...(more.failingSince !== null && { failingSince: more.failingSince }),
  ...(more.retryAt !== null && isActive && { retryAt: more.retryAt }),
})

const shownDelivery = ({ id, event, state, created, dueAt, tries, attempts }: WebhookDelivery, isVisible: boolean) => ({
  ...{ id, messageId: messageId(id), type: event.event.type, state, created, tries },
  ...(state === 'waiting' && { dueAt }),
  ...(isVisible && { event: event.event as unknown }),
  attempts: attempts.map(attempt => ({ ...attempt })),
})

const changeOf = <T extends { readonly filter?: object | undefined }>(body: T) =>
  body as Omit<T, 'filter'> & { readonly filter?: EventFilter }

const mine: WebhookOwner = { scope: 'person' }
const ofServer: WebhookOwner = { scope: 'server' }
const params = s.Object({ webhook: s.id() })
const ofSpace = s.Object({ id: s.id() })
const deliveryParams = s.Object({ webhook: s.id(), delivery: s.String({ maxLength: 60, pattern: '^[0-9a-z-]+$' }) })

export const listWebhooks = route({
  method: 'GET',
  path: '/api/webhooks',
  summary: 'List my webhooks',
  permission: 'signedIn',
  limitedKeys: 'refused',
  responses: { 200: s.Array(WebhookJson) },
  async handle({ caller }, { webhooks }) {
    return { status: 200, body: (await webhooks.list(mine, signedIn(caller).id)).map(shown) }
  },
})

export const createWebhook = route({
  method: 'POST',
  path: '/api/webhooks',
  summary: 'Create a webhook',
  description: 'Delivers events about resources that its owner may view, signed as Standard Webhooks specifies. The secret is shown once.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  body: NewWebhook,
  responses: { 201: WebhookWithSecret },
  throws: [Invalid, Conflict],
  async handle({ caller, body }, { webhooks }) {
    const { webhook, secret } = await webhooks.create(caller, mine, changeOf(body))
    return { status: 201, body: { ...shown(webhook), secret } }
  },
})

export const listWebhooksOfSpace = route({
  method: 'GET',
  path: '/api/spaces/:id/webhooks',
  summary: 'List the webhooks of a space',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  limitedKeys: 'refused',
  params: ofSpace,
  responses: { 200: s.Array(WebhookJson) },
  async handle({ caller, params: { id } }, { webhooks }) {
    return { status: 200, body: (await webhooks.list({ scope: 'space', space: id }, signedIn(caller).id)).map(shown) }
  },
})

export const createWebhookOfSpace = route({
  method: 'POST',
  path: '/api/spaces/:id/webhooks',
  summary: 'Create a webhook of a space',
  description: 'Delivers events about resources in the space, as long as its owner may edit the space. The secret is shown once.',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  limitedKeys: 'refused',
  params: ofSpace,
  body: NewWebhook,
  responses: { 201: WebhookWithSecret },
  throws: [Invalid, Conflict],
  async handle({ caller, params: { id }, body }, { webhooks }) {
    const { webhook, secret } = await webhooks.create(caller, { scope: 'space', space: id }, changeOf(body))
    return { status: 201, body: { ...shown(webhook), secret } }
  },
})

export const listWebhooksOfServer = route({
  method: 'GET',
  path: '/api/admin/webhooks',
  summary: 'List the webhooks of the server',
  permission: 'serverAdmin',
  responses: { 200: s.Array(WebhookJson) },
  async handle({ caller }, { webhooks }) {
    return { status: 200, body: (await webhooks.list(ofServer, signedIn(caller).id)).map(shown) }
  },
})

export const createWebhookOfServer = route({
  method: 'POST',
  path: '/api/admin/webhooks',
  summary: 'Create a webhook of the server',
  description: 'Delivers events about everything, as long as its owner is a server admin. The secret is shown once.',
  permission: 'serverAdmin',
  body: NewWebhook,
  responses: { 201: WebhookWithSecret },
  throws: [Invalid, Conflict],
  async handle({ caller, body }, { webhooks }) {
    const { webhook, secret } = await webhooks.create(caller, ofServer, changeOf(body))
    return { status: 201, body: { ...shown(webhook), secret } }
  },
})

export const getWebhook = route({
  method: 'GET',
  path: '/api/webhooks/:webhook',
  summary: 'Get a webhook',
  description:
    'For the owner of a personal webhook, users who may edit the space for one of a space, and server admins for one of the server. The same applies to all routes below it.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params,
  responses: { 200: WebhookJson },
  throws: [NotFound],
  async handle({ caller, params: { webhook } }, { webhooks }) {
    return { status: 200, body: shown(await webhooks.managed(caller, webhook)) }
  },
})

export const updateWebhook = route({
  method: 'PUT',
  path: '/api/webhooks/:webhook',
  summary: 'Update a webhook',
  description:
    '`active` pauses or resumes it. Absent members are unchanged. Deliveries of a webhook of a space or the server follow the rights of the user who changed it last.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params,
  body: WebhookUpdate,
  responses: { 200: WebhookJson },
  throws: [NotFound, Invalid],
  async handle({ caller, params: { webhook }, body }, { webhooks, dispatcher }) {
    const changed = await webhooks.change(caller, webhook, changeOf(body))
    dispatcher.wake(webhook)
    return { status: 200, body: shown(changed) }
  },
})

export const deleteWebhook = route({
  method: 'DELETE',
  path: '/api/webhooks/:webhook',
  summary: 'Delete a webhook with its deliveries',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params,
  responses: { 204: s.empty() },
  throws: [NotFound],
  async handle({ caller, params: { webhook } }, { webhooks }) {
    await webhooks.remove(caller, webhook)
    return { status: 204, body: undefined }
  },
})

export const rotateWebhookSecret = route({
  method: 'POST',
  path: '/api/webhooks/:webhook/rotate',
  summary: 'Replace the secret of a webhook',
  description:
    'Deliveries are also signed with the previous secret for 24 hours (`resources.webhooks.rotationHours`). The new one is shown once.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params,
  responses: { 200: WebhookWithSecret },
  throws: [NotFound],
  async handle({ caller, params: { webhook } }, { webhooks }) {
    const { webhook: changed, secret } = await webhooks.rotate(caller, webhook)
    return { status: 200, body: { ...shown(changed), secret } }
  },
})

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
