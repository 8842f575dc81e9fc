/** Why a kernel does not start, in words for the person who starts it. The command line prints the message without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartRefused'
}

/** The message of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Makes any failure of the work a reason not to start, in its own words. */
export const refusing = async <T>(work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw new StartupError(messageOf(error), { cause: error })
  }
}
