import { configPort, s } from 'pounce/sdk'

/** Settings of `geo.postgis`. */
export const config = s.Object({
  url: s.String({
    minLength: 1,
    default: 'postgres://127.0.0.1:5432/pounce',
    secret: true,
    description: 'Connection string, such as `postgres://user:password@host:5432/database?sslmode=verify-full`',
  }),
  schema: s.String({
    pattern: '^[a-z_][a-z0-9_]{0,50}$',
    default: 'pounce_geo',
    description: 'Schema of the tables; created if absent',
  }),
  timeoutMs: s.Integer({
    default: 30_000,
    minimum: 100,
    maximum: 600_000,
    description: 'Statement timeout, in milliseconds',
  }),
  cursorIdleMs: s.Integer({
    default: 5000,
    minimum: 10,
    maximum: 600_000,
    description: 'Idle time after which a cursor returns its connection to the pool, in milliseconds; it continues on another connection',
  }),
  poolSize: s.Integer({
    default: 16,
    minimum: 2,
    maximum: 1000,
    description: 'Maximum number of connections to the server; one more monitors the server',
  }),
})

export const Config = configPort(config)
export type Settings = s.Static<typeof config>
