/**
 * Why a run returned no result. `refused`: the extractor threw, so the same bytes will fail again. `killed`: it exceeded its time or memory
 * limit, or its process ended. `fault`: not caused by the extractor, such as a process that could not be started.
 */
export type FailureKind = 'refused' | 'killed' | 'fault'

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
