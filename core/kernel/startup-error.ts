/** A reason for a failed start that the operator can fix. The command line prints the message without a stack trace. */
export class StartupError extends Error {
  override readonly name = 'StartRefused'
}

/** The message of any thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Rethrows any error of the work as a `StartupError` with the same message. */
export const refusing = async <T>(work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw new StartupError(messageOf(error), { cause: error })
  }
}
