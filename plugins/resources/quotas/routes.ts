import { Invalid, NotFound, ref, routesFor, Spaces, s, Users } from 'pounce/sdk'
import type { Holder } from './collections.ts'
import { UsageLedger } from './usage-ledger.ts'

const route = routesFor('quotas', { ledger: UsageLedger, users: Users, spaces: Spaces })

const Quota = s.model(
  'Quota',
  s.Object({
    usedBytes: s.Integer({ minimum: 0 }),
    maxBytes: s.Integer({ minimum: 0, description: '0: no limit' }),
    usedFiles: s.Integer({ minimum: 0 }),
    maxFiles: s.Integer({ minimum: 0, description: '0: no limit' }),
    isEnforced: s.Boolean({ description: 'False if the configuration sets no quota: then nothing is counted' }),
  }),
)

const quotaOf = async (ledger: UsageLedger, holder: Holder) => {
  const [{ bytes, files }, limit] = await Promise.all([ledger.usageOf(holder), ledger.limitOf(holder)])
  return { usedBytes: bytes, usedFiles: files, ...limit, isEnforced: ledger.isOn }
}

const description = 'An addition to Clowder 1.x. Files in the trash count. A file in several spaces counts in each.'

export const getOwnQuota = route({
  method: 'GET',
  path: '/api/me/quota',
  summary: 'Get my storage usage and quota',
  description,
  permission: 'signedIn',
  responses: { 200: Quota },
  async handle({ caller }, { ledger }) {
    if (!caller.user) throw new NotFound('user')
    return { status: 200, body: await quotaOf(ledger, { kind: 'user', id: caller.user.id }) }
  },
})

export const getSpaceQuota = route({
  method: 'GET',
  path: '/api/spaces/:id/quota',
  summary: 'Get the storage usage and quota of a space',
  description,
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params: s.Object({ id: s.id() }),
  responses: { 200: Quota },
  async handle({ params: { id } }, { ledger }) {
    return { status: 200, body: await quotaOf(ledger, { kind: 'space', id }) }
  },
})

const params = s.Object({ kind: s.Union([s.Literal('user'), s.Literal('space')]), id: s.id() })

interface Known {
  readonly users: Users
  readonly spaces: Spaces
}

const requireHolder = async ({ kind, id }: Holder, { users, spaces }: Known): Promise<void> => {
  if (!(kind === 'user' ? await users.get(id) : await spaces.get(id))) throw new NotFound(kind)
}

export const getQuota = route({
  method: 'GET',
  path: '/api/admin/quotas/:kind/:id',
  summary: 'Get the storage usage and quota of a user or space',
  description,
  permission: 'serverAdmin',
  params,
  responses: { 200: Quota },
  throws: [NotFound],
  async handle({ params: holder }, { ledger, ...known }) {
    await requireHolder(holder, known)
    return { status: 200, body: await quotaOf(ledger, holder) }
  },
})

const limit = s.Optional(s.Union([s.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), s.Null()]))

export const setQuota = route({
  method: 'PUT',
  path: '/api/admin/quotas/:kind/:id',
  summary: 'Set the storage quota of a user or space',
  description:
    'Replaces the previous quota: an absent or null member falls back to the settings of `resources.quotas`, 0 means no limit. If usage is above the new quota, nothing is deleted and further uploads are refused. No effect until one of these settings, or `countAlways`, is set (`isEnforced`). An addition to Clowder 1.x.',
  permission: 'serverAdmin',
  params,
  body: s.model('QuotaLimits', s.Object({ maxBytes: limit, maxFiles: limit })),
  responses: { 200: Quota },
  throws: [Invalid, NotFound],
  async handle({ params: holder, body }, { ledger, ...known }) {
    await requireHolder(holder, known)
    await ledger.setLimit(holder, { maxBytes: body.maxBytes ?? null, maxFiles: body.maxFiles ?? null })
    return { status: 200, body: await quotaOf(ledger, holder) }
  },
})
