import {
  type Caller,
  type CallerUser,
  Forbidden,
  Invalid,
  NotFound,
  Problem,
  routesFor,
  type Stored,
  s,
  signedIn,
  type UserRecord,
  Users,
} from 'pounce/sdk'
import type { KeyRecord } from './collections.ts'
import { KeyStore } from './keyring.ts'

const route = routesFor('users', { users: Users, keys: KeyStore })

const KeyJson = s.Object({
  name: s.String(),
  key: s.String({ description: 'The start of the key, the rest masked: the whole is shown once, when the key is made' }),
  identityId: s.Object({ userId: s.String(), providerId: s.String() }),
})

class NoSuchKey extends Problem {
  constructor(name: string) {
    super(404, 'not-found', `Key with name ${name} not found`)
  }
}

/** Who may deal with keys: the person, never an extractor in the person's name. */
const owner = (caller: Caller): CallerUser => {
  if (caller.scope !== 'full') throw new Forbidden('An extraction key cannot deal with keys')
  return signedIn(caller)
}

const shown = (key: KeyRecord & Stored, user: UserRecord) => ({
  name: key.name,
  key: `${key.prefix}-****`,
  identityId: { userId: user.email, providerId: user.provider },
})

const account = async (users: Users, caller: Caller): Promise<UserRecord & Stored> => {
  const user = await users.get(owner(caller).id)
  if (!user) throw new NotFound('user')
  return user
}

export const listKeys = route({
  method: 'GET',
  path: '/api/users/keys',
  summary: 'My API keys',
  description: 'Differs from Clowder 1.x: keys are masked, for only their hashes are stored.',
  permission: 'signedIn',
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
  description: 'The only answer that holds the whole key. With scope `extraction` it can do what extractors do and no more.',
  permission: 'signedIn',
  query: s.Object({
    name: s.line(200),
    scope: s.Union([s.Literal('full'), s.Literal('extraction')], { default: 'full', description: 'An addition to Clowder 1.x' }),
  }),
  responses: { 200: s.Object({ name: s.String(), key: s.String({ description: '36 characters' }) }) },
  throws: [Invalid, Forbidden],
  async handle({ query, caller }, { keys }) {
    const { id } = owner(caller)
    const { key } = await keys.create(id, query.name, query.scope, id)
    return { status: 200, body: { name: query.name, key }, headers: { 'cache-control': 'no-store' } }
  },
})

export const deleteKey = route({
  method: 'DELETE',
  path: '/api/users/keys/:name',
  summary: 'Revoke an API key',
  description: 'From the answer on the key is refused.',
  permission: 'signedIn',
  params: s.Object({ name: s.String() }),
  responses: { 204: s.empty() },
  throws: [Forbidden, NotFound],
  async handle({ params, caller }, { keys }) {
    const { id } = owner(caller)
    if (!(await keys.revoke(id, params.name, id))) throw new NoSuchKey(params.name)
    return { status: 204, body: undefined }
  },
})
