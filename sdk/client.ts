import type { Bytes } from './bytes.ts'
import type { EventStream } from './event-stream.ts'
import type { ByteBody, MultipartBody, Responses, Route, TypedRoute } from './route.ts'
import { bodyKind, type Static, type TSchema } from './schema.ts'

/** Server URL and credentials of a client. */
export interface ClientOptions {
  /** The server's URL without a trailing slash. */
  readonly url: string
  /** An API key; without one, the client is anonymous. */
  readonly key?: string
  /** Sends requests in superadmin mode; for keys of server admins. */
  readonly superAdmin?: boolean
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch
}

/** Thrown when the server refuses a call. `status` is the HTTP status, `code` is for programs, the message for people. */
export class CallFailed extends Error {
  readonly status: number
  readonly code: string
  /** The whole response body, if it was JSON. */
  readonly answer: unknown

  constructor(operation: string, status: number, answer: unknown) {
    const { message, code } = (typeof answer === 'object' && answer !== null ? answer : {}) as { message?: unknown; code?: unknown }
    super(`${operation}: ${status} ${typeof message === 'string' ? message : ''}`.trim())
    this.name = 'CallFailed'
    this.status = status
    this.code = typeof code === 'string' ? code : ''
    this.answer = answer
  }
}

/** Bytes and events are returned as the `Response`, so that they can be streamed; rows are returned as one array. */
type Received<T> = [T] extends [Bytes | EventStream]
  ? Response
  : T extends AsyncIterable<readonly [name: string, rows: AsyncIterable<infer Row>]>
    ? Readonly<Record<string, readonly Row[]>>
    : T extends AsyncIterable<infer Row>
      ? Row[]
      : T

/** A response as returned to the client. */
export type Answer<R extends Responses> = {
  [S in keyof R & number]: { readonly status: S; readonly body: Received<Static<R[S]>>; readonly headers: Headers }
}[keyof R & number]

type Part<Name extends string, T> = T extends TSchema ? { readonly [N in Name]: Static<T> } : unknown
/** Any query parameter may have a default, so all are optional here; the server reports a missing required one. */
type Query<T> = T extends TSchema ? { readonly query?: Partial<Static<T>> } : unknown
type Sent<T> = T extends MultipartBody
  ? { readonly body: FormData }
  : T extends ByteBody
    ? { readonly body?: Blob | Uint8Array<ArrayBuffer> }
    : Part<'body', T>
type Input<P, Q, B> = Part<'params', P> &
  Query<Q> &
  Sent<B> & { readonly signal?: AbortSignal; readonly headers?: Readonly<Record<string, string>> }

/** One route as a function. Rejects with `CallFailed` for every error response. */
export type Call<T> =
  T extends TypedRoute<infer P, infer Q, infer B, infer R>
    ? Record<never, never> extends Input<P, Q, B>
      ? (input?: Input<P, Q, B>) => Promise<Answer<R>>
      : (input: Input<P, Q, B>) => Promise<Answer<R>>
    : never

/** The routes of a module as functions, under the names of its exports. */
export type Client<G> = { readonly [K in keyof G as G[K] extends Route ? K : never]: Call<G[K]> }

interface AnyInput {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/**
 * Creates typed calls from route declarations: `clientOf(routes, { url, key }).getDataset({ params: { id } })`. Bodies are serialized and parsed as declared;
 * redirects are followed.
 */
export const clientOf = <G extends Readonly<Record<string, unknown>>>(routes: G, options: ClientOptions): Client<G> => {
  const calls = Object.entries(routes)
    .filter((entry): entry is [string, Route] => isRouteLike(entry[1]))
    .map(([name, route]) => [name, (input: AnyInput = {}) => call(name, route, options, input)])
  return Object.fromEntries(calls) as Client<G>
}

const isRouteLike = (value: unknown): value is Route => typeof value === 'object' && value !== null && 'declaration' in value

const call = async (name: string, { declaration }: Route, options: ClientOptions, input: AnyInput): Promise<unknown> => {
  const { method, path, responses } = declaration
  const { body, headers, signal } = input
  const isAsItIs = body instanceof FormData || body instanceof Blob || body instanceof Uint8Array
  const type = declaredType(declaration.body)
  const response = await (options.fetch ?? fetch)(`${options.url}${fill(path, input.params ?? {})}${search(input.query ?? {}, options)}`, {
    method,
    headers: {
      ...(options.key === undefined ? {} : { 'x-api-key': options.key }),
      ...(body === undefined || body instanceof FormData ? {} : { 'content-type': type }),
      ...headers,
    },
    body: body === undefined ? null : isAsItIs ? (body as NonNullable<RequestInit['body']>) : JSON.stringify(body),
    ...(signal ? { signal } : {}),
  })
  // A partial response to a Range request has the same schema as the full one.
  const schema: unknown = responses[response.status === 206 ? 200 : response.status]
  if (!response.ok && schema === undefined) throw new CallFailed(name, response.status, await parsed(response))
  return { status: response.status, headers: response.headers, body: await read(response, schema) }
}

/** The media type of a body that is not a form. */
const declaredType = (body: unknown): string =>
  typeof body === 'object' && body !== null && 'byteBody' in body
    ? ((body as ByteBody).contentType ?? (body as ByteBody).takes?.[0] ?? 'application/octet-stream')
    : 'application/json'

const fill = (path: string, params: Readonly<Record<string, unknown>>): string =>
  path.replaceAll(/:(\w+)(\*?)/g, (_all, name: string, isTail: string) => {
    const value = String(params[name])
    return isTail ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)
  })

const search = (query: Readonly<Record<string, unknown>>, { superAdmin }: ClientOptions): string => {
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined && each !== null) pairs.append(name, String(each))
  }
  if (superAdmin) pairs.append('superAdmin', 'true')
  return pairs.size === 0 ? '' : `?${pairs}`
}

const parsed = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
}

const read = async (response: Response, schema: unknown): Promise<unknown> => {
  switch ((schema as { [bodyKind]?: string } | undefined)?.[bodyKind]) {
    case 'bytes':
    case 'events':
      return response
    case 'text':
      return response.text()
    case 'empty':
      return undefined
    default:
      return parsed(response)
  }
}
