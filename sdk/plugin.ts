import type { AnyEvent, EventType, StoredEvent } from './events.ts'
import type { Contributions, Port } from './port.ts'
import type { Collection } from './ports/document-store.ts'
import type { Periodic } from './ports/kernel.ts'
import type { Route } from './route.ts'
import type { Static, TSchema } from './schema.ts'
import type { Class } from './wire.ts'

/** A port and the class behind it. */
export interface Provision {
  readonly port: Port<unknown>
  readonly by: Class
}

/** Says that a class provides a port, or contributes to one that takes many. */
export function provide<T>(name: Port<Contributions<T>>, by: Class<T>): Provision
export function provide<T>(name: Port<T>, by: Class<T>): Provision
export function provide(name: Port<unknown>, by: Class): Provision {
  return { port: name, by }
}

/** Deals with one event. Re-read what it names; a repeat must do no harm. Throw to be called again later. */
export interface Handler<T extends EventType> {
  handle(event: StoredEvent<T>): Promise<void>
}

/** Deals with up to 200 events at once, all or nothing. */
export interface BatchHandler {
  handleAll(events: readonly AnyEvent[]): Promise<void>
}

/** A class of a plugin and the events it hears. Its class name in kebab-case is stored as the consumer's name: keep it. */
export interface Subscription {
  readonly types: readonly EventType[] | '*'
  readonly by: Class
  readonly isBatch: boolean
}

/** Hears one type of event, or several. */
export const on = <T extends EventType>(types: T | readonly T[], by: Class<Handler<T>>): Subscription => ({
  types: typeof types === 'string' ? [types] : (types as readonly EventType[]),
  by,
  isBatch: false,
})

/** Hears many events in batches; `'*'` for all types. */
export const onBatch = (types: readonly EventType[] | '*', by: Class<BatchHandler>): Subscription => ({ types, by, isBatch: true })

/** The parts of a plugin. Everything but `id` and `summary` is optional. */
export interface PluginDefinition {
  /** Its folder: `plugins/blobs/disk` is `blobs.disk`. Its config lives under the same dotted path. */
  readonly id: string
  /** One sentence for people who read the config. */
  readonly summary: string
  /** A TypeBox object; every member has a default or is optional, and a description. Members marked `secret: true` are masked. */
  readonly config?: TSchema
  readonly provides?: readonly Provision[]
  /** Of the ports in `provides`, those that another plugin provides too and that this one stands in front of: see `behind`. */
  readonly wraps?: readonly Port<unknown>[]
  /** A module's exports; those that are routes are mounted, and their names are the operation ids. */
  readonly routes?: Readonly<Record<string, unknown>>
  readonly collections?: readonly Collection<object>[]
  readonly handlers?: readonly Subscription[]
  readonly periodic?: readonly Periodic[]
  /** It keeps in the data folder what is nowhere else: then one kernel at a time works on the installation, and commands wait for its end. */
  readonly isLocal?: boolean
  /** Folder of `0001-what-it-does.ts` files that export `up(documents: DocumentStore): Promise<void>`, idempotent. */
  readonly migrations?: URL
}

/** What `definePlugin` returns; the module exports it as `plugin`. */
export interface Plugin extends PluginDefinition {
  readonly isPlugin: true
}

/** Declares a plugin. Loading the module that calls it has no effect on the world. */
export const definePlugin = (definition: PluginDefinition): Plugin => ({ ...definition, isPlugin: true })

/** A class that must be started, checked or ended. The kernel calls these in order of need, and `dispose` backwards, one at a time. */
export interface Lifecycle {
  start?(): Promise<void> | void
  /** Throws, or rejects, with what is wrong. At most 2 s. */
  health?(): Promise<void> | void
  dispose?(): Promise<void> | void
}

/** The port of a plugin's own checked config: `const Config = configPort(config)`, then `wire(DiskBlobs, Config, Log)`. */
export const configPort = <S extends TSchema>(_schema: S): Port<Static<S>> => 'config' as Port<Static<S>>

/** True of an export that is a route. */
export const isRoute = (value: unknown): value is Route =>
  typeof value === 'object' && value !== null && 'declaration' in value && 'group' in value && 'needs' in value
