import 'reflect-metadata/lite'
import { inject, injectable } from 'tsyringe'
import type { Port } from './port.ts'

/** Any class, whatever its constructor takes. */
export type Class<T = unknown> = new (...args: never[]) => T

type Ports<A extends readonly unknown[]> = { [K in keyof A]: Port<A[K]> }

const wired = new WeakMap<Class, readonly Port<unknown>[]>()

/**
 * Says which ports a constructor takes, in order: `wire(DiskBlobs, Config, Log)`. A port out of order is a type error.
 * Node cannot strip decorators, so this calls tsyringe's as functions. The plugin's needs are read from here.
 */
export function wire<A extends unknown[], T>(cls: new (...args: A) => T, ...ports: Ports<NoInfer<A>>): void {
  const tokens = ports as readonly Port<unknown>[]
  tokens.forEach((token, at) => {
    inject(token as string)(cls, undefined, at)
  })
  injectable()(cls as never)
  wired.set(cls as Class, tokens)
}

/** The ports a class was wired with; none for a class without a constructor. */
export const needsOf = (cls: Class): readonly Port<unknown>[] => wired.get(cls) ?? []
