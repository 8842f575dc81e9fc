declare const provided: unique symbol

/** The name of a capability, with the type that provides it. One string is the key in the kernel's and in a plugin's container. */
export type Port<T> = string & { readonly [provided]: T }

/** Names a capability that exactly one plugin provides. */
export const port = <T>(name: string): Port<T> => name as Port<T>

/**
 * What many plugins contribute to, such as extractors or sign-in methods.
 * Who takes contributions does not wait for the contributors to start, so call `all` when answering, never in `start`.
 */
export interface Contributions<T> {
  /** Every contribution, in the order in which the config names the plugins. */
  all(): readonly T[]
}

/** Names a capability that any number of plugins contribute to. `provide` then takes a class of one contribution. */
export const contributions = <T>(name: string): Port<Contributions<T>> => `${name}*` as Port<Contributions<T>>

/** True of a port made by `contributions`. */
export const takesMany = (name: Port<unknown>): boolean => name.endsWith('*')

/**
 * What a plugin stands in front of. One that lists a port in `wraps` provides it to everyone, and takes what another plugin provides for it
 * from here: `wire(Counted, behind(BlobStore))`.
 */
export const behind = <T>(name: Port<T>): Port<T> => `${name}/behind` as Port<T>

/** Any class, whatever its constructor takes. */
export type Class<T = unknown> = new (...args: never[]) => T

/** Names one dependency: a port that some plugin provides, or a class of the same plugin, of which there is one instance. */
export type Token<T> = Port<T> | Class<T>

/** True of a token that is a class of the plugin. */
export const isClass = (token: Token<unknown>): token is Class => typeof token === 'function'

/** The dependencies of something, by the name it uses for each. */
export type Needs = Readonly<Record<string, Token<unknown>>>

/** The instances behind `Needs`. */
export type Resolved<N extends Needs> = {
  readonly [K in keyof N]: N[K] extends Port<infer T> ? T : N[K] extends Class<infer T> ? T : never
}

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
