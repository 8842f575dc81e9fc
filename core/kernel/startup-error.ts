/** The reason why a kernel does not start, for the person who starts it. The command line prints the message without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartRefused'
}

/** The message of any thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Turns any failure of the work into a `StartupError` with the same message. */
export const refusing = async <T>(work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw new StartupError(messageOf(error), { cause: error })
  }
}
