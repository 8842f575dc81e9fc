import type { DocumentStore } from 'pounce/sdk'

/** A read that has its result, but has not returned it. */
export interface BlockedRead {
  /** Resolves when the read is held. */
  readonly begun: Promise<void>
  /** Returns the result. */
  release(): void
}

/** Holds the next read of a collection by this method of a store until it is released. */
export const blockRead = (documents: DocumentStore, method: 'get' | 'find' | 'scan', collection: string): BlockedRead => {
  const begun = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const read = documents[method].bind(documents) as (...values: readonly unknown[]) => unknown
  /** True for the read to hold. */
  const isNext = ({ name }: { readonly name: string }): boolean => name === collection && Reflect.deleteProperty(documents, method)
  const block = async (): Promise<void> => {
    begun.resolve()
    await released.promise
  }
  async function* scan(from: { readonly name: string }, ...more: readonly unknown[]): AsyncGenerator<unknown> {
    const isBlocked = isNext(from)
    const rows = await Array.fromAsync(read(from, ...more) as AsyncIterable<unknown>)
    if (isBlocked) await block()
    yield* rows
  }
  const call = async (from: { readonly name: string }, ...more: readonly unknown[]): Promise<unknown> => {
    const isHeld = isNext(from)
    const result = await read(from, ...more)
    if (isHeld) await block()
    return result
  }
  Object.defineProperty(documents, method, { value: method === 'scan' ? scan : call, configurable: true })
  return { begun: begun.promise, release: released.resolve }
}
