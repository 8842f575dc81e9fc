import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Static, TSchema } from 'typebox'
import type { JsonLimits } from './limited-json.ts'
import type { Caller } from './model/caller.ts'
import type { Kind, Ref } from './model/kind.ts'
import type { Permission } from './model/permission.ts'
import type { Needs, Port, Resolved } from './port.ts'
import type { Log } from './ports/kernel.ts'
import type { Problem } from './problem.ts'
import { isToken, whyNoToken, whyUndefined } from './wire.ts'

/**
 * Returns the resource that a right is checked on, given path and query; with several resources, each must pass. With none, `permission` is checked like an
 * `UnscopedRight`, and `alsoRequires` is met.
 */
export type Reference<I> = (input: I) => Ref | readonly Ref[]

/** A permission on referenced resources. */
export interface ScopedRight<I> {
  readonly right: Permission
  readonly on: Reference<I>
  readonly unscoped?: never
}

/** A permission not tied to a resource: every active account has it; read permissions are held by everyone on a public server. */
export interface UnscopedRight {
  readonly right: Permission
  /** One sentence on why path and query name no resource to check: what the handler checks or withholds instead. */
  readonly unscoped: string
  readonly on?: never
}

/**
 * Who may call a route: callers with a permission, or `anyone`; `reader` (everyone; on a private server any signed-in user); `signedIn` (any active account);
 * `serverAdmin` (status Admin, never an extraction key). A permission names the resources it is checked on, or the reason why there are none: otherwise the
 * route neither compiles nor starts.
 */
export type Access<I> = 'anyone' | 'reader' | 'signedIn' | 'serverAdmin' | ScopedRight<I> | UnscopedRight

/** Status → schema of the body, for every successful response; problems need not be listed. */
export type Responses = Readonly<Record<number, TSchema>>

/** A response: one of the declared ones, with headers. */
export type Reply<R extends Responses> = {
  [S in keyof R & number]: { readonly status: S; readonly body: Static<R[S]>; readonly headers?: Readonly<Record<string, string>> }
}[keyof R & number]

/** A file part of a multipart body. Read `stream` to its end or call `skip` before requesting the next part. */
export interface FilePart {
  readonly kind: 'file'
  readonly field: string
  readonly filename: string
  /** As declared by the sender; `application/octet-stream` if absent. */
  readonly contentType: string
  readonly stream: Readable
  skip(): void
}

/** A field of a multipart body. */
export interface FieldPart {
  readonly kind: 'field'
  readonly field: string
  readonly value: string
}
/** The parts of a multipart body in the order they were sent. Rejects with `Invalid` when the body is malformed or truncated. */
export type Parts = AsyncIterable<FilePart | FieldPart>

/** A multipart body, which is streamed. */
export interface MultipartBody {
  readonly multipart: true
  /** What to send, for the API documentation. */
  readonly summary: string
  /** Maximum number of parts, by default 1,000. Fields are limited to 1 MiB each; file bytes are unlimited. */
  readonly maxParts?: number
  /** The named parts that the handler reads, for clients and the API documentation. */
  readonly parts?: PartKinds
}

/** Part names and whether each is a file or text. */
type PartKinds = Readonly<Record<string, 'file' | 'text'>>

/** Declares a multipart body: `body: multipart('one or more files')`, or with named parts: `multipart('a logo', 20, { name: 'text', image: 'file' })`. */
export const multipart = (summary: string, maxParts = 1000, parts: PartKinds = {}): MultipartBody => ({
  multipart: true,
  summary,
  maxParts,
  parts,
})

/** A raw byte body. */
export interface ByteBody {
  readonly byteBody: true
  /** What to send, for the API documentation. */
  readonly summary: string
  /** The required media type, otherwise 415; any when absent. */
  readonly contentType?: string
  /** The media types that the handler accepts, the first being the default; for clients and the API documentation. The handler rejects others itself. */
  readonly takes?: readonly string[]
  /** The body may be omitted, and with it the media type. */
  readonly isOptional?: boolean
}

/** Declares a raw byte body: `body: byteBody('the next piece', { contentType: 'application/offset+octet-stream' })`. */
export const byteBody = (summary: string, options: Pick<ByteBody, 'contentType' | 'takes' | 'isOptional'> = {}): ByteBody => ({
  byteBody: true,
  summary,
  ...options,
})

/** The bytes of a body declared with `byteBody`. */
export interface SentBytes {
  /** The announced length; undefined for a chunked body. */
  readonly sizeBytes: number | undefined
  /** False when the request has no body at all. */
  readonly isPresent: boolean
  /** The first call lets the client send. The stream fails with `Invalid` when the body is truncated. It may be left unread or be destroyed. */
  open(): Readable
}

type Schema = TSchema
type Given<T> = T extends Schema ? Static<T> : Record<never, never>
type Body<T> = T extends MultipartBody ? Parts : T extends ByteBody ? SentBytes : T extends Schema ? Static<T> : undefined

/** A request as passed to a handler. */
export interface Request<P, Q, B> {
  readonly params: Given<P>
  readonly query: Given<Q>
  readonly body: Body<B>
  readonly caller: Caller
  readonly requestId: string
  /** Every line includes the request id. */
  readonly log: Log
  /**
   * Resolves a port for this request: `Log` as above, `caller`, `requestId`, and everything in the kernel's container. Only for ports that depend on the
   * request; declare constant dependencies in `routesFor`, where the kernel reads them.
   */
  resolve<T>(port: Port<T>): T
  readonly headers: IncomingHttpHeaders
  /** Path and query as sent, without API keys, for `Link` headers. */
  readonly url: URL
  /** True for HEAD: respond as for GET, without side effects. */
  readonly isHead: boolean
  /** The client's address. */
  readonly address: string
  /** True when the request came through a reverse proxy listed in `http.trustedProxies`: only then can the headers set by such a proxy be trusted. */
  readonly isProxied: boolean
  /** Aborted when the client disconnects or the server stops. */
  readonly signal: AbortSignal
}

/** The methods of routes; HEAD is served as GET, OPTIONS by the kernel. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * A class of expensive work: the kernel gives each caller a budget for it (`http.budgets`) and responds with 429 beyond. `search` queries the search index;
 * `archive` creates a zip or bag; `import` reads one; `export` writes complete lists and tables; `fetch` sends a request to another server; `expand` assembles
 * nested responses; `metadata` accepts large documents.
 */
export type CostClass = 'search' | 'archive' | 'import' | 'export' | 'fetch' | 'expand' | 'metadata'

/** One declaration for the HTTP route, validation, permission, OpenAPI and the typed client. */
export interface RouteDeclaration<N extends Needs, P, Q, B, R extends Responses> {
  readonly method: Method
  /** `/api/datasets/:id`; `:rest*` at the end takes the remaining segments. */
  readonly path: string
  /** Other paths of the same route, with the same parameters (v1's aliases). Not in the typed client. */
  readonly aliases?: readonly { readonly method?: Method; readonly path: string }[]
  readonly summary: string
  /** For the API documentation: side effects, preserved quirks, differences from v1. */
  readonly description?: string
  readonly permission: Access<Given<P> & Given<Q>>
  /** Further required rights, checked in this order, such as one on the destination of a move. */
  readonly alsoRequires?: readonly ScopedRight<Given<P> & Given<Q>>[]
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** Set for expensive requests: the budget of the caller that they are charged to. */
  readonly cost?: CostClass
  /** Maximum size of a JSON body in bytes; 1 MiB by default (metadata: 10 MiB). */
  readonly maxBodyBytes?: number
  /** Limits of a JSON body, if other than the settings `http.maxJsonMembers` and `http.maxJsonLeaves` and 64 levels. */
  readonly jsonLimits?: Partial<Omit<JsonLimits, 'maxBytes'>>
  /** The handler may wait for minutes: a large body then holds no slot while it runs. */
  readonly isLong?: boolean
  /** The success responses by status, each with the schema of its body. */
  readonly responses: R
  /**
   * Problems that the handler may throw, besides those that follow from permission, input and method (`core/openapi/declared-answers.ts`). Enforced: in every
   * test that boots a server, `core/http/testing/answer-check.ts` fails the run for an undeclared status.
   */
  readonly throws?: readonly (new (
    ...args: never[]
  ) => Problem)[]
  /** Describes the side effects of a GET. HEAD then calls the handler only if it respects `isHead` (`answersHead`). */
  readonly effects?: string
  /** Set when a GET with side effects serves HEAD without them (it reads `isHead` or uses `countedBytes`). */
  readonly answersHead?: boolean
  /** Refuses session cookies: only API keys, Basic and Bearer are accepted (for GETs with side effects). */
  readonly neverByCookie?: boolean
  /**
   * For a route with `signedIn`: access of keys with fewer rights than their user (`Caller.limits`). By default such a key may read with the verb `read` and
   * change with `write`, but not if it is limited to spaces, since what these routes handle is in no space. `allowed`: the handler checks each resource with
   * the policy, or returns only what any holder of the key may see. `refused`: the route is about keys, sessions or the account itself and is closed to limited
   * and extraction keys.
   */
  readonly limitedKeys?: 'allowed' | 'refused'
  /** `allowed`: extractors need the route, so the key of a job (`Caller.limits.job`) may call it for the job's target. All other routes refuse such keys. */
  readonly jobKeys?: 'allowed'
  /**
   * `allowed`: although the route changes something, it only reads resources in the trash, restores them or permanently deletes them, as its permission
   * indicates. All other routes that change something respond with 409 if a resource named by `permission` or `alsoRequires` is in the trash.
   */
  readonly inTrash?: 'allowed'
  /** Ignores credentials: the caller is anonymous, and wrong or expired credentials are not an error (pages, scripts, sign-in). */
  readonly ignoresCredentials?: boolean
  /** Available before the terms of service are accepted: for reading, accepting or declining them. All other routes are refused until then. */
  readonly beforeTerms?: boolean
  /** Available to users who must enrol a second factor and have not yet done so, as is every route with `beforeTerms`. */
  readonly beforeEnrolment?: boolean
  /**
   * Whether the session must have authenticated recently with its strongest factor. Default: true for changes by `serverAdmin`. In superadmin mode it is
   * required for every route except those with `false`.
   */
  readonly stepUp?: boolean
  /** Sent with every response, including errors and OPTIONS, for protocols that require it. */
  readonly headers?: Readonly<Record<string, string>>
  readonly handle: (request: Request<P, Q, B>, needs: Resolved<N>) => Promise<Reply<NoInfer<R>>>
}

/** A route with its group and dependencies, untyped, as mounted by the kernel. */
export interface Route {
  readonly group: string
  readonly needs: Needs
  // biome-ignore lint/suspicious/noExplicitAny: routes of different shapes share one table; the declaration above is where types are checked
  readonly declaration: RouteDeclaration<any, any, any, any, any>
}

/** A route as exported by its plugin, typed for the client. */
export interface TypedRoute<P, Q, B, R extends Responses> extends Route {
  readonly typed?: { params: P; query: Q; body: B; responses: R }
}

/** Starts a group: `const route = routesFor('datasets', { datasets: Datasets })`. The group is the OpenAPI tag. */
export const routesFor = <N extends Needs>(group: string, needs: N) => {
  const absent = Object.entries(needs).find(([, token]) => token === undefined)
  if (absent) throw new TypeError(`routesFor('${group}'): the dependency ${absent[0]} is undefined${whyUndefined}`)
  const odd = Object.entries(needs).find(([, token]) => !isToken(token))
  if (odd) throw new TypeError(`routesFor('${group}'): the dependency ${odd[0]}${whyNoToken}`)
  return <R extends Responses, P = undefined, Q = undefined, B = undefined>(
    declaration: RouteDeclaration<N, P, Q, B, R>,
  ): TypedRoute<P, Q, B, R> => ({ group, needs, declaration })
}

/** The resource named by a path or query parameter: `on: ref('dataset', 'id')`. Compiles only if there is such a string parameter. */
export const ref =
  <const N extends string>(kind: Kind, parameter: N): ((input: Readonly<Record<N, string>>) => Ref) =>
  input => ({ kind, id: String(input[parameter]) })
