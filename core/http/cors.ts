import type { IncomingMessage } from 'node:http'
import type { Log } from 'pounce/sdk'
import { originOf } from './authenticate.ts'
import { NoSuchAddress } from './problems.ts'
import type { Middleware } from './request-context.ts'
import type { ResponseWriter } from './response-writer.ts'
import type { Addresses, PrefixRouter } from './router.ts'

/** Headers of answers that pages of other origins may read, besides those of plugins. */
export const exposedHeaders = ['Link', 'X-Request-Id', 'Content-Disposition', 'Content-Range', 'Retry-After', 'Location']

/**
 * The headers that let a page of another origin read an answer: only for origins that the configuration names, never a reflection, never with
 * cookies. `*` lets all read what they may see without a session.
 */
export const corsHeaders = (
  origin: string | undefined,
  allowed: readonly string[],
  exposed: string,
): Readonly<Record<string, string>> | undefined => {
  if (allowed.length === 0) return undefined
  const expose = { 'access-control-expose-headers': exposed }
  if (allowed.includes('*')) return { 'access-control-allow-origin': '*', ...expose }
  const known = allowed.find(each => each === origin)
  return known === undefined ? { vary: 'Origin' } : { 'access-control-allow-origin': known, vary: 'Origin', ...expose }
}

const maxNoted = 100
const longestOrigin = 255

/**
 * Says in the log, once for each, that the answers to pages of another origin cannot be read by them, and which setting allows it: browsers tell
 * their users only that something failed.
 */
export const crossOriginWarning = (
  allowed: readonly string[],
  baseUrl: () => string,
  log: Log,
): ((req: Pick<IncomingMessage, 'headers'>) => void) => {
  const noted = new Set<string>()
  return ({ headers }) => {
    const { origin } = headers
    if (origin === undefined || headers['sec-fetch-site'] === 'same-origin' || allowed.includes('*') || allowed.includes(origin)) return
    const from = originOf(origin)
    if (from !== undefined && (from.host === headers.host || from.origin === originOf(baseUrl())?.origin)) return
    if (noted.has(origin) || noted.size >= maxNoted || origin.length > longestOrigin) return
    noted.add(origin)
    log.warn('cross-origin request blocked by CORS; to allow it add its origin to http.allowedOrigins', {
      origin,
    })
  }
}

const allowedHeaders = ['Content-Type', 'X-API-Key', 'Authorization', 'Range', 'If-None-Match', 'X-HTTP-Method-Override']

/** What answers to OPTIONS are made of. */
export interface CorsOptions {
  readonly router: PrefixRouter
  readonly addresses: Addresses
  readonly writer: ResponseWriter
  readonly allowedOrigins: readonly string[]
  /** Headers of plugins that pages of these origins may send. */
  readonly requestHeaders: readonly string[]
}

/** Answers OPTIONS: the methods of an address, and what browsers ask before a request from another origin. */
export const cors =
  ({ router, addresses, writer, allowedOrigins, requestHeaders }: CorsOptions): Middleware =>
  (context, next) => {
    const { request } = context.state
    if (request.req.method !== 'OPTIONS') return next()
    const path = addresses.withoutSlash(request.target.path) ?? request.target.path
    const allowed = router.allowed(path)
    if (allowed.length === 0 && request.req.url !== '*') throw new NoSuchAddress()
    const allow = [...allowed, 'OPTIONS'].join(', ')
    const preflight = {
      'access-control-allow-methods': allow,
      'access-control-allow-headers': [...allowedHeaders, ...requestHeaders].join(', '),
      'access-control-max-age': '600',
    }
    writer.send(request, 204, { ...router.headersOf(path), allow, ...(allowedOrigins.length > 0 ? preflight : {}) }, undefined)
  }
