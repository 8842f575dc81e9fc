/**
 * Why a run returned no result. `refused`: the extractor threw, so the same bytes will fail again. `killed`: it exceeded its time or memory
 * limit, or its process ended. `full`: it found no space on the disk. `fault`: not caused by the extractor, such as a process that could not be started.
 */
export type FailureKind = 'refused' | 'killed' | 'full' | 'fault'

/** The failure of a run whose extractor threw. A full disk is the only error of this kind that passes; the output of the extractor may be its cause, though. */
export const thrown = (message: string): RunFailure => new RunFailure(/\b(?:ENOSPC|EDQUOT)\b/.test(message) ? 'full' : 'refused', message)

/** A run that failed. The message is for people. */
export class RunFailure extends Error {
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RunFailure'
    this.kind = kind
  }

  /** The message with names in place of internal paths, which mean nothing to users and must not be disclosed. */
  without(paths: ReadonlyMap<string, string>): RunFailure {
    let text = this.message
    for (const [path, name] of paths) text = text.replaceAll(path, name)
    return new RunFailure(this.kind, text, { cause: this })
  }
}
