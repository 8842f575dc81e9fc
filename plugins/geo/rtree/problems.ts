import { Invalid, NoSpace, Problem, Unavailable } from 'pounce/sdk'
import { type TransferredError, toTransferred } from './transferred-errors.ts'

/** Converts the error of a thread to an instance of its class. */
export const fromTransferred = ({ problem, message, stack }: TransferredError): Error => {
  const cause = Object.assign(new Error(message), { stack })
  if (problem === 'invalid') return new Invalid(message)
  if (problem === 'no-space') return new NoSpace(message, { cause })
  if (problem === 'unavailable') return new Unavailable(message, { cause })
  return cause
}

/** The error for a caller: `NoSpace` for a full disk, `Unavailable` for a file that is unavailable, locked or damaged; other errors are returned unchanged. */
export const problemOf = (error: unknown): Error => {
  if (error instanceof Problem) return error
  const transferred = toTransferred(error)
  return transferred.problem !== undefined || !(error instanceof Error) ? fromTransferred(transferred) : error
}
