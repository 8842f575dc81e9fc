import type { ExtractorInput } from 'pounce/sdk'

/** One run, as sent to an extractor process. */
export interface RunRequest {
  /** URL of the module that exports `extract`. */
  readonly module: string
  readonly input: Omit<ExtractorInput, 'signal' | 'progress'>
}

/** Limits of one run, and its callbacks. */
export interface RunLimits {
  readonly timeoutMs: number
  /** Aborted: the process is killed, and the run rejects with the signal's reason. */
  readonly signal: AbortSignal
  progress(message: string): void
}

/** What the server sends to an extractor process. */
export type ToProcess =
  | { readonly type: 'run'; readonly request: RunRequest }
  | { readonly type: 'abort' }
  /** The output of a run has been copied. */
  | { readonly type: 'clear'; readonly folder: string }

/** What an extractor process sends back. `output` is JSON text of an `ExtractorOutput`, not yet checked. */
export type FromProcess =
  | { readonly type: 'ready' }
  | { readonly type: 'progress'; readonly message: string }
  | { readonly type: 'output'; readonly output: string }
  /** `isLast`: the process exits, since its state is unknown. */
  | { readonly type: 'error'; readonly message: string; readonly isLast: boolean }

/** Minimum time between two progress lines of a run. */
export const progressEveryMs = 1000

/** Minimum time between two that a process sends: shorter, so that a late one does not suppress the next. */
export const progressSentEveryMs = 250

const maxMessageCharacters = 10_000

/** Maximum length of a result's JSON text: the limit of a metadata document. */
export const maxOutputCharacters = 10 * 2 ** 20

/** A message of a process, if it is valid: the process may be compromised. */
export function messageIn(raw: unknown): FromProcess | undefined {
  const { type, message, output, isLast } = (typeof raw === 'object' && raw !== null ? raw : {}) as Readonly<Record<string, unknown>>
  if (type === 'ready') return { type }
  if (type === 'progress' && typeof message === 'string') return { type, message: message.slice(0, maxMessageCharacters) }
  if (type === 'output' && typeof output === 'string' && output.length <= maxOutputCharacters) return { type, output }
  if (type === 'error' && typeof message === 'string')
    return { type, message: message.slice(0, maxMessageCharacters), isLast: isLast === true }
  return undefined
}
