import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  nodes: s.Array(s.String({ pattern: '^https?://' }), {
    default: ['http://127.0.0.1:9200'],
    minItems: 1,
    description: 'URLs of the nodes of one cluster',
  }),
  username: s.Optional(s.String({ minLength: 1, description: 'User name, used with `password`' })),
  password: s.Optional(s.String({ minLength: 1, secret: true, description: 'Password of `username`' })),
  apiKey: s.Optional(s.String({ minLength: 1, secret: true, description: 'Encoded API key, instead of a user name' })),
  caFile: s.Optional(s.String({ minLength: 1, description: "PEM file of the CA that signed the server's certificate" })),
  index: s.String({
    default: 'pounce',
    pattern: '^[a-z0-9][a-z0-9-]{0,60}$',
    description: 'Prefix of all index names; must differ between installations that share a server',
  }),
  shards: s.Integer({ default: 1, minimum: 1, maximum: 64, description: 'Number of shards of new indexes' }),
  searchTimeoutMs: s.Integer({ default: 1800, minimum: 50, maximum: 60_000, description: 'Timeout of a search, in milliseconds' }),
  writeTimeoutMs: s.Integer({
    default: 8000,
    minimum: 100,
    maximum: 120_000,
    description: 'Timeout of a bulk request, in milliseconds',
  }),
  refreshMs: s.Integer({
    default: 50,
    minimum: 0,
    maximum: 1000,
    description: 'Minimum time between two batches of changes, in milliseconds',
  }),
})
export type Settings = s.Static<typeof config>
export const Config = configPort(config)
