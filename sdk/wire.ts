import type { Class, Token } from './port.ts'

type Tokens<A extends readonly unknown[]> = { [K in keyof A]: Token<A[K]> }

const wired = new WeakMap<Class, readonly Token<unknown>[]>()

/**
 * Says what a constructor takes, in order: `wire(DiskBlobs, Config, Log, SegmentFiles)`, each a port or a class of the same plugin. One out of order is a type
 * error. Node cannot strip decorators. The kernel reads the plugin's needs from here.
 */
export function wire<A extends unknown[], T>(cls: new (...args: A) => T, ...tokens: Tokens<NoInfer<A>>): void {
  wired.set(cls as Class, tokens as readonly Token<unknown>[])
}

/** What a class was wired with; nothing for a class without a constructor. */
export const needsOf = (cls: Class): readonly Token<unknown>[] => wired.get(cls) ?? []
