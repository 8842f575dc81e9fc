import type { IncomingHttpHeaders } from 'node:http'
import { Problem } from 'pounce/sdk'

/** A page of another site tried to use the session of whoever looks at it. */
class CrossOrigin extends Problem {
  constructor() {
    super(403, 'cross-origin', 'A change with a session cookie must come from a page of this server; programs send an API key')
  }
}

/**
 * Lets a change on a route that looks at no credentials pass unless a browser says that a page of another site sent it: else that page could
 * sign its visitors in as somebody else, or out. Programs say nothing of the kind.
 */
export const refuseOtherOrigins = (headers: IncomingHttpHeaders, baseUrl: string): void => {
  if (headers['sec-fetch-site'] ?? headers.origin ?? headers.referer) requireSameOrigin(headers, baseUrl)
}

/**
 * Lets a session's change pass only when the browser says that a page of this server sent it; throws a 403 otherwise. Browsers send one of
 * these headers with every such request, so none at all is refused too.
 */
export const requireSameOrigin = (headers: IncomingHttpHeaders, baseUrl: string): void => {
  const site = headers['sec-fetch-site']
  if (site === 'same-origin') return
  if (site !== undefined && site !== 'none') throw new CrossOrigin()
  const from = originOf(headers.origin ?? headers.referer)
  const own = originOf(baseUrl)
  const isOwn = from !== undefined && (from.origin === own?.origin || (from.host === headers.host && !isDowngrade(from, own)))
  if (!isOwn) throw new CrossOrigin()
}

/** A page that came unencrypted where the server is encrypted may be anybody's. */
const isDowngrade = (from: URL, own: URL | undefined): boolean => own?.protocol === 'https:' && from.protocol !== 'https:'

const exposed =
  'Link, X-Request-Id, Content-Disposition, Content-Range, Retry-After, Location, ' +
  'Tus-Resumable, Tus-Version, Tus-Extension, Tus-Checksum-Algorithm, Upload-Offset, Upload-Length, Upload-Expires, Upload-Metadata'

const originOf = (text: string | undefined): URL | undefined => (text === undefined ? undefined : (URL.parse(text) ?? undefined))

/**
 * The headers that let a page of another origin read an answer: only for origins that the configuration names, never a reflection, never with
 * cookies. `*` lets all read what they may see without a session.
 */
export const corsHeaders = (origin: string | undefined, allowed: readonly string[]): Readonly<Record<string, string>> | undefined => {
  if (allowed.length === 0) return undefined
  const expose = { 'access-control-expose-headers': exposed }
  if (allowed.includes('*')) return { 'access-control-allow-origin': '*', ...expose }
  const known = allowed.find(each => each === origin)
  return known === undefined ? { vary: 'Origin' } : { 'access-control-allow-origin': known, vary: 'Origin', ...expose }
}
