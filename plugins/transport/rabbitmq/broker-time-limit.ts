import { Unavailable } from 'pounce/sdk'
import { withTimeLimit } from 'pounce/sdk/kit'

/** Rejects with `Unavailable` when the broker takes longer; a later response is ignored. */
export const withBrokerTimeLimit = <T>(work: Promise<T>, ms: number): Promise<T> =>
  withTimeLimit(work, ms, () => new Unavailable(`The broker did not answer within ${ms} ms`))
