import type { AnyEvent, EventType, StoredEvent } from './events.ts'
import type { Caller } from './model/caller.ts'
import type { PermissionDefinition, PluginPermissions } from './model/permission.ts'
import { checkMembers } from './plugin-members.ts'
import type { Class, Port, Provision } from './port.ts'
import type { Collection } from './ports/document-store.ts'
import type { Periodic } from './ports/kernel.ts'
import type { ResourceDeclaration } from './resource.ts'
import type { Route } from './route.ts'
import type { Static, TSchema } from './schema.ts'

/** Handles one event. Re-read the resource that it names and be idempotent: events may be repeated. Throw to have the event redelivered later. */
export interface Handler<T extends EventType> {
  handle(event: StoredEvent<T>): Promise<void>
}

/** Handles up to 200 events at once, all or nothing. */
export interface BatchHandler {
  handleAll(events: readonly AnyEvent[]): Promise<void>
}

/** A class of a plugin that consumes events. */
export interface Subscription {
  readonly types: readonly EventType[] | '*'
  readonly by: Class
  /**
   * The consumer's position is stored under this name, prefixed with the plugin's id (`resources.search/index-changes`): a renamed consumer loses its pending
   * events.
   */
  readonly name: string
  readonly isBatch: boolean
  /** Also consume the events of resource kinds that plugins declare: `events` of `defineResource`. */
  readonly withResources?: boolean
  /** Under load, maximum time that events wait so that batches become larger, in milliseconds; 80 by default. Less if users wait for the results. */
  readonly maxDelayMs?: number
}

/** Consumes events of one or more types, one at a time. `name`: lower-case letters, digits and hyphens; see `Subscription`. */
export const on = <T extends EventType>(types: T | readonly T[], by: Class<Handler<T>>, name: string): Subscription => ({
  types: typeof types === 'string' ? [types] : (types as readonly EventType[]),
  by,
  name,
  isBatch: false,
})

/** Consumes events in batches; `'*'` for all types. `name` as for `on`. */
export const onBatch = (
  types: readonly EventType[] | '*',
  by: Class<BatchHandler>,
  name: string,
  options: Pick<Subscription, 'withResources' | 'maxDelayMs'> = {},
): Subscription => ({ types, by, name, isBatch: true, ...options })

/** An environment variable known from another program, and its equivalent here. */
export interface EnvironmentAlias {
  /** The setting that the variable is an alias for: `mail.smtp.host`. Absent: the variable has no effect here. */
  readonly setting?: string
  /** Converts the variable's value to that of the setting; unchanged by default. */
  readonly convert?: (text: string) => string
  /** Plugins to enable when the variable is set. */
  readonly uses?: readonly string[]
  /** What to do instead; for the warning when the variable has no effect. */
  readonly otherwise?: string
  /** Values, in lower case, that mean the default behaviour and cause no warning. */
  readonly defaults?: readonly string[]
}

/**
 * Koa middleware, typed structurally because the SDK does not import Koa: npm packages such as koa-helmet (`helmet()`) fit unchanged. Their `context` is Koa's;
 * `MiddlewareContext` is the part that plugins may rely on.
 */
export type KoaMiddleware = (context: never, next: () => Promise<never>) => unknown

/** The part of Koa's context that plugin middleware may rely on. `state.request` includes the caller from the phase `afterAuthentication` on. */
export interface MiddlewareContext {
  readonly method: string
  /** The path of the route, without the path of `http.baseUrl`; segments that may be tokens are redacted. */
  readonly path: string
  /** The client's address; behind the proxies of `http.trustedProxies`, the address that they saw. */
  readonly ip: string
  readonly state: { readonly request: { readonly id: string; readonly caller: Caller } }
  /** Set both and do not call `next` to answer instead of the route. After `next`, the status of the handler's response, which can still be changed. */
  status: number
  /** Undefined after `next`, unless other middleware set it: the handler's body is serialized later. Setting it replaces that body. */
  body: unknown
  get(header: string): string
  set(header: string, value: string): void
}

/** A class whose instances are middleware, with wired dependencies. */
export interface MiddlewareClass {
  handle(context: MiddlewareContext, next: () => Promise<unknown>): unknown
}

/**
 * When middleware runs: before all routes and before OPTIONS requests are answered; after the caller is identified but before permission and input are checked;
 * or right before the handler.
 */
export type MiddlewarePhase = 'beforeRouting' | 'afterAuthentication' | 'beforeHandler'

/** Middleware of a plugin, or its class. Within a phase, middleware runs in the order in which plugins start. */
export type PluginMiddleware = { readonly phase: MiddlewarePhase } & (
  | { readonly use: KoaMiddleware }
  | { readonly by: Class<MiddlewareClass> }
)

/** Headers that browsers expose to pages of other origins, or let them send, only if the server allows it (CORS). */
export interface CrossOriginHeaders {
  readonly request: readonly string[]
  readonly response: readonly string[]
}

/** The version of the SDK contract. It increases with breaking changes; the CHANGELOG describes how to migrate. */
export const apiVersion = 1

/** The definition of a plugin. Everything but `id` and `summary` is optional. */
export interface PluginDefinition {
  /**
   * Its folder: `plugins/blobs/disk` is `blobs.disk`. Its config has the same dotted path. At least two parts of lower-case letters, digits and hyphens;
   * unique.
   */
  readonly id: string
  /** One sentence, for readers of the config. */
  readonly summary: string
  /**
   * The `apiVersion` of `pounce/sdk/kit` that the plugin is written for, as a number; a Pounce with another version refuses to load it. Published plugins
   * should set it.
   */
  readonly apiVersion?: number
  /** A TypeBox object; every member has a description and either a default or is optional. Members marked `secret: true` are masked. */
  readonly config?: TSchema
  /** Dotted path of its settings if it differs from the id. A second instance of the plugin has its settings under its own name. */
  readonly configPath?: string
  /** Environment variables, by name, that provide settings while this plugin runs. `POUNCE_…` variables take precedence. */
  readonly environment?: Readonly<Record<string, EnvironmentAlias>>
  /** Its resource kinds, as returned by `defineResource`. Their collections and contributions need not be listed again. */
  readonly resources?: readonly ResourceDeclaration[]
  /**
   * Permissions that it adds to `PluginPermissions` by declaration merging, for routes to require and roles to grant. Names must be unique among plugins and
   * Pounce itself.
   */
  readonly permissions?: Readonly<Partial<Record<keyof PluginPermissions, PermissionDefinition>>>
  /** Implementations of ports of the SDK or of a shared package. A class used only inside the plugin is its own token: `wire(Members, Invitations)`. */
  readonly provides?: readonly Provision[]
  /** Classes that nothing depends on, such as one that runs from `start` to `dispose`. */
  readonly services?: readonly Class[]
  /** The ports in `provides` that this plugin decorates, with the implementation of another plugin behind it: see `behind`. */
  readonly wraps?: readonly Port<unknown>[]
  /** The exports of a module; those that are routes are mounted, with their names as operation ids. */
  readonly routes?: Readonly<Record<string, unknown>>
  /** Middleware that every request passes through, for routes of any plugin. */
  readonly middleware?: readonly PluginMiddleware[]
  /** Headers of its routes for pages of the origins in `http.allowedOrigins`, in addition to the standard HTTP ones. */
  readonly crossOriginHeaders?: CrossOriginHeaders
  /** Collections owned by the plugin: one that declares another plugin's collection is refused. */
  readonly collections?: readonly Collection<object>[]
  /** Types of events that it adds to `EventMap` by declaration merging, so that they can be handled. */
  readonly events?: readonly EventType[]
  readonly handlers?: readonly Subscription[]
  /** Former names of consumers. Pending events of a consumer that no plugin declares are kept, except for the ones named here, whose events are deleted. */
  readonly formerHandlers?: readonly string[]
  readonly periodic?: readonly Periodic[]
  /**
   * Set when its data exists only in the local data folder: then only one kernel at a time works on the installation, and commands wait for it to stop. If its
   * setting `folder` names another folder, that folder is locked, too.
   */
  readonly isLocal?: boolean
  /** Set when it keeps data in the local data folder although several kernels may run: each has its own data then. The log and `pounce doctor` report this. */
  readonly keepsLocalData?: boolean
  /**
   * Lets server admins switch the plugin on and off while the server runs. Such a plugin must not provide anything that other plugins depend on: routes,
   * handlers, periodic tasks and contributions are allowed; ports, resources, middleware, headers and environment variables are not, nor are contributions that
   * answer for records while the plugin is off (owners of blobs, personal data, jobs) or that protect the server (sign-in, audit, scans, quotas, checks). The
   * server refuses to start otherwise. Its classes are instantiated each time it is switched on.
   */
  readonly isSwitchable?: boolean
  /** Folder of migrations: files `0001-what-it-does.ts` that export an idempotent `up(documents: DocumentStore): Promise<void>`. */
  readonly migrations?: URL
}

/** The result of `definePlugin`; the module exports it as `plugin`. */
export interface Plugin extends PluginDefinition {
  readonly isPlugin: true
}

const permissionPattern = /^[A-Z][A-Za-z]{2,99}$/

/** Declares a plugin. The call has no side effects. */
export const definePlugin = (definition: PluginDefinition): Plugin => {
  checkMembers(definition)
  const { id, resources, permissions = {} } = definition
  const odd = Object.keys(permissions).find(name => !permissionPattern.test(name))
  if (odd !== undefined) throw new Error(`${id} declares the permission "${odd}": a name is a verb and a noun, such as AnalyzeSpectrum`)
  if (!resources) return { ...definition, isPlugin: true }
  return {
    ...definition,
    provides: [...resources.flatMap(({ provides }) => provides), ...(definition.provides ?? [])],
    collections: [...resources.flatMap(({ collections }) => collections), ...(definition.collections ?? [])],
    events: [...new Set([...resources.flatMap(({ events }) => events), ...(definition.events ?? [])])],
    isPlugin: true,
  }
}

/** A class with startup, health check or shutdown. The kernel calls `start` in dependency order and `dispose` in reverse, one at a time. */
export interface Lifecycle {
  start?(): Promise<void> | void
  /** Throws or rejects with the problem when unhealthy; a returned string is a note for the operator. At most 2 s. */
  health?(): Promise<string | undefined> | Promise<void> | string | undefined | void
  dispose?(): Promise<void> | void
}

/** The port of a plugin's own validated config: `const Config = configPort(config)`, then `wire(DiskBlobs, Config, Log)`. */
export const configPort = <S extends TSchema>(_schema: S): Port<Static<S>> => 'config' as Port<Static<S>>

/** True of an export that is a route. */
export const isRoute = (value: unknown): value is Route =>
  typeof value === 'object' && value !== null && 'declaration' in value && 'group' in value && 'needs' in value
