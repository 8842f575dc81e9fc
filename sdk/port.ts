declare const provided: unique symbol

/** The name of a capability, with the type of its implementations. The same string is the key in the kernel's and in the plugin's container. */
export type Port<T> = string & { readonly [provided]: T }

/** Names a capability that exactly one plugin provides. */
export const port = <T>(name: string): Port<T> => name as Port<T>

/**
 * A capability that many plugins contribute to, such as extractors or sign-in methods. Contributors may start after their consumer, so call `all` when handling
 * a request, never in `start`.
 */
export interface Contributions<T> {
  /** All contributions, in the order of the plugins in the config. */
  all(): readonly T[]
}

/** Names a capability that any number of plugins contribute to. `provide` then takes a class that implements one contribution. */
export const contributions = <T>(name: string): Port<Contributions<T>> => `${name}*` as Port<Contributions<T>>

/** True for a port created by `contributions`. */
export const takesMany = (name: Port<unknown>): boolean => name.endsWith('*')

/**
 * The decorated implementation of a port. A plugin that lists a port in `wraps` provides it to all others and gets the other plugin's implementation with
 * `wire(Counted, wrapped(BlobStore))`.
 */
export const wrapped = <T>(name: Port<T>): Port<T> => `${name}/wrapped` as Port<T>

/** Any class, with any constructor parameters. */
export type Class<T = unknown> = new (...args: never[]) => T

/** Identifies a dependency: a port that some plugin provides, or a class of the same plugin, which has a single instance. */
export type Token<T> = Port<T> | Class<T>

/** True for a token that is a class. */
export const isClass = (token: Token<unknown>): token is Class => typeof token === 'function'

/** Dependencies by the name used for each. */
export type Needs = Readonly<Record<string, Token<unknown>>>

/** The instances for `Needs`. */
export type Resolved<N extends Needs> = {
  readonly [K in keyof N]: N[K] extends Port<infer T> ? T : N[K] extends Class<infer T> ? T : never
}

/** A port and the class that implements it. */
export interface Provision {
  readonly port: Port<unknown>
  readonly by: Class
}

/** What a class must implement to be provided for a port: one contribution, or the port itself. */
export type Provided<P> = P extends Contributions<infer T> ? T : P

/** Registers a class as the implementation of a port, or as a contribution to it. */
export const provide = <P>(name: Port<P>, by: Class<Provided<NoInfer<P>>>): Provision => ({ port: name, by })
