import type { ExtractorInput } from 'pounce/sdk'

/** One run, as it is sent to an extractor process. */
export interface RunRequest {
  /** URL of the module that exports `extract`. */
  readonly module: string
  readonly input: Omit<ExtractorInput, 'signal' | 'progress'>
}

/** What the server sends to an extractor process. */
export type ToProcess = { readonly type: 'run'; readonly request: RunRequest } | { readonly type: 'abort' }

/** What an extractor process sends back. `output` is JSON text of an `ExtractorOutput`, not yet checked. */
export type FromProcess =
  | { readonly type: 'ready' }
  | { readonly type: 'progress'; readonly message: string }
  | { readonly type: 'output'; readonly output: string }
  /** `isLast`: the process ends itself, for its state is unknown. */
  | { readonly type: 'error'; readonly message: string; readonly isLast: boolean }

/** Shortest time between two progress lines that a run is heard with. */
export const progressEveryMs = 1000

/** Shortest time between two that a process sends: less, so that a late one does not cost the next its turn. */
export const progressSentEveryMs = 250

/** Longest JSON text of a result: what a metadata document may have. */
export const mostOutputCharacters = 10 * 2 ** 20
