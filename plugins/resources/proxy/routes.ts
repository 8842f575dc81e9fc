import { type Bytes, byteBody, Forbidden, Invalid, type Request, routesFor, type SentBytes, s, TooLarge, Unavailable } from 'pounce/sdk'
import { FixedEndpoints } from './fixed-endpoints.ts'

const route = routesFor('proxy', { endpoints: FixedEndpoints })

/**
 * The registered statuses (RFC 9110, 16.2.2), without those that answer a header that is not forwarded. Another status is relayed as the generic one of
 * its class (RFC 9110, 15): each has to be declared.
 */
const relayed = [
  ...[200, 201, 202, 203, 204, 207, 208, 226, 300, 301, 302, 303, 307, 308],
  ...[
    400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 417, 421, 422, 423, 424, 425, 426, 428, 429, 431, 451,
  ],
  ...[500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511],
] as const
const responses: Readonly<Record<number, ReturnType<typeof s.bytes<Bytes>>>> = Object.fromEntries(
  relayed.map(status => [status, s.bytes<Bytes>()]),
)
const statusOf = (status: number): number => (status in responses ? status : Math.min(500, Math.max(200, Math.floor(status / 100) * 100)))

const key = s.String({ minLength: 1, maxLength: 100, description: 'Name of the service' })
const params = s.Object({ key })
const paramsBelow = s.Object({ key, path: s.String({ maxLength: 8000, description: 'Path below the URL of the service' }) })
const body = byteBody('Any body that the service accepts', { isOptional: true })
const about = {
  summary: 'Forward a request to a service',
  description:
    'Forwards method, path, query without `key`, `Accept` and body; returns status, type, body and `Content-Disposition`. Redirects are not followed, credentials never forwarded.',
  permission: 'signedIn',
  cost: 'fetch',
  responses,
  throws: [Forbidden, Invalid, TooLarge, Unavailable],
} as const

/** The path after the name, as sent. */
const pathBehind = (pathname: string, name: string): string => {
  const marked = `/api/proxy/${encodeURIComponent(name)}`
  const at = pathname.indexOf(marked)
  if (at < 0) throw new Invalid('The path below the service must not contain . or .. segments')
  return pathname.slice(at + marked.length)
}

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch (error) {
    throw new Invalid('Invalid percent-encoding in the path', { cause: error })
  }
}

type ProxyRequest = Pick<Request<typeof params, undefined, undefined>, 'caller' | 'headers' | 'isHead' | 'signal' | 'url'> & {
  readonly params: { readonly key: string; readonly path?: string }
  readonly body?: SentBytes | undefined
}

const disposition = /^(?:attachment|inline)(?:;[\x20-\x7e]{0,500})?$/i

const relay = async (method: string, { params, caller, headers, isHead, signal, url, body }: ProxyRequest, endpoints: FixedEndpoints) => {
  if (caller.scope === 'extraction') throw new Forbidden('Keys of extractors cannot use the proxy')
  if (caller.user?.status === 'ReadOnly' && method !== 'GET') throw new Forbidden('The account is ReadOnly')
  endpoints.requireAccess(params.key, method, caller)
  const path = pathBehind(url.pathname, params.key)
  // The URL was normalized: if the path had dot segments, it would differ from the requested one.
  if (params.path !== undefined && decoded(path) !== `/${params.path}`) throw new Invalid('The path must not contain . or .. segments')
  const answer = await endpoints.send({
    ...{ key: params.key, path, search: url.search, method: isHead ? 'HEAD' : method, signal },
    headers: {
      ...(typeof headers.accept === 'string' ? { accept: headers.accept } : {}),
      ...(body?.isPresent && headers['content-type'] !== undefined ? { 'content-type': headers['content-type'] } : {}),
    },
    ...(body ? { body } : {}),
  })
  const { contentType, sizeBytes } = answer
  const bytes: Bytes = { contentType, inline: true, open: () => answer.body }
  if (isHead) answer.body.destroy()
  const safe: Record<string, string> = {
    ...(disposition.test(answer.disposition ?? '') ? { 'content-disposition': answer.disposition ?? '' } : {}),
    // Sent as a header, not as the length of the bytes: ranges are not supported.
    ...(sizeBytes === undefined ? {} : { 'content-length': String(sizeBytes) }),
  }
  return { status: statusOf(answer.status), body: bytes, headers: safe }
}

export const proxyGet = route({
  ...about,
  method: 'GET',
  path: '/api/proxy/:key',
  aliases: [{ path: '/api/proxy/:key/' }],
  params,
  handle: (request, { endpoints }) => relay('GET', request, endpoints),
})

export const proxyGetBelow = route({
  ...about,
  method: 'GET',
  path: '/api/proxy/:key/:path*',
  params: paramsBelow,
  handle: (request, { endpoints }) => relay('GET', request, endpoints),
})

export const proxyPost = route({
  ...about,
  method: 'POST',
  path: '/api/proxy/:key',
  aliases: [{ path: '/api/proxy/:key/' }],
  params,
  body,
  handle: (request, { endpoints }) => relay('POST', request, endpoints),
})

export const proxyPostBelow = route({
  ...about,
  method: 'POST',
  path: '/api/proxy/:key/:path*',
  params: paramsBelow,
  body,
  handle: (request, { endpoints }) => relay('POST', request, endpoints),
})

export const proxyPut = route({
  ...about,
  method: 'PUT',
  path: '/api/proxy/:key',
  aliases: [{ path: '/api/proxy/:key/' }],
  params,
  body,
  handle: (request, { endpoints }) => relay('PUT', request, endpoints),
})

export const proxyPutBelow = route({
  ...about,
  method: 'PUT',
  path: '/api/proxy/:key/:path*',
  params: paramsBelow,
  body,
  handle: (request, { endpoints }) => relay('PUT', request, endpoints),
})

export const proxyDelete = route({
  ...about,
  method: 'DELETE',
  path: '/api/proxy/:key',
  aliases: [{ path: '/api/proxy/:key/' }],
  params,
  body,
  handle: (request, { endpoints }) => relay('DELETE', request, endpoints),
})

export const proxyDeleteBelow = route({
  ...about,
  method: 'DELETE',
  path: '/api/proxy/:key/:path*',
  params: paramsBelow,
  body,
  handle: (request, { endpoints }) => relay('DELETE', request, endpoints),
})
