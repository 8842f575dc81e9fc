/**
 * Why a run gave no result. `refused`: the extractor threw, so the same bytes will fail again. `killed`: it took too long or too much
 * memory, or its process ended. `fault`: nothing to do with the extractor, such as a process that could not be started.
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

  /** The same, with names in place of paths that mean nothing to people and are none of their business. */
  without(paths: ReadonlyMap<string, string>): RunFailure {
    let text = this.message
    for (const [path, name] of paths) text = text.replaceAll(path, name)
    return new RunFailure(this.kind, text, { cause: this })
  }
}
