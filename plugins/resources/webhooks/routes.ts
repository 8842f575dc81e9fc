import { Conflict, type EventFilter, Invalid, NotFound, ref, routesFor, s, signedIn } from 'pounce/sdk'
import { DeliveryDispatcher } from './delivery-dispatcher.ts'
import type { Webhook } from './records.ts'
import { StoredWebhooks, type WebhookOwner } from './stored-webhooks.ts'

const route = routesFor('webhooks', { webhooks: StoredWebhooks, dispatcher: DeliveryDispatcher })

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

const changeOf = <T extends { readonly filter?: object | undefined }>(body: T) =>
  body as Omit<T, 'filter'> & { readonly filter?: EventFilter }

const mine: WebhookOwner = { scope: 'person' }
const ofServer: WebhookOwner = { scope: 'server' }
const params = s.Object({ webhook: s.id() })
const ofSpace = s.Object({ id: s.id() })
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
