import { configPort, s } from 'pounce/sdk'

/** Settings of `documents.mongodb`. */
export const config = s.Object({
  uri: s.String({
    minLength: 1,
    default: 'mongodb://127.0.0.1:27017/',
    secret: true,
    description: 'Connection string, such as `mongodb://user:password@host:27017/?replicaSet=rs0`',
  }),
  database: s.String({
    pattern: '^[A-Za-z0-9_-]{1,38}$',
    default: 'pounce',
    description: 'Database name; created if absent',
  }),
  timeoutMs: s.Integer({
    default: 4000,
    minimum: 100,
    maximum: 60_000,
    description: 'Timeout of a single read or write, in milliseconds',
  }),
  readTimeoutMs: s.Integer({
    default: 30_000,
    minimum: 100,
    description: 'Timeout of a query that needs several reads, in milliseconds',
  }),
  poolSize: s.Integer({ default: 64, minimum: 1, maximum: 1000, description: 'Maximum number of connections to the server' }),
})

export const Config = configPort(config)
export type Settings = s.Static<typeof config>
