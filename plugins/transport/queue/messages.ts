import type { ExtractorInput } from 'pounce/sdk'

/** One run, as it is sent to an extractor process. */
export interface RunRequest {
  /** URL of the module that exports `extract`. */
  readonly module: string
  readonly input: Omit<ExtractorInput, 'signal' | 'progress'>
}

/** Limits of one run, and who is notified of it. */
export interface RunLimits {
  readonly timeoutMs: number
  /** Aborted: the process is ended, and the run rejects with the signal's reason. */
  readonly signal: AbortSignal
  progress(message: string): void
}

/** What the server sends to an extractor process. */
export type ToProcess =
  | { readonly type: 'run'; readonly request: RunRequest }
  | { readonly type: 'abort' }
  /** The output of a run has been taken over. */
  | { readonly type: 'clear'; readonly folder: string }

/** What an extractor process sends back. `output` is JSON text of an `ExtractorOutput`, not yet checked. */
export type FromProcess =
  | { readonly type: 'ready' }
  | { readonly type: 'progress'; readonly message: string }
  | { readonly type: 'output'; readonly output: string }
  /** `isLast`: the process ends itself, for its state is unknown. */
  | { readonly type: 'error'; readonly message: string; readonly isLast: boolean }

/** Minimum time between two progress lines of a run. */
export const progressEveryMs = 1000

/** Shortest time between two that a process sends: less, so that a late one does not cost the next its turn. */
export const progressSentEveryMs = 250

const mostMessageCharacters = 10_000

/** Longest JSON text of a result: what a metadata document may have. */
export const maxOutputCharacters = 10 * 2 ** 20

/** What a process has sent, if it is a message at all: anyone who wrote it may have taken the process over. */
export function messageIn(raw: unknown): FromProcess | undefined {
  const { type, message, output, isLast } = (typeof raw === 'object' && raw !== null ? raw : {}) as Readonly<Record<string, unknown>>
  if (type === 'ready') return { type }
  if (type === 'progress' && typeof message === 'string') return { type, message: message.slice(0, mostMessageCharacters) }
  if (type === 'output' && typeof output === 'string' && output.length <= maxOutputCharacters) return { type, output }
  if (type === 'error' && typeof message === 'string')
    return { type, message: message.slice(0, mostMessageCharacters), isLast: isLast === true }
  return undefined
}
