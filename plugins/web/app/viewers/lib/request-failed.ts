import type { ViewerHost } from '../host.ts'

/** The name of errors of `ViewerHost.read` and `api` because of the server or the connection, not because of the file. */
export const requestFailed = 'RequestFailed'

export const isRequestFailed = (error: unknown): error is Error => error instanceof Error && error.name === requestFailed

/** Why a file cannot be shown that the browser or a worker reads by itself: the message of the server if it does not send the file, otherwise the given one. */
export const unreadBecause = async ({ read }: ViewerHost, message: string, cause?: unknown): Promise<Error> => {
  try {
    await read(0, 1)
  } catch (error) {
    if (isRequestFailed(error)) return error
  }
  return new Error(message, { cause })
}
