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

/** Names what a right is checked on, by what path and query give: one resource, or several, of which each must pass. */
export type Reference<I> = (input: I) => Ref | readonly Ref[]

/** A right on what a reference names. */
export interface ScopedRight<I> {
  readonly right: Permission
  readonly on: Reference<I>
  readonly unscoped?: never
}

/** A right on nothing in particular: every active account has it, and for reading everyone on a public server. */
export interface UnscopedRight {
  readonly right: Permission
  /** Why path and query name nothing to check it on, in a sentence: what the handler checks or holds back instead. */
  readonly unscoped: string
  readonly on?: never
}

/**
 * Who may call a route: who holds a right; or `anyone`; `reader` (everyone, but a signed-in user on a private server); `signedIn` (any active
 * account); `serverAdmin` (status Admin; an extraction key never). A right says on what, or why on nothing: else the route neither compiles nor starts.
 */
export type Access<I> = 'anyone' | 'reader' | 'signedIn' | 'serverAdmin' | ScopedRight<I> | UnscopedRight

/** Status → schema of the body. Every success a handler can answer with; problems need not be listed. */
export type Responses = Readonly<Record<number, TSchema>>

/** An answer: one of the declared responses, with headers. */
export type Reply<R extends Responses> = {
  [S in keyof R & number]: { readonly status: S; readonly body: Static<R[S]>; readonly headers?: Readonly<Record<string, string>> }
}[keyof R & number]

/** A file part of a multipart body. Read `stream` to its end, or call `skip`, before the next part comes. */
export interface FilePart {
  readonly kind: 'file'
  readonly field: string
  readonly filename: string
  /** As declared by the sender; `application/octet-stream` when it was not. */
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
/** The parts of a multipart body in the order they came. Ends with `Invalid` when the body is broken or cut short. */
export type Parts = AsyncIterable<FilePart | FieldPart>

/** How a body is read. `multipart` streams; `json` also takes `{}` for no body when the schema allows it. */
export interface MultipartBody {
  readonly multipart: true
  /** What a person must send, for the API page. */
  readonly summary: string
  /** Limits; defaults are 1,000 parts and fields of 1 MiB each. File bytes are unlimited. */
  readonly maxParts?: number
  /** The parts that the handler understands by their names, for clients and the API page. */
  readonly parts?: PartKinds
}

/** Names of parts with what they are: a file or text. */
type PartKinds = Readonly<Record<string, 'file' | 'text'>>

/** A body of parts: `body: multipart('one or more files')`, or with names: `multipart('a logo', 20, { name: 'text', image: 'file' })`. */
export const multipart = (summary: string, maxParts = 1000, parts: PartKinds = {}): MultipartBody => ({
  multipart: true,
  summary,
  maxParts,
  parts,
})

/** A body of plain bytes, as it comes. */
export interface ByteBody {
  readonly byteBody: true
  /** What a person must send, for the API page. */
  readonly summary: string
  /** The media type that it must have, else 415; any when absent. */
  readonly contentType?: string
  /** Of several media types those that the handler understands, the first for who names none: for clients and the API page. It refuses the others itself. */
  readonly takes?: readonly string[]
  /** A request without a body, and then without a type, will do too. */
  readonly isOptional?: boolean
}

/** A body of plain bytes: `body: byteBody('the next piece', { contentType: 'application/offset+octet-stream' })`. */
export const byteBody = (summary: string, options: Pick<ByteBody, 'contentType' | 'takes' | 'isOptional'> = {}): ByteBody => ({
  byteBody: true,
  summary,
  ...options,
})

/** The bytes of a body that was declared by `byteBody`. */
export interface SentBytes {
  /** As announced; undefined when it was not (a chunked body). */
  readonly sizeBytes: number | undefined
  /** False when the request has no body at all. */
  readonly isPresent: boolean
  /** Lets the client send, at the first call. Fails with `Invalid` when the body is cut short. May be left unread, or destroyed. */
  open(): Readable
}

type Schema = TSchema
type Given<T> = T extends Schema ? Static<T> : Record<never, never>
type Body<T> = T extends MultipartBody ? Parts : T extends ByteBody ? SentBytes : T extends Schema ? Static<T> : undefined

/** The request of a handler. */
export interface Request<P, Q, B> {
  readonly params: Given<P>
  readonly query: Given<Q>
  readonly body: Body<B>
  readonly caller: Caller
  readonly requestId: string
  /** Each line has the request's id. */
  readonly log: Log
  /**
   * What is behind a port for this request: `Log` as above, the names `caller` and `requestId`, and everything the kernel holds. For what only the
   * request determines; what a route always needs is named in `routesFor`, where the kernel reads it.
   */
  resolve<T>(port: Port<T>): T
  readonly headers: IncomingHttpHeaders
  /** Path and query as sent, without any key, for `Link` headers. */
  readonly url: URL
  /** True when only the head is wanted: answer as for GET without effects. */
  readonly isHead: boolean
  /** The address of the other end. */
  readonly address: string
  /** True when a reverse proxy sent it on that `http.trustedProxies` lists: only then do headers that such a proxy sets come from it. */
  readonly isProxied: boolean
  /** Aborted when the client disconnects or the server stops. */
  readonly signal: AbortSignal
}

/** The methods of routes; HEAD is answered as GET, OPTIONS by the kernel. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * A class of heavy work: the kernel gives each caller a budget of it (`http.budgets`), and answers 429 beyond. `search` reads the index; `archive`
 * makes a zip or bag; `import` reads one; `export` writes lists and tables of everything; `fetch` sends a request to another server; `expand` gathers nested
 * answers; `metadata` takes in large documents.
 */
export type CostClass = 'search' | 'archive' | 'import' | 'export' | 'fetch' | 'expand' | 'metadata'

/** One declaration that yields the HTTP route, validation, permission, OpenAPI and the typed client. */
export interface RouteDeclaration<N extends Needs, P, Q, B, R extends Responses> {
  readonly method: Method
  /** `/api/datasets/:id`; `:rest*` at the end takes the remaining segments. */
  readonly path: string
  /** The same route under other paths of the same parameters (v1's aliases). Absent from the typed client. */
  readonly aliases?: readonly { readonly method?: Method; readonly path: string }[]
  readonly summary: string
  /** For the API page: effects, quirks kept, what differs from v1. */
  readonly description?: string
  readonly permission: Access<Given<P> & Given<Q>>
  /** Further rights that it takes, checked in this order, such as that on the other end of a move. */
  readonly alsoRequires?: readonly ScopedRight<Given<P> & Given<Q>>[]
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** Set where one request can cost much: what its caller pays it from. */
  readonly cost?: CostClass
  /** Upper bound of a JSON body in bytes; 1 MiB by default (metadata: 10 MiB). */
  readonly maxBodyBytes?: number
  /** Other limits of a JSON body than those of the settings `http.maxJsonMembers` and `http.maxJsonLeaves`, and 64 levels. */
  readonly jsonLimits?: Partial<Omit<JsonLimits, 'maxBytes'>>
  /** The handler waits for others, possibly for minutes: a large body then occupies no place while it runs. */
  readonly isLong?: boolean
  /** What v1 sends as status for a body that is missing or wrong, when it is not 400. */
  readonly responses: R
  /**
   * Problems it may answer with, besides those that follow from permission, input and method (`core/openapi/declared-answers.ts`). Checked: in every test
   * that boots a server, `core/http/testing/answer-check.ts` fails the run for a status that neither gives.
   */
  readonly throws?: readonly (new (
    ...args: never[]
  ) => Problem)[]
  /** A GET that changes something says what; HEAD then runs only when the handler minds `isHead`. */
  readonly effects?: string
  /** Set when a GET with effects answers HEAD without them (it reads `isHead`, or uses `countedBytes`). */
  readonly answersHead?: boolean
  /** Refuses cookies: only a key, Basic or Bearer will do (for GETs that change something). */
  readonly neverByCookie?: boolean
  /**
   * Of a route with `signedIn`: what becomes of a key that reaches less far than its user (`Caller.limits`). Without a word it may read
   * with the verb `read` and change with `write`, and never when it is held to spaces, for what such a route deals with is in none.
   * `allowed`: the handler checks each resource with the policy, or returns what any holder of the key may see. `refused`: about keys, sessions
   * and the account itself, which no limited key and no extraction key may touch.
   */
  readonly limitedKeys?: 'allowed' | 'refused'
  /**
   * `allowed`: extractors need it, so the key of a job (`Caller.limits.job`) may call it, for what the job is about. Every other route refuses such a key.
   */
  readonly jobKeys?: 'allowed'
  /**
   * `allowed`: although this changes something, it only reads what it names in the trash, restores it, or deletes it for good; the permission says which.
   * Every other route that changes something is refused (409) for each resource that `permission` and `alsoRequires` name and that lies in the trash.
   */
  readonly inTrash?: 'allowed'
  /** Ignores credentials: the caller is anonymous and a wrong or stale credential does no harm (pages, scripts, signing in). */
  readonly ignoresCredentials?: boolean
  /** Also for those who have not accepted the terms of service yet: what they read, accept or leave by. Every other route refuses them. */
  readonly beforeTerms?: boolean
  /** Also for those of whom a second factor is required and who have none yet, as is every route with `beforeTerms`. */
  readonly beforeEnrolment?: boolean
  /**
   * Whether a session must have authenticated recently with its strongest factor. By default: what changes something by `serverAdmin`. In
   * superadmin mode every route but those that say `false`.
   */
  readonly stepUp?: boolean
  /** Sent with every answer, refusals included, and with the answer to OPTIONS: for protocols that require that. */
  readonly headers?: Readonly<Record<string, string>>
  readonly handle: (request: Request<P, Q, B>, needs: Resolved<N>) => Promise<Reply<NoInfer<R>>>
}

/** A route with its group and its needs, untyped, as the kernel mounts it. */
export interface Route {
  readonly group: string
  readonly needs: Needs
  // biome-ignore lint/suspicious/noExplicitAny: routes of different shapes share one table; the declaration above is where types are checked
  readonly declaration: RouteDeclaration<any, any, any, any, any>
}

/** A route as its plugin exports it, with types for the client. */
export interface TypedRoute<P, Q, B, R extends Responses> extends Route {
  readonly typed?: { params: P; query: Q; body: B; responses: R }
}

/** Starts a group: `const route = routesFor('datasets', { datasets: Datasets })`. The group is the OpenAPI tag. */
export const routesFor =
  <N extends Needs>(group: string, needs: N) =>
  <R extends Responses, P = undefined, Q = undefined, B = undefined>(
    declaration: RouteDeclaration<N, P, Q, B, R>,
  ): TypedRoute<P, Q, B, R> => ({
    group,
    needs,
    declaration,
  })

/** The resource that a parameter of path or query names: `on: ref('dataset', 'id')`. Compiles where there is such a parameter and it is text. */
export const ref =
  <const N extends string>(kind: Kind, parameter: N): ((input: Readonly<Record<N, string>>) => Ref) =>
  input => ({ kind, id: String(input[parameter]) })
