import { ApiError, api } from '../api.ts'
import type { UploadTarget } from './upload-storage.ts'

const maxTries = 6

/**
 * Retries temporary failures only: the network, a busy server. A rejection by the server is final. A retry has `isRepeat`: the previous attempt may
 * have succeeded, with only its response lost.
 */
export const withRetries = async <T>(act: (isRepeat: boolean) => Promise<T>, signal = new AbortController().signal): Promise<T> => {
  for (let tries = 1; ; tries++) {
    try {
      return await act(tries > 1)
    } catch (error) {
      const mayPass = error instanceof ApiError && (error.status === 0 || [423, 429, 502, 503, 504].includes(error.status))
      // An unreachable server is retried indefinitely.
      if (signal.aborted || !mayPass || (tries >= maxTries && error.status !== 0)) throw error
      const waitMs = error.retryAfterSeconds === undefined ? Math.min(30_000, 500 * 2 ** tries) : error.retryAfterSeconds * 1000
      await pauseFor(waitMs, signal)
    }
  }
}

const pauseFor = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })

const batchSize = 1000

/** Which of these files already exist in the dataset, by path: the ID of the existing file, unless it was there `before` they were added. */
export const arrivedOf = async (
  { dataset, folder }: UploadTarget,
  files: readonly { readonly path: string; readonly size: number; readonly before?: string | undefined }[],
): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>()
  for (let from = 0; from < files.length; from += batchSize) {
    const some = files.slice(from, from + batchSize).map(({ path, size }) => ({ path, size }))
    const answers = await api('POST /api/uploads/check', { body: { dataset, ...(folder === undefined ? {} : { folder }), files: some } })
    for (const [at, { path, state, id }] of answers.entries())
      if (state === 'same' && id && id !== files[from + at]?.before) found.set(path, id)
  }
  return found
}

/** Creates a folder unless it exists. */
export const ensureFolder = ({ dataset, folder }: UploadTarget, path: string): Promise<unknown> =>
  api('POST /api/datasets/{id}/folders', { path: { id: dataset }, body: { path, ...(folder === undefined ? {} : { parentId: folder }) } })
