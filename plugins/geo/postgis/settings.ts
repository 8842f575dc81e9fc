import { configPort, s } from 'pounce/sdk'
import { isDenied, isUnavailable, stateOf } from './problems.ts'

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

const setting = 'geo.postgis.url'

/** The userinfo of a connection string. It ends at the last `@`, since a password may contain an unescaped one. */
const credentialsOf = (url: string): string | undefined => /^[a-z+]+:\/\/(.*)@/s.exec(url)?.[1]

/** Host, port and database of a connection string, without userinfo and parameters. */
const placeOf = (url: string): string => /^[a-z+]+:\/\/(?:.*@)?([^?]+)/s.exec(url)?.[1] ?? 'the given URL'

/** The error's message, without the secrets of the connection string. */
const wordsOf = (error: unknown, url: string): string => {
  const text = error instanceof Error ? error.message || error.constructor.name : String(error)
  const credentials = credentialsOf(url)
  if (credentials === undefined) return text
  const secrets = [url, credentials, credentials.slice(credentials.indexOf(':') + 1)].filter(secret => secret !== '')
  return secrets.reduce((words, secret) => words.replaceAll(secret, '…'), text)
}

/** A reason of our own why the database cannot be used. */
export class PostgisUnusable extends Error {}

/** Validates the connection string. Throws `PostgisUnusable` when it is not a PostgreSQL one, or does not verify certificates. */
export const checkedUrl = (url: string): string => {
  if (!/^postgres(?:ql)?:\/\//.test(url)) throw new PostgisUnusable('expected a URL like postgres://user:password@host:port/database')
  if (/[?&]sslmode=(?!disable\b|verify-full\b)/.test(url) || /[?&]uselibpqcompat=/.test(url))
    throw new PostgisUnusable('sslmode must be verify-full (with sslrootcert=FILE for a private CA) or disable')
  return url
}

/** An error for why the database cannot be used; names the setting. */
export const refusalOf = (error: unknown, url: string, schema: string): Error => {
  const place = placeOf(url)
  const say = (what: string) => new Error(`${setting}: ${what}: ${wordsOf(error, url)}`, { cause: error })
  if (error instanceof PostgisUnusable) return new Error(`${setting}: ${error.message}`)
  const state = stateOf(error) ?? ''
  if (state.startsWith('28')) return say(`the server at ${place} refuses this user and password`)
  if (isDenied(error)) return say(`the server at ${place} does not allow this user to create or use the schema ${schema}`)
  if (isUnavailable(error)) return say(`no server can be used at ${place}`)
  return say(`the database at ${place} cannot be used`)
}
