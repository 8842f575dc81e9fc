import { Invalid, NoSpace, Problem, Unavailable } from 'pounce/sdk'

/** SQLSTATE classes (PostgreSQL manual, appendix A) of temporary failures: connections, resources, operator intervention, system errors. */
const awayClasses = /^(?:08|53|57|58)/
/** Insufficient rights, a wrong password, a missing database, a read-only server. */
const denied = /^(?:28|3D|42501|25006)/
const awayOfSystem = /^E(?:CONN|PIPE|TIMEDOUT|HOST|NET|AI_)/
const awayMessages =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout|The client is closed|Cannot use a pool|Client was closed)/

const codeOfAny = (error: unknown): string => {
  const code = error instanceof Error ? (error as { readonly code?: unknown }).code : undefined
  return typeof code === 'string' ? code : ''
}

/** The SQLSTATE of an error sent by the server; undefined for any other. */
export const stateOf = (error: unknown): string | undefined => {
  const code = codeOfAny(error)
  return error instanceof Error && 'severity' in error && code.length === 5 ? code : undefined
}

/** True when the server was unreachable, timed out, or was in no state to answer. */
export const isUnavailable = (error: unknown): boolean => {
  const state = stateOf(error)
  if (state !== undefined) return awayClasses.test(state)
  return awayOfSystem.test(codeOfAny(error)) || (error instanceof Error && awayMessages.test(error.message))
}

/** True when the server rejects this user or denies it the operation. */
export const isDenied = (error: unknown): boolean => denied.test(stateOf(error) ?? '')

/** True for a transaction that was aborted so that another could continue; it should be retried. */
export const isDeadlock = (error: unknown): boolean => /^40(?:P01|001)$/.test(stateOf(error) ?? '')

/** The error for a caller: `Unavailable` when the server is unavailable or too slow, `NoSpace` for a full disk. */
export const problemOf = (error: unknown): Error => {
  if (error instanceof Problem) return error
  const cause = error instanceof Error ? error : new Error(String(error))
  const state = stateOf(error)
  if (state === '53100' || /no space left on device/i.test(cause.message)) return new NoSpace(undefined, { cause })
  if (state === '57014') return new Unavailable('The query of the datapoint store timed out: request less data', { cause })
  // Raised by our own function, and by sums outside the range of a number.
  if (state === 'GEO01') return new Invalid(cause.message, { cause })
  if (state === '22003') return new Invalid('The matching numbers are too large or too small to aggregate', { cause })
  if (isUnavailable(error) || isDenied(error)) return new Unavailable('The datapoint store is unavailable', { cause })
  return cause
}
