import type { Operations } from '../api.ts'

/** A method and a path of the API, such as `GET /api/datasets/{id}`. */
export type Address = keyof Operations

/** The response body of an operation. */
export type Answer<A extends Address> = Operations[A]['answer']

type Part<A extends Address, P extends 'path' | 'query' | 'body'> = Operations[A][P]
type IsEmpty<T> = T extends undefined ? true : keyof T extends never ? true : false
/** The arguments of an operation. */
export type Input<A extends Address> = {
  readonly signal?: AbortSignal | undefined
  /** The version that a change is based on, from `apiTagged`. */
  readonly ifMatch?: string | undefined
} & (IsEmpty<Part<A, 'path'>> extends true ? { readonly path?: never } : { readonly path: Part<A, 'path'> }) & {
    readonly query?: Part<A, 'query'>
  } & (Part<A, 'body'> extends undefined ? { readonly body?: never } : { readonly body?: Part<A, 'body'> })

/** An error response of the server; status 0 when the server is unreachable. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, body: Readonly<Record<string, unknown>>, retryAfterSeconds?: number) {
    super(typeof body['message'] === 'string' ? body['message'] : `HTTP ${status}`)
    this.status = status
    this.code = typeof body['code'] === 'string' ? body['code'] : 'unknown'
    this.details = body
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The path prefix of the server; mostly empty. */
export const base: string = document.documentElement.dataset['base'] ?? ''

/** A URL of this server for links, pictures and downloads. */
export const urlOf = (path: string, query: Readonly<Record<string, unknown>> = {}): string => `${base}${path}${queryText(query)}`

const queryText = (query: Readonly<Record<string, unknown>>): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one))
  }
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

/** An empty value, or one of dots only, would make the path that of another operation. */
const filled = (template: string, parameters: Readonly<Record<string, unknown>>): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = String(parameters[name] ?? '')
    if (/^\.{0,2}$/.test(text)) throw new TypeError(`${template} needs ${name}`)
    return encodeURIComponent(text)
  })

/** Listeners for the reachability of the server. */
export const serverEvents = new EventTarget()

type Recovery = (error: ApiError) => Promise<boolean>

let recovery: Recovery | undefined

/** Sets the handler that gets from the user what a rejected call needs (signing in again, a step-up); true when the call may be repeated. */
export const recoverWith = (ask: Recovery): void => {
  recovery = ask
}

/** Codes that the user can resolve on the page without losing input. */
const recoverable: ReadonlySet<string> = new Set(['not-signed-in', 'step-up-required', 'terms-not-accepted'])

/** Calls that authenticate: their rejection is about the credentials entered. */
const proves = (address: Address): boolean =>
  /^\w+ \/api\/(?:(?:login|logout|signup|setup|password|session|sessions\/step-up)(?:\/|$)|second-factors\/totp$)/.test(address)

const send = async (address: Address, input: Input<Address>): Promise<Response> => {
  try {
    return await sendOnce(address, input)
  } catch (error) {
    const isOurs = error instanceof ApiError && recoverable.has(error.code) && !proves(address)
    if (!isOurs || !recovery || !(await recovery(error))) throw error
    return await sendOnce(address, input)
  }
}

const sendOnce = async (address: Address, { path, query, body, signal, ifMatch }: Input<Address>): Promise<Response> => {
  const [method = 'GET', template = ''] = address.split(' ')
  const isForm = typeof FormData !== 'undefined' && (body as unknown) instanceof FormData
  const url = urlOf(filled(template, (path ?? {}) as Record<string, unknown>), query ?? {})
  let response: Response
  try {
    response = await fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      },
      ...(body === undefined ? {} : { body: isForm ? (body as unknown as FormData) : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    serverEvents.dispatchEvent(new Event('unreachable'))
    throw new ApiError(0, { code: 'unreachable', message: 'The server is unreachable' })
  }
  serverEvents.dispatchEvent(new Event('reached'))
  if (response.ok) return response
  const problem = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>>
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN)
  if (method !== 'GET' && isRefusal(problem['code'])) serverEvents.dispatchEvent(new Event('forbidden'))
  throw new ApiError(response.status, problem, Number.isFinite(wait) ? wait : undefined)
}

/** The page offers something that this user may no longer do, or whose resource is gone. */
export const isRefusal = (code: unknown): boolean => code === 'forbidden' || code === 'not-found'

const bodyOf = async (response: Response): Promise<unknown> => {
  const text = await response.text()
  if (text === '') return undefined
  return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
}

/** Calls an operation and returns its body. Rejects with `ApiError` on every error response. */
export const api = async <A extends Address>(address: A, input: Input<A> = {} as Input<A>): Promise<Answer<A>> =>
  (await bodyOf(await send(address, input as Input<Address>))) as Answer<A>

/** Calls an operation and returns its body, with the version of the resource. */
export const apiTagged = async <A extends Address>(address: A, input: Input<A>): Promise<{ body: Answer<A>; etag: string | undefined }> => {
  const response = await send(address, input as Input<Address>)
  return { body: (await bodyOf(response)) as Answer<A>, etag: response.headers.get('etag') ?? undefined }
}

/** A page of a list, with the query of the next one, and the total if the server provides it. */
export interface ListPage<T> {
  readonly rows: T
  readonly next: Readonly<Record<string, string>> | undefined
  readonly total: string | undefined
}

/** Calls an operation that returns a list and its next page in `Link`. */
export const apiPage = async <A extends Address>(address: A, input: Input<A> = {} as Input<A>): Promise<ListPage<Answer<A>>> => {
  const response = await send(address, input as Input<Address>)
  const link = /<([^<>]+)>; ?rel="?next"?/.exec(response.headers.get('link') ?? '')?.[1]
  const next = link === undefined ? undefined : Object.fromEntries(new URL(link, location.href).searchParams)
  return { rows: (await bodyOf(response)) as Answer<A>, next, total: response.headers.get('x-total-count') ?? undefined }
}
