import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  nodes: s.Array(s.String({ pattern: '^https?://' }), {
    default: ['http://127.0.0.1:9200'],
    minItems: 1,
    description: 'Addresses of the servers of one cluster',
  }),
  username: s.Optional(s.String({ minLength: 1, description: 'Account on the server, together with `password`' })),
  password: s.Optional(s.String({ minLength: 1, secret: true, description: 'Password of that account' })),
  apiKey: s.Optional(s.String({ minLength: 1, secret: true, description: 'API key in its encoded form, instead of an account' })),
  caFile: s.Optional(s.String({ minLength: 1, description: 'PEM file of the authority that signed the certificate of the server' })),
  index: s.String({
    default: 'pounce',
    pattern: '^[a-z0-9][a-z0-9-]{0,60}$',
    description: 'First part of the names of all indexes; installations that share a server differ in it',
  }),
  shards: s.Integer({ default: 1, minimum: 1, maximum: 64, description: 'Shards of an index that is made from now on' }),
  searchTimeoutMs: s.Integer({ default: 1800, minimum: 50, maximum: 60_000, description: 'How long a search may take, in ms' }),
  writeTimeoutMs: s.Integer({
    default: 8000,
    minimum: 100,
    maximum: 120_000,
    description: 'How long one request with changes may take, in ms',
  }),
  refreshMs: s.Integer({
    default: 50,
    minimum: 0,
    maximum: 1000,
    description: 'Least time between two batches of changes, in ms; changes that come in between share one',
  }),
})
export type Settings = s.Static<typeof config>
export const Config = configPort(config)
