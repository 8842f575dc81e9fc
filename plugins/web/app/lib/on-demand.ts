import { ApiError, api, serverEvents } from './api.ts'

const reached = (): Promise<unknown> => new Promise(resolve => serverEvents.addEventListener('reached', resolve, { once: true }))

const pauseMs = 3000

/** Waits until the server responds; meanwhile the page shows that it does not. */
const responding = async (): Promise<void> => {
  for (;;) {
    try {
      await api('GET /api/session')
      return
    } catch (error) {
      if (error instanceof ApiError && error.status === 0) await reached()
      else await new Promise(resolve => setTimeout(resolve, pauseMs))
    }
  }
}

/** Loads a module. Without a connection it waits for one. */
export const whenResponding = async <T>(load: () => Promise<T>): Promise<T> => {
  try {
    return await load()
  } catch {
    await responding()
    return await load()
  }
}

/**
 * Loads code that the page did not need at first. Without a connection it waits for one: what was typed and is being uploaded must not be lost for a
 * dialog. Rejects if the server responds but has this code no longer, since another version was installed.
 */
export const onDemand = async <T>(load: () => Promise<T>): Promise<T> => {
  try {
    return await whenResponding(load)
  } catch (error) {
    throw new ApiError(0, { code: 'outdated', message: String(error) })
  }
}

/** The server has another version of the page, which a reload shows. */
export const isOutdated = (error: unknown): boolean => error instanceof ApiError && error.code === 'outdated'
