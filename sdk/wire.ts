import type { Class, Token } from './port.ts'

type Tokens<A extends readonly unknown[]> = { [K in keyof A]: Token<A[K]> }

/** For plugins without types, and for modules that import each other. */
export const whyUndefined = ': its name may be misspelt, or its module may import this one'

export const whyNoToken = ' is neither a port nor a class, such as DocumentStore'
export const isToken = (value: unknown): boolean => typeof value === 'string' || typeof value === 'function'

const wired = new WeakMap<Class, readonly Token<unknown>[]>()

/**
 * Declares a constructor's dependencies in order: `wire(DiskBlobs, Config, Log, SegmentFiles)`, each a port or a class of the same plugin. A wrong order is a
 * type error. Replaces decorators, which Node cannot strip. The kernel derives the plugin's dependencies from it.
 */
export function wire<A extends unknown[], T>(cls: new (...args: A) => T, ...tokens: Tokens<NoInfer<A>>): void {
  const absent = tokens.indexOf(undefined as never)
  if (absent >= 0) throw new TypeError(`wire(${cls.name}): dependency ${absent + 1} is undefined${whyUndefined}`)
  const odd = tokens.findIndex(token => !isToken(token))
  if (odd >= 0) throw new TypeError(`wire(${cls.name}): dependency ${odd + 1}${whyNoToken}`)
  wired.set(cls as Class, tokens as readonly Token<unknown>[])
}

/** The dependencies a class was wired with; empty if none. */
export const needsOf = (cls: Class): readonly Token<unknown>[] => wired.get(cls) ?? []
