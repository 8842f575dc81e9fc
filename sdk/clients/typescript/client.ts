import { type EventOptions, events } from './events.ts'
import { PounceProblem, problemOf } from './problem.ts'
import { type FileUpload, upload } from './uploads.ts'

/**
 * An operation: method, path, response type, the member with the items of a page (empty: the response itself is the list), and the media
 * types of bytes that it receives.
 */
export type ApiOperation = readonly [
  method: string,
  path: string,
  answer: 'json' | 'text' | 'bytes' | 'empty',
  items?: string | null,
  receives?: readonly string[],
]

/** Server URL and credentials. Without credentials the client is anonymous. */
export interface PounceOptions {
  /** URL of the server, including its base path: `https://data.example.org/pounce`. */
  readonly url: string
  /** An API key. */
  readonly key?: string
  /** An access token of an OpenID Connect provider configured on the server. */
  readonly token?: string
  /** Credentials of a local account. */
  readonly basic?: { readonly email: string; readonly password: string }
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch
  /** Timeout for requests with a JSON or text response; 120,000 by default. Downloads have none. */
  readonly timeoutMs?: number
}

/** Options of every call, besides the operation's input. */
export interface CallOptions {
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

/** The input of any operation. */
export interface AnyInput extends CallOptions {
  readonly path?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

type Text = Readonly<Record<string, unknown>>

const authorizationOf = ({ key, token, basic }: PounceOptions): Readonly<Record<string, string>> => {
  if (key !== undefined) return { 'x-api-key': key }
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  if (basic === undefined) return {}
  const bytes = new TextEncoder().encode(`${basic.email}:${basic.password}`)
  return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` }
}

const queryText = (query: Text): string => {
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined && each !== null) pairs.append(name, String(each))
  return pairs.size === 0 ? '' : `?${pairs}`
}

/** An empty value, or one of dots only, would make the path that of another operation. */
const filled = (path: string, values: Text): string =>
  path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const text = String(values[name] ?? '')
    if (/^\.{0,2}$/.test(text)) throw new TypeError(`The path ${path} needs ${name}`)
    return encodeURIComponent(text)
  })

const isBinary = (body: unknown): body is Blob | Uint8Array<ArrayBuffer> => body instanceof Blob || body instanceof Uint8Array

const formOf = (parts: Text): FormData => {
  const form = new FormData()
  for (const [name, part] of Object.entries(parts)) {
    if (part instanceof Blob) form.append(name, part, 'name' in part ? String(part.name) : name)
    else if (part !== undefined) form.append(name, String(part))
  }
  return form
}

const holdsBlob = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && Object.values(body).some(part => part instanceof Blob)

/** The type of a `Blob`, if the operation receives it; otherwise the first that it receives. */
const byteType = (body: Blob | Uint8Array, [first = 'application/octet-stream', ...others]: readonly string[]): string =>
  body instanceof Blob && others.includes(body.type) ? body.type : first

const sentBody = (
  body: unknown,
  receives: readonly string[] = [],
): { readonly body?: NonNullable<RequestInit['body']>; readonly type?: string } => {
  if (body === undefined) return {}
  if (body instanceof FormData) return { body }
  if (isBinary(body)) return { body, type: byteType(body, receives) }
  if (holdsBlob(body)) return { body: formOf(body as Text) }
  return { body: JSON.stringify(body), type: 'application/json' }
}

type RequestParts = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> }

/** The error of a `Blob` whose file was changed or removed after it was opened: sending it again does not help. */
const unreadableBody = (error: unknown): unknown => {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof DOMException && cause.name === 'NotReadableError' ? cause : undefined
}

/** The error for a request without a response: the caller's abort reason, that of an unreadable body, or a problem. */
const failureOf = (request: string, error: unknown, signal: AbortSignal | null | undefined): unknown => {
  // The response claims to be JSON but is malformed.
  if (error instanceof SyntaxError) return error
  const isLate = signal?.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
  if (signal?.aborted && !isLate) return signal.reason
  const unreadable = unreadableBody(error)
  if (unreadable) return unreadable
  const [title, code, what] = isLate ? ['Timeout', 'timeout', 'took too long'] : ['Unreachable', 'unreachable', 'did not reach the server']
  return new PounceProblem({ title, code, detail: `${request} ${what}` }, { cause: error })
}

const maxRedirects = 5

/** Sends requests with the server URL and credentials; throws error responses as `PounceProblem`. */
export class ApiConnection {
  readonly #options: PounceOptions
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(options: PounceOptions) {
    this.#options = options
    this.#base = options.url.endsWith('/') ? options.url.slice(0, -1) : options.url
    this.#headers = { ...options.headers, ...authorizationOf(options) }
  }

  /** Sends a request. Rejects with `PounceProblem` for an error response or if the server is unreachable. */
  async send(method: string, path: string, init: RequestParts = {}): Promise<Response> {
    let problem: PounceProblem
    try {
      const response = await this.#fetched(`${this.#base}${path}`, {
        ...init,
        method,
        headers: { accept: 'application/json, application/problem+json', ...this.#headers, ...init.headers },
      })
      if (response.ok) return response
      problem = await problemOf(response)
    } catch (error) {
      throw failureOf(`${method} ${path}`, error, init.signal)
    }
    throw problem
  }

  /** Downloads may redirect to another server, such as an object store, which must not receive the API key. Browsers do not reveal redirect targets. */
  async #fetched(url: string, init: RequestParts): Promise<Response> {
    const ask = this.#options.fetch ?? fetch
    if (init.method !== 'GET') return ask(url, init)
    let target = url
    let headers = init.headers ?? {}
    for (let redirects = 0; ; redirects++) {
      const response = await ask(target, { ...init, headers, redirect: 'manual' })
      if (response.type === 'opaqueredirect') return ask(target, { ...init, headers })
      const location = response.headers.get('location')
      if (![301, 302, 303, 307, 308].includes(response.status) || location === null || redirects === maxRedirects) return response
      const next = new URL(location, target)
      if (next.origin !== new URL(target).origin) headers = this.#withoutCredentials(headers)
      target = next.href
    }
  }

  #withoutCredentials(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.entries(headers).filter(([name]) => !(name in this.#headers)))
  }

  /** Calls an operation; returns the parsed body and the response. */
  async call(
    [method, path, kind, , receives]: ApiOperation,
    { path: values = {}, query = {}, body, headers, signal }: AnyInput,
  ): Promise<{ answer: unknown; response: Response }> {
    const sent = sentBody(body, receives)
    const isShort = kind === 'json' || kind === 'text'
    const signals = [...(signal ? [signal] : []), ...(isShort ? [AbortSignal.timeout(this.#options.timeoutMs ?? 120_000)] : [])]
    const limit = signals.length > 0 ? { signal: AbortSignal.any(signals) } : {}
    const address = `${filled(path, values)}${queryText(query)}`
    const response = await this.send(method, address, {
      ...(sent.body === undefined ? {} : { body: sent.body }),
      ...limit,
      headers: {
        ...(kind === 'bytes' ? { accept: '*/*, application/problem+json' } : {}),
        ...(sent.type === undefined ? {} : { 'content-type': sent.type }),
        ...headers,
      },
    })
    try {
      return { answer: await answerOf(kind, response), response }
    } catch (error) {
      throw failureOf(`${method} ${address}`, error, limit.signal)
    }
  }

  /** The items of all pages of a list, fetched page by page. */
  async *items(operation: ApiOperation, input: AnyInput): AsyncGenerator<unknown, void, undefined> {
    const member = operation[3] ?? ''
    const size = member === 'results' ? 'size' : 'limit'
    let query: Text = { [size]: 100, ...input.query }
    for (;;) {
      const { answer, response } = await this.call(operation, { ...input, query })
      const page = (member === '' ? answer : (answer as Text)[member]) as readonly unknown[]
      yield* page
      const next = nextOf(response, answer)
      if (next === undefined) return
      query = next
    }
  }
}

const answerOf = async (kind: ApiOperation[2], response: Response): Promise<unknown> => {
  if (kind === 'bytes') return response
  const text = await response.text()
  if (text === '') return undefined
  return kind === 'json' ? JSON.parse(text) : text
}

/** The query of the next page, from the URL in the `Link` header or the body. Its host may differ from the one we use. */
const nextOf = (response: Response, answer: unknown): Text | undefined => {
  const linked = /<([^<>]+)>; ?rel="?next"?/.exec(response.headers.get('link') ?? '')?.[1]
  const next = linked ?? (answer as { readonly next?: unknown } | undefined)?.next
  if (typeof next !== 'string') return undefined
  const pairs = [...new URL(next, 'http://localhost').searchParams]
  const names = new Set(pairs.map(([name]) => name))
  return Object.fromEntries([...names].map(name => [name, pairs.flatMap(([each, value]) => (each === name ? [value] : []))]))
}

/** List operations have a member with the items of a page, or return the items directly and are paged by a parameter. */
const isList = ([, , , items]: ApiOperation): boolean => typeof items === 'string'

const functionsOf = <T>(operations: Readonly<Record<string, ApiOperation>>, make: (operation: ApiOperation) => unknown): T =>
  Object.fromEntries(Object.entries(operations).map(([name, operation]) => [name, make(operation)])) as T

/** A client with the server's operations as methods. */
export class PounceClient<Api, Lists, Event> {
  /** All operations, one request per call. */
  readonly api: Api
  /** All lists, item by item; pages are requested on demand. */
  readonly all: Lists
  readonly #connection: ApiConnection

  constructor(operations: Readonly<Record<string, ApiOperation>>, options: PounceOptions) {
    this.#connection = new ApiConnection(options)
    const lists = Object.fromEntries(Object.entries(operations).filter(([, operation]) => isList(operation)))
    this.api = functionsOf<Api>(
      operations,
      operation =>
        async (input: AnyInput = {}) =>
          (await this.#connection.call(operation, input)).answer,
    )
    this.all = functionsOf<Lists>(
      lists,
      operation =>
        (input: AnyInput = {}) =>
          this.#connection.items(operation, input),
    )
  }

  /** Uploads a file of any size and resumes after interruptions. Returns its id. For small files `api.uploadToDataset` also works. */
  upload(file: Blob, options: FileUpload): Promise<string> {
    return upload(this.#connection, file, options)
  }

  /** Live events. Reconnects automatically and then receives missed events. */
  events(options: EventOptions = {}): AsyncGenerator<Event, void, undefined> {
    return events(this.#connection, options) as AsyncGenerator<Event, void, undefined>
  }
}
