import { configPort, s } from 'pounce/sdk'

/** Settings of `documents.mongodb`. */
export const config = s.Object({
  uri: s.String({
    minLength: 1,
    default: 'mongodb://127.0.0.1:27017/',
    secret: true,
    description: 'Where the server is, with its user and password: `mongodb://user:password@host:27017/?replicaSet=rs0`',
  }),
  database: s.String({
    pattern: '^[A-Za-z0-9_-]{1,38}$',
    default: 'pounce',
    description: 'Name of the database; it is made when absent',
  }),
  timeoutMs: s.Integer({
    default: 4000,
    minimum: 100,
    maximum: 60_000,
    description: 'A read or write that takes the server longer than this many milliseconds is given up',
  }),
  readTimeoutMs: s.Integer({
    default: 30_000,
    minimum: 100,
    description: 'A query that needs many reads is given up after this many milliseconds',
  }),
  poolSize: s.Integer({ default: 64, minimum: 1, maximum: 1000, description: 'Connections to the server at most' }),
})

export const Config = configPort(config)
export type Settings = s.Static<typeof config>
