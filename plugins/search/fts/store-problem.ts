import { NoSpace, Problem, Unavailable } from 'pounce/sdk'
import { sqliteCode } from './damage.ts'

const full = 13
/** Busy, locked, read-only, I/O error, cannot open. */
const away = [5, 6, 8, 10, 14]

const codeOfFileSystem = (error: unknown): string | undefined =>
  error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined

/** What an error of the database or of the file system means to who asked; others stay as they are. */
export function asProblem(error: unknown): unknown {
  const ofFile = codeOfFileSystem(error)
  if (ofFile === 'ENOSPC' || ofFile === 'EDQUOT') return new NoSpace(undefined, { cause: error })
  if (ofFile !== undefined) return new Unavailable('The search index is not writable', { cause: error })
  const code = sqliteCode(error)
  if (code === undefined || error instanceof Problem) return error
  if ((code & 0xff) === full) return new NoSpace(undefined, { cause: error })
  return away.includes(code & 0xff) ? new Unavailable('The search index is not writable', { cause: error }) : error
}
