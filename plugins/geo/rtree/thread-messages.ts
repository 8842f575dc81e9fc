import type { Question } from './questions.ts'
import type { ToldError } from './told-errors.ts'

/** To a thread: a question with the number of its task, a wish for the next piece, or that nobody waits for it any longer; or to end. */
export type ToThread =
  | { readonly task: number; readonly question: Question }
  | { readonly task: number; readonly more: true }
  | { readonly task: number; readonly cancel: true }
  | { readonly end: true }

/** From a thread: a piece, the end of all pieces, or what went wrong; and once in a while that it works. */
export type FromThread =
  | { readonly task: number; readonly piece: unknown }
  | { readonly task: number; readonly done: true }
  | { readonly task: number; readonly error: ToldError }
  | { readonly isWorking: true }
