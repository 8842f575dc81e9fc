import {
  allPermissions,
  didYouMean,
  Forbidden,
  Invalid,
  type Kind,
  NotFound,
  type Permission,
  type Ref,
  routesFor,
  s,
  sensorIdOf,
  streamIdOf,
  verbOf,
} from 'pounce/sdk'
import { RightsExplained } from './explaining.ts'
import { sentences } from './permission-sentences.ts'

const route = routesFor('permissions', { explaining: RightsExplained })

const kinds = [
  ...(['space', 'collection', 'dataset', 'folder', 'file', 'section', 'preview', 'thumbnail'] as const),
  ...(['metadata', 'comment', 'relation', 'vocabulary', 'term', 'user', 'sensor', 'stream'] as const),
] satisfies readonly Kind[]

const isPermission = (name: string): name is Permission => allPermissions.has(name)
const readPermission = (name: string): Permission => {
  if (isPermission(name)) return name
  throw new Invalid(`There is no permission ${name}${didYouMean(name, allPermissions)}`)
}
const isKind = (name: string): name is (typeof kinds)[number] => kinds.some(kind => kind === name)
const readKind = (name: string): Kind => {
  if (isKind(name)) return name
  throw new Invalid(`Nobody has rights on a ${name}${didYouMean(name, kinds)}; type is one of ${kinds.join(', ')}`)
}

/** Sensors and streams are named by their numbers, as everywhere; what is no number names nothing. */
const readThing = (type: string, id: string): Ref => {
  const kind = readKind(type)
  if (kind !== 'sensor' && kind !== 'stream') return { kind, id }
  const idOf = kind === 'sensor' ? sensorIdOf : streamIdOf
  return { kind, id: /^[1-9]\d{0,14}$/.test(id) ? idOf(Number(id)) : 'none' }
}

export const listPermissions = route({
  method: 'GET',
  path: '/api/permissions',
  summary: 'The rights that roles are made of',
  description: 'Our own addition. The verb is what keys that are limited to verbs go by.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  responses: { 200: s.Array(s.Object({ name: s.String(), description: s.String(), verb: s.String() })) },
  async handle() {
    const names = [...allPermissions].filter(isPermission)
    return { status: 200, body: names.map(name => ({ name, description: sentences[name], verb: verbOf[name] })) }
  },
})

export const explainPermission = route({
  method: 'GET',
  path: '/api/permissions/explain',
  summary: 'Why somebody may do something, or may not',
  description:
    'Our own addition. Asks what every other route asks, and adds the rules that led to the answer: `yes`, `no` (403), or `unseen` (404, as if it were not there). ' +
    'About oneself, with the key that asks, or about nobody in particular; server admins about everybody. Without `id` it is about a right where no thing is named.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  query: s.Object({
    permission: s.String({ maxLength: 100, description: 'Such as `EditDataset`; see `GET /api/permissions`' }),
    user: s.Optional(s.String({ maxLength: 100, description: 'Id of an account, or `anonymous`; absent: whoever asks' })),
    type: s.Optional(s.String({ maxLength: 100, description: `One of ${kinds.join(', ')}` })),
    id: s.Optional(s.String({ maxLength: 100, description: 'Of a thing of that type; of sensors and streams the number' })),
  }),
  responses: {
    200: s.Object({
      user: s.Union([s.Object({ id: s.String(), fullName: s.String() }), s.Null()]),
      permission: s.String(),
      verb: s.String(),
      resource: s.Union([s.Object({ type: s.String(), id: s.String() }), s.Null()]),
      verdict: s.Union([s.Literal('yes'), s.Literal('no'), s.Literal('unseen')]),
      because: s.Array(s.String(), { description: 'The rules in the order in which they were tried' }),
    }),
  },
  throws: [Invalid, Forbidden, NotFound],
  async handle({ query, caller }, { explaining }) {
    const permission = readPermission(query.permission)
    if ((query.type === undefined) !== (query.id === undefined))
      throw new Invalid('type and id name a thing together: send both or neither')
    const on = query.type === undefined || query.id === undefined ? undefined : readThing(query.type, query.id)
    const { user, verdict, because } = await explaining.explain(caller, { user: query.user, permission, on })
    const resource = on && query.id !== undefined ? { type: on.kind, id: query.id } : null
    return { status: 200, body: { user, permission, verb: verbOf[permission], resource, verdict, because: [...because] } }
  },
})
