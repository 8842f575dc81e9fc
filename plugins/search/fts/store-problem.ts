import { NoSpace, Problem, Unavailable } from 'pounce/sdk'
import { sqliteCode } from './damage.ts'

const full = 13
/** Busy, locked, read-only, I/O error, cannot open. */
const away = [5, 6, 8, 10, 14]

/** What an error of the database means to who asked; errors that are not the database's stay as they are. */
export function asProblem(error: unknown): unknown {
  const code = sqliteCode(error)
  if (code === undefined || error instanceof Problem) return error
  if ((code & 0xff) === full) return new NoSpace(undefined, { cause: error })
  return away.includes(code & 0xff) ? new Unavailable('The search index cannot be written', { cause: error }) : error
}
