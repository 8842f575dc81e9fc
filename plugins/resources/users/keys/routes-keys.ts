import { type Caller, Forbidden, Invalid, NotFound, Problem, routesFor, type Stored, s, signedIn, type UserRecord, Users } from 'pounce/sdk'
import type { KeyRecord } from '../collections.ts'
import { reachFrom, reachParameters, spacesIn } from './key-reach.ts'
import { KeyStore } from './keyring.ts'

const route = routesFor('users', { users: Users, keys: KeyStore })

const KeyJson = s.Object({
  name: s.String(),
  key: s.String({ description: 'The start of the key, the rest masked: the whole is shown once, when the key is made' }),
  identityId: s.Object({ userId: s.String(), providerId: s.String() }),
  scope: s.Union([s.Literal('full'), s.Literal('extraction')]),
  verbs: s.Union([s.Array(s.String()), s.Null()], { description: 'Null: all' }),
  spaces: s.Union([s.Array(s.id()), s.Null()], { description: 'Null: all' }),
  created: s.String(),
  lastUsed: s.Union([s.String(), s.Null()], { description: 'Accurate to a minute' }),
  expires: s.Union([s.String(), s.Null()], { description: 'Null: never' }),
})

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
  summary: 'My API keys',
  description: 'Differs from Clowder 1.x: keys are masked, for only their hashes are stored.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  responses: { 200: s.Array(KeyJson) },
  throws: [Forbidden],
  async handle({ caller }, { users, keys }) {
    const user = await account(users, caller)
    const held = await keys.of(user.id)
    return { status: 200, body: held.map(key => shown(key, user)) }
  },
})

export const getKey = route({
  method: 'GET',
  path: '/api/users/keys/:name',
  summary: 'One of my API keys, masked',
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
  summary: 'Make an API key',
  description:
    'The only answer that holds the whole key. With scope `extraction` it can do what extractors do and no more; `verbs` and `spaces` hold it to a part of what its owner may.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  query: s.Object({ name: s.line(200), ...reachParameters }),
  also: [{ permission: 'ViewSpace', of: ({ spaces }) => spacesIn(spaces).map(id => ({ kind: 'space', id })) }],
  responses: { 200: s.Object({ name: s.String(), key: s.String({ description: '36 characters' }) }) },
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
  description: 'From the answer on the key is refused.',
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
