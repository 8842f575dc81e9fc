import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { anonymous, type Caller, type Callers, Forbidden, type Installation, Problem, WrongCredentials } from 'pounce/sdk'
import { type Credentials, cookieIn, cookieName, isWrongCredential, sessionCookie } from 'pounce/sdk/kit'
import { requireEnrolment, requireTerms } from './authorize.ts'
import { isFromPage, refuseOtherOrigins, requireSameOrigin } from './origins.ts'
import type { Middleware, RawQuery, RequestContext } from './request-context.ts'
import type { RegisteredRoute } from './router.ts'

/** Whether a request has credentials. */
const bringsCredentials = ({ req: { headers }, target, isProxied }: RequestContext): boolean =>
  isProxied ||
  headers.cookie !== undefined ||
  headers.authorization !== undefined ||
  headers['x-api-key'] !== undefined ||
  target.key !== undefined

/** The credentials of a request before verification. */
export interface SentCredentials {
  readonly headers: IncomingHttpHeaders
  readonly query: RawQuery
  /** The `key` that was removed from the query. */
  readonly queryKey: string | undefined
  readonly address: string
  /** The name of the session cookie. */
  readonly sessionCookie: string
  /** True if a listed proxy forwarded the request. */
  readonly isProxied?: boolean
  /** Number of `Authorization` headers; default 1. */
  readonly authorizations?: number
}

/** The credentials found in a request. */
export interface FoundCredentials {
  /** Undefined if there are none. */
  readonly credentials: Credentials | undefined
  /** Why its `Authorization` header is not a credential; the reason for a refusal if no other credential is valid. */
  readonly unreadable: WrongCredentials | undefined
}

const nothing: FoundCredentials = { credentials: undefined, unreadable: undefined }

/** Reads the credentials of a request. */
export const credentialsOf = ({
  headers,
  query,
  queryKey,
  address,
  sessionCookie,
  isProxied = false,
  authorizations = 1,
}: SentCredentials): FoundCredentials => {
  const { cookie, authorization } = headers
  const headerKey = headers['x-api-key']
  if (cookie === undefined && authorization === undefined && !headerKey && !queryKey && !isProxied) return nothing
  const session = cookieIn(cookie, sessionCookie)
  const wantsSuperAdmin = isYes(query['superAdmin']) || isYes(cookieIn(cookie, 'superAdmin'))
  const read = authorization ? authorizationOf(authorization, authorizations) : {}
  const unreadable = typeof read === 'string' ? new WrongCredentials(read) : undefined
  const found = {
    ...(session ? { session } : {}),
    ...(typeof read === 'string' ? {} : read),
    ...(typeof headerKey === 'string' && headerKey ? { headerKey } : {}),
    ...(queryKey ? { queryKey } : {}),
    ...(isProxied ? { proxied: headers } : {}),
  }
  return { credentials: Object.keys(found).length === 0 ? undefined : { ...found, wantsSuperAdmin, address }, unreadable }
}

const isYes = (value: string | readonly string[] | undefined): boolean => value === 'true' || value === 'True'

/** Returns a string with the reason if the header cannot be parsed. */
const authorizationOf = (text: string, count: number): Pick<Credentials, 'basic' | 'bearer'> | string => {
  // Node keeps the first of several; a proxy may have checked another one.
  if (count > 1) return 'Only one Authorization header is allowed'
  const [, scheme = '', value = ''] = /^(\S+) +(\S+)\s*$/.exec(text) ?? []
  if (/^bearer$/i.test(scheme)) return { bearer: value }
  if (!/^basic$/i.test(scheme)) return 'The Authorization header must be Basic or Bearer'
  const bytes = Buffer.from(value, 'base64')
  // Some clients, such as requests for Python, send ISO 8859-1 whatever charset the challenge names (RFC 7617, 2.1).
  const decoded = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
  const colon = decoded.indexOf(':')
  if (colon < 1) return 'The Authorization header must contain an email address and a password'
  return { basic: { email: decoded.slice(0, colon), password: decoded.slice(colon + 1) } }
}

/** True for refusals that depend on the caller, including 404 for invisible resources; false if they depend on the resource's state (quarantine). */
const isRefusal = (error: unknown): boolean =>
  error instanceof Problem && (error.status === 401 || error.code === 'forbidden' || error.code === 'not-found')

/** Dependencies of `authenticate`. */
export interface AuthenticateOptions {
  /** Absent if no plugin provides it. */
  readonly callers?: Callers
  /** The base URL may be unknown until the server listens. */
  readonly installation: Pick<Installation, 'baseUrl'>
}

/**
 * Identifies the caller. An invalid credential is treated as anonymous, and becomes the reason of a refusal if the request is refused. Changes with a session
 * must come from a page of this server.
 */
export const authenticate = (options: AuthenticateOptions): Middleware => {
  const authentication = new Authentication(options)
  return (context, next) => {
    const { request } = context.state
    const pending = authentication.check(request)
    return pending ? pending.then(() => (request.wrongCredentials ? explained(request, next) : next())) : next()
  }
}

const explained = async (request: RequestContext, next: () => Promise<unknown>): Promise<void> => {
  try {
    await next()
  } catch (error) {
    throw request.wrongCredentials && isRefusal(error) ? request.wrongCredentials : error
  }
}

class Authentication {
  readonly #callers: Callers | undefined
  readonly #installation: Pick<Installation, 'baseUrl'>
  readonly #sessionCookie: string

  constructor({ callers, installation }: AuthenticateOptions) {
    this.#callers = callers
    this.#installation = installation
    this.#sessionCookie = cookieName(sessionCookie, installation.baseUrl)
  }

  /** Undefined if there is nothing to look up. */
  check(request: RequestContext): Promise<void> | undefined {
    const route = request.route as RegisteredRoute
    if (!route.declaration.ignoresCredentials) return bringsCredentials(request) ? this.#identify(request, route) : undefined
    if (isChange(request)) refuseOtherOrigins(request.req.headers, this.#installation.baseUrl)
    return undefined
  }

  async #identify(request: RequestContext, route: RegisteredRoute): Promise<void> {
    request.caller = await this.#callerOf(request, route)
    // A proxy, like a cookie, identifies a browser regardless of the page that sends the request.
    if (request.caller.via !== 'session' && request.caller.via !== 'proxy') return
    if (route.declaration.neverByCookie) throw new Forbidden('Sessions are not accepted here: send an API key')
    if (isChange(request)) requireSameOrigin(request.req.headers, this.#installation.baseUrl)
  }

  async #callerOf(request: RequestContext, { isLenient, declaration }: RegisteredRoute): Promise<Caller> {
    const { req } = request
    const { headers } = req
    const { query, key } = request.target
    // Reading `headersDistinct` makes Node process all headers again.
    const authorizations = headers.authorization === undefined ? 0 : (req.headersDistinct['authorization']?.length ?? 0)
    const sessionCookie = this.#sessionCookie
    const { address, isProxied } = request
    const sent = credentialsOf({ headers, query, queryKey: key, address, sessionCookie, isProxied, authorizations })
    const { unreadable } = sent
    const acceptsSession = isFromPage(headers) || !(declaration.neverByCookie || isChange(request))
    const credentials = acceptsSession ? sent.credentials : preferringOthers(sent.credentials)
    if (credentials?.session !== undefined) request.staleCookie = sessionCookie
    try {
      const caller = await this.#lookUp(credentials, unreadable)
      requireTerms(declaration, caller)
      requireEnrolment(declaration, caller)
      request.staleCookie = undefined
      return caller
    } catch (error) {
      if (isWrongCredential(error)) request.wrongCredentials = error
      else if (!isLenient) throw error
      return anonymous
    }
  }

  async #lookUp(credentials: Credentials | undefined, unreadable: WrongCredentials | undefined): Promise<Caller> {
    if (!credentials) {
      if (unreadable) throw unreadable
      return anonymous
    }
    if (!this.#callers) throw new WrongCredentials('Accounts are not available on this server')
    return this.#callers.identify(credentials)
  }
}

/** Programs keep the cookie of a sign-in and send it beside their key or password: the session, which would be refused, is ignored. */
const preferringOthers = (sent: Credentials | undefined): Credentials | undefined => {
  if (sent?.session === undefined) return sent
  const { session: _, ...others } = sent
  return others.basic || others.bearer || others.headerKey || others.queryKey ? others : sent
}

const isChange = ({ req: { method } }: RequestContext): boolean => method !== 'GET' && method !== 'HEAD'
