import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { type Credentials, NotSignedIn } from 'pounce/sdk'
import type { Exchange } from './exchange.ts'

/** The cookie that carries a session. */
export const sessionCookie = 'pounce_session'

/** False when a request has nothing that could tell who sends it. */
export const bringsCredentials = ({ req: { headers }, line }: Exchange): boolean =>
  headers.cookie !== undefined || headers.authorization !== undefined || headers['x-api-key'] !== undefined || line.key !== undefined

/** What a request tells of its sender before anybody looks it up. */
export interface Sent {
  readonly headers: IncomingHttpHeaders
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Taken from the query, where nothing else sees it. */
  readonly queryKey: string | undefined
  readonly address: string
}

/**
 * Reads the credentials of a request; undefined when it brought none. An `Authorization` header that cannot be read is a wrong
 * credential (`NotSignedIn`), not none.
 */
export const credentialsOf = ({ headers, query, queryKey, address }: Sent): Credentials | undefined => {
  const { cookie, authorization } = headers
  const headerKey = headers['x-api-key']
  if (cookie === undefined && authorization === undefined && !headerKey && !queryKey) return undefined
  const session = cookie === undefined ? undefined : cookieValue(cookie, sessionCookie)
  const wantsSuperAdmin = isYes(query['superAdmin']) || (cookie !== undefined && isYes(cookieValue(cookie, 'superAdmin')))
  const found = {
    ...(session ? { session } : {}),
    ...(authorization ? authorizationOf(authorization) : {}),
    ...(typeof headerKey === 'string' && headerKey ? { headerKey } : {}),
    ...(queryKey ? { queryKey } : {}),
  }
  return Object.keys(found).length === 0 ? undefined : { ...found, wantsSuperAdmin, address }
}

const isYes = (value: string | readonly string[] | undefined): boolean => value === 'true' || value === 'True'

const authorizationOf = (text: string): Pick<Credentials, 'basic' | 'bearer'> => {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+)\s*$/.exec(text) ?? []
  if (/^bearer$/i.test(scheme)) return { bearer: value }
  if (!/^basic$/i.test(scheme)) throw new NotSignedIn('The Authorization header must be Basic or Bearer')
  const decoded = Buffer.from(value, 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  if (colon < 1) throw new NotSignedIn('The Authorization header must carry an e-mail address and a password')
  return { basic: { email: decoded.slice(0, colon), password: decoded.slice(colon + 1) } }
}

/** Two different ones are none that fits: the second may have been planted by another server of the domain. */
const cookieValue = (header: string, name: string): string | undefined => {
  const values = new Set<string>()
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) values.add(unquoted(pair.slice(at + 1).trim()))
  }
  return values.size === 0 ? undefined : [...values].join(', ')
}

const unquoted = (text: string): string => text.replace(/^"(.*)"$/, '$1')

/** The address of the other end: the one that the outermost of our own proxies saw, else that of the connection. */
export const addressOf = (headers: IncomingHttpHeaders, socketAddress: string | undefined, trustedProxies: number): string => {
  const forwarded = headers['x-forwarded-for']
  if (trustedProxies > 0 && typeof forwarded === 'string') {
    const hops = forwarded.split(',')
    const seen = withoutPort(hops[Math.max(0, hops.length - trustedProxies)]?.trim() ?? '')
    if (isIP(seen) !== 0) return seen
  }
  return socketAddress ?? ''
}

/** Some proxies add the port, which differs from connection to connection. */
const withoutPort = (text: string): string => /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
