import { Unavailable } from 'pounce/sdk'

/** Rejects with `Unavailable` when the broker takes longer; what it says later is ignored. */
export async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Unavailable(`The broker did not answer within ${ms} ms`)), ms)
  work.catch(() => undefined)
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
