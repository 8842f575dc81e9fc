import { type Caller, Forbidden, Invalid, NotFound, Problem, routesFor, type Stored, s, signedIn, type UserRecord, Users } from 'pounce/sdk'
import type { KeyRecord } from '../collections.ts'
import { ApiKeys } from './api-keys.ts'
import { reachFrom, reachParameters, spacesIn } from './key-reach.ts'

const route = routesFor('users', { users: Users, keys: ApiKeys })

const KeyJson = s.model(
  'ApiKey',
  s.Object({
    name: s.String(),
    key: s.String({ description: 'The start of the key, the rest masked: the full key is shown once, when it is created' }),
    identityId: s.Object({ userId: s.String(), providerId: s.String() }),
    scope: s.Union([s.Literal('full'), s.Literal('extraction')]),
    verbs: s.Union([s.Array(s.String()), s.Null()], { description: 'Null: all' }),
    spaces: s.Union([s.Array(s.id()), s.Null()], { description: 'Null: all' }),
    created: s.String(),
    lastUsed: s.Union([s.String(), s.Null()], { description: 'Accurate to a minute' }),
    expires: s.Union([s.String(), s.Null()], { description: 'Null: never' }),
  }),
)

class NoSuchKey extends Problem {
  constructor(name: string) {
    super(404, 'not-found', `Key with name ${name} not found`)
  }
}

const shown = (key: KeyRecord & Stored, user: UserRecord) => ({
  name: key.name,
  key: `${key.prefix}-****`,
  identityId: { userId: user.email, providerId: user.provider },
  scope: key.scope,
  verbs: key.verbs === undefined ? null : [...key.verbs],
  spaces: key.spaces === undefined ? null : [...key.spaces],
  created: key.created,
  lastUsed: key.lastUsed,
  expires: key.expires ?? null,
})

const account = async (users: Users, caller: Caller): Promise<UserRecord & Stored> => {
  const user = await users.get(signedIn(caller).id)
  if (!user) throw new NotFound('user')
  return user
}

export const listKeys = route({
  method: 'GET',
  path: '/api/users/keys',
  summary: 'List my API keys',
  description: 'Unlike in Clowder 1.x, keys are masked, because only their hashes are stored.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  responses: { 200: s.Array(KeyJson) },
  throws: [Forbidden],
  async handle({ caller }, { users, keys }) {
    const user = await account(users, caller)
    const all = await keys.of(user.id)
    return { status: 200, body: all.map(key => shown(key, user)) }
  },
})

export const getKey = route({
  method: 'GET',
  path: '/api/users/keys/:name',
  summary: 'Get one of my API keys, masked',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params: s.Object({ name: s.String() }),
  responses: { 200: KeyJson },
  throws: [Forbidden, NotFound],
  async handle({ params, caller }, { users, keys }) {
    const user = await account(users, caller)
    const key = await keys.named(user.id, params.name)
    if (!key) throw new NoSuchKey(params.name)
    return { status: 200, body: shown(key, user) }
  },
})

export const createKey = route({
  method: 'POST',
  path: '/api/users/keys',
  summary: 'Create an API key',
  description:
    "The only response with the full key. With scope `extraction` it has only the rights of extractors; `verbs` and `spaces` limit it to a part of its owner's rights.",
  permission: 'signedIn',
  limitedKeys: 'refused',
  stepUp: true,
  query: s.Object({ name: s.line(200), ...reachParameters }),
  alsoRequires: [{ right: 'ViewSpace', on: ({ spaces }) => spacesIn(spaces).map(id => ({ kind: 'space', id })) }],
  responses: { 200: s.model('NewApiKey', s.Object({ name: s.String(), key: s.String({ description: '36 characters' }) })) },
  throws: [Invalid, Forbidden, NotFound],
  async handle({ query, caller }, { keys }) {
    const { id } = signedIn(caller)
    const { key } = await keys.create(id, query.name, reachFrom(query), id)
    return { status: 200, body: { name: query.name, key }, headers: { 'cache-control': 'no-store' } }
  },
})

export const deleteKey = route({
  method: 'DELETE',
  path: '/api/users/keys/:name',
  summary: 'Revoke an API key',
  description: 'Takes effect at once.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params: s.Object({ name: s.String() }),
  responses: { 204: s.empty() },
  throws: [Forbidden, NotFound],
  async handle({ params, caller }, { keys }) {
    const { id } = signedIn(caller)
    if (!(await keys.revoke(id, params.name, id))) throw new NoSuchKey(params.name)
    return { status: 204, body: undefined }
  },
})
