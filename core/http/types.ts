import type {
  AbsentConsumer,
  AccessTrail,
  AuditTrail,
  Callers,
  Contributions,
  CrossOriginHeaders,
  Ids,
  Installation,
  KoaMiddleware,
  Log,
  Metrics,
  MiddlewarePhase,
  Policy,
  Port,
  Route,
} from 'pounce/sdk'
import type { HttpConfig } from './config.ts'

/** A route of a plugin, ready to be called. */
export interface PluginRoute {
  readonly plugin: string
  /** The export's name: OpenAPI's `operationId`. */
  readonly name: string
  readonly route: Route
  /** The instances behind the route's `needs`, by the name the route uses. */
  readonly needs: Readonly<Record<string, unknown>>
  /** A credential that cannot be checked counts as none: for `/readyz`, which must answer while the store is unavailable. */
  readonly isLenient?: boolean
}

/** Middleware of a plugin, ready to be called. */
export interface PhasedMiddleware {
  readonly phase: MiddlewarePhase
  readonly use: KoaMiddleware
}

/** How the kernel is doing, for `/readyz`. */
export interface ReadinessReport {
  readonly ready: boolean
  readonly plugins: readonly { readonly id: string; readonly ok: boolean; readonly message?: string }[]
  /** Events that wait for their consumers. */
  readonly waiting?: number
  /** Events given up after five tries. */
  readonly parked?: number
  /** Consumers of plugins that are not loaded, for which events are kept. */
  readonly absent?: readonly AbsentConsumer[]
}

/** The container of one request: names of its own beside everything the kernel holds. */
export interface RequestScope {
  resolve<T>(port: Port<T>): T
}

/** What the HTTP side is made of. */
export interface HttpOptions {
  readonly routes: readonly PluginRoute[]
  /** Headers of these routes that pages of allowed origins may send and read; the names of HTTP itself are known. */
  readonly crossOriginHeaders?: CrossOriginHeaders
  /** Of plugins, in their order. */
  readonly middleware?: readonly PhasedMiddleware[]
  readonly config: HttpConfig
  readonly log: Log
  readonly metrics: Metrics
  /** Absent when no plugin provides it: then a route that asks for a right stops the start. */
  readonly policy?: Policy
  /** Absent when no plugin provides it: then everybody is anonymous, and a credential is refused with 401. */
  readonly callers?: Callers
  /** Where what server admins do is noted. */
  readonly trails?: Contributions<AuditTrail>
  /** Where reads are recorded. */
  readonly accessTrails?: Contributions<AccessTrail>
  readonly ids: Ids
  readonly readiness: () => Promise<ReadinessReport>
  /** The text for `/metrics`, served when `config.metrics` is on. */
  readonly scrape?: () => Promise<{ readonly contentType: string; readonly text: string }>
  /** What a scraper sends as `Authorization: Bearer`; without it only server admins read the measurements. */
  readonly metricsToken?: string
  readonly installation: Installation
  /** Opens the container of a request over these names. */
  readonly openScope: (values: Readonly<Record<string, unknown>>) => RequestScope
}

/** The HTTP server of a kernel. */
export interface Http {
  /** Starts to accept connections. Rejects with a message for people when the address is taken. */
  listen(): Promise<{ readonly host: string; readonly port: number; readonly url: string }>
  /** From now on `/readyz` says 503 and connections are closed after their answer. */
  setStopping(): void
  /** Lets running requests finish for at most `timeoutMs`; until they have, new ones are answered too. Then accepts nothing more and cuts what is left. */
  drain(timeoutMs: number): Promise<void>
  /** The OpenAPI 3.0.1 document of all routes. */
  openapi(): Promise<object>
}
