import { configPort, s } from 'pounce/sdk'

/** Settings of `geo.postgis`. */
export const config = s.Object({
  url: s.String({
    minLength: 1,
    default: 'postgres://127.0.0.1:5432/pounce',
    secret: true,
    description: 'Where the database is, with its user and password: `postgres://user:password@host:5432/database?sslmode=verify-full`',
  }),
  schema: s.String({
    pattern: '^[a-z_][a-z0-9_]{0,50}$',
    default: 'pounce_geo',
    description: 'Name of the schema that holds the tables; it is made when absent',
  }),
  timeoutMs: s.Integer({
    default: 30_000,
    minimum: 100,
    maximum: 600_000,
    description: 'A statement that takes the server longer than this many milliseconds is given up',
  }),
  cursorIdleMs: s.Integer({
    default: 5000,
    minimum: 10,
    maximum: 600_000,
    description: 'A reader that asks for nothing for this many milliseconds gives its connection back; it goes on with another one',
  }),
  poolSize: s.Integer({
    default: 16,
    minimum: 2,
    maximum: 1000,
    description: 'Connections to the server at most; one more watches the server',
  }),
})

export const Config = configPort(config)
export type Settings = s.Static<typeof config>
