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

/** Deals with one event. Re-read what it names; a repeat must do no harm. Throw to be called again later. */
export interface Handler<T extends EventType> {
  handle(event: StoredEvent<T>): Promise<void>
}

/** Deals with up to 200 events at once, all or nothing. */
export interface BatchHandler {
  handleAll(events: readonly AnyEvent[]): Promise<void>
}

/** A class of a plugin that consumes events. */
export interface Subscription {
  readonly types: readonly EventType[] | '*'
  readonly by: Class
  /** Under this name, after the plugin's id, its progress is stored (`resources.search/index-changes`): a consumer that is renamed starts without its pending events. */
  readonly name: string
  readonly isBatch: boolean
  /** Besides `types`, the events of the kinds that plugins declare: `events` of `defineResource`. */
  readonly withResources?: boolean
}

/** Consumes events of one or several types, one at a time. `name`: lower-case letters, digits and hyphens; see `Subscription`. */
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
  options: Pick<Subscription, 'withResources'> = {},
): Subscription => ({ types, by, name, isBatch: true, ...options })

/** What a variable of the environment means that another program has in its documentation. */
export interface EnvironmentAlias {
  /** The setting that it is another name of: `mail.smtp.host`. Absent: it has no effect here. */
  readonly setting?: string
  /** Its value as the setting has it; as it is unless given. */
  readonly convert?: (text: string) => string
  /** Plugins that run where it is set. */
  readonly uses?: readonly string[]
  /** What to do instead, for a warning where it has no effect. */
  readonly otherwise?: string
  /** Values, in lower case, that mean the default behaviour: no warning then. */
  readonly defaults?: readonly string[]
}

/**
 * Koa middleware, typed by its shape as the SDK imports no Koa: what npm has, such as `helmet()` of koa-helmet, fits as it is. Its own `context`
 * is that of Koa; `MiddlewareContext` is the part of it that plugins may rely on.
 */
export type KoaMiddleware = (context: never, next: () => Promise<never>) => unknown

/** Koa's context, as far as the middleware of a plugin may rely on it. `state.request` has the caller, from the phase `afterAuthentication` on. */
export interface MiddlewareContext {
  readonly method: string
  readonly path: string
  /** The client's address; behind proxies that `http.trustedProxies` counts, the one that they saw. */
  readonly ip: string
  readonly state: { readonly request: { readonly id: string; readonly caller: Caller } }
  /** Set both and do not call `next` to answer in the route's place. */
  status: number
  body: unknown
  get(header: string): string
  set(header: string, value: string): void
}

/** A class whose instance is middleware, with what it was wired with. */
export interface MiddlewareClass {
  handle(context: MiddlewareContext, next: () => Promise<unknown>): unknown
}

/**
 * Where middleware stands: before all routes and what answers OPTIONS; after the caller is identified, before rights and input are checked; or right before
 * the handler.
 */
export type MiddlewarePhase = 'beforeRouting' | 'afterAuthentication' | 'beforeHandler'

/** Middleware of a plugin, or the class of it. Within a phase it runs in the order in which plugins start. */
export type PluginMiddleware = { readonly phase: MiddlewarePhase } & (
  | { readonly use: KoaMiddleware }
  | { readonly by: Class<MiddlewareClass> }
)

/** Headers that a browser shows to pages of other origins, and lets them send, only when the server says so. */
export interface CrossOriginHeaders {
  readonly request: readonly string[]
  readonly response: readonly string[]
}

/** The version of this SDK's contract. It rises when plugins written for the one before may stop working; CHANGELOG says what to change. */
export const apiVersion = 1

/** The parts of a plugin. Everything but `id` and `summary` is optional. */
export interface PluginDefinition {
  /**
   * Its folder: `plugins/blobs/disk` is `blobs.disk`. Its config lives under the same dotted path. Lower-case letters, digits and hyphens,
   * in two parts or more, and no other plugin's.
   */
  readonly id: string
  /** One sentence for people who read the config. */
  readonly summary: string
  /** The `apiVersion` of `pounce/sdk/kit` that it is written for, as a number: a Pounce with another one refuses it at the start. Published plugins should say it. */
  readonly apiVersion?: number
  /** A TypeBox object; every member has a default or is optional, and a description. Members marked `secret: true` are masked. */
  readonly config?: TSchema
  /** Dotted path of its settings where that is not its id. A second copy of the plugin has them under its own name. */
  readonly configPath?: string
  /** Variables of the environment, by name, that set something while this plugin runs. A variable of ours, `POUNCE_…`, goes before. */
  readonly environment?: Readonly<Record<string, EnvironmentAlias>>
  /** Its kinds of resources: what `defineResource` returns. Their collections and contributions need not be listed again. */
  readonly resources?: readonly ResourceDeclaration[]
  /** Permissions that it adds to `PluginPermissions` by declaration merging, for its routes to require and for roles to hold. No other plugin's, nor Pounce's. */
  readonly permissions?: Readonly<Partial<Record<keyof PluginPermissions, PermissionDefinition>>>
  /** Ports of the SDK, or of a package that others import too. A class that only the plugin itself needs is its own token: `wire(Members, Invitations)`. */
  readonly provides?: readonly Provision[]
  /** Classes that nothing needs, such as one that runs from `start` to `dispose`. */
  readonly services?: readonly Class[]
  /** Of the ports in `provides`, those that another plugin provides too and that this one stands in front of: see `behind`. */
  readonly wraps?: readonly Port<unknown>[]
  /** A module's exports; those that are routes are mounted, and their names are the operation ids. */
  readonly routes?: Readonly<Record<string, unknown>>
  /** What requests pass besides the kernel's own middleware, whatever plugin's route they are for. */
  readonly middleware?: readonly PluginMiddleware[]
  /** Headers of its routes for pages of the origins in `http.allowedOrigins`, besides those of HTTP itself. */
  readonly crossOriginHeaders?: CrossOriginHeaders
  /** They are its own: a plugin that declares a collection of another one is refused. */
  readonly collections?: readonly Collection<object>[]
  /** Types of events that it adds to `EventMap` by declaration merging, so that handlers of them are accepted. */
  readonly events?: readonly EventType[]
  readonly handlers?: readonly Subscription[]
  /** Names of consumers that it had once. Pending events of a consumer that no plugin declares are kept; those of the consumers named here are deleted. */
  readonly formerHandlers?: readonly string[]
  readonly periodic?: readonly Periodic[]
  /** It keeps in the data folder what is nowhere else: then one kernel at a time works on the installation, and commands wait for its end. */
  readonly isLocal?: boolean
  /**
   * Server admins may switch it on and off while the server runs. Then it provides nothing that other plugins need: routes, handlers, periodic tasks and
   * contributions, but no port, resource, middleware, header or variable of the environment, and no contribution that answers for records also while it is off (owners of blobs,
   * personal data, jobs) or protects the server (sign-in, audit, scans, quotas, checks); the start refuses it otherwise. Each time it is switched on its classes are made again.
   */
  readonly isSwitchable?: boolean
  /** Folder of `0001-what-it-does.ts` files that export `up(documents: DocumentStore): Promise<void>`, idempotent. */
  readonly migrations?: URL
}

/** What `definePlugin` returns; the module exports it as `plugin`. */
export interface Plugin extends PluginDefinition {
  readonly isPlugin: true
}

const permissionPattern = /^[A-Z][A-Za-z]{2,99}$/

/** Declares a plugin. Loading the module that calls it has no effect on the world. */
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

/** A class that must be started, checked or ended. The kernel calls these in order of need, and `dispose` backwards, one at a time. */
export interface Lifecycle {
  start?(): Promise<void> | void
  /** Throws, or rejects, with what is wrong; a text that it gives is a note for the operator, and it is well. At most 2 s. */
  health?(): Promise<string | undefined> | Promise<void> | string | undefined | void
  dispose?(): Promise<void> | void
}

/** The port of a plugin's own checked config: `const Config = configPort(config)`, then `wire(DiskBlobs, Config, Log)`. */
export const configPort = <S extends TSchema>(_schema: S): Port<Static<S>> => 'config' as Port<Static<S>>

/** True of an export that is a route. */
export const isRoute = (value: unknown): value is Route =>
  typeof value === 'object' && value !== null && 'declaration' in value && 'group' in value && 'needs' in value
