import { ApiError, urlOf } from '../api.ts'
import { onDemand } from '../on-demand.ts'
import type { UploadItem } from './upload-queue.ts'
import { removeAddress, storeAddress, storedAddress } from './upload-storage.ts'

/** Files up to this size are sent in one request; larger ones in a resumable upload. */
const maxWholeBytes = 8 * 1024 * 1024

/** Sends one file and returns its ID. Rejects with `ApiError`; when aborted, a resumable upload keeps what the server has. */
export const sendFile = async (item: UploadItem, onProgress: (sent: number) => void, signal: AbortSignal): Promise<string | undefined> => {
  if (!item.file) throw new ApiError(0, { code: 'unreadable' })
  return item.size <= maxWholeBytes ? sendWhole(item, item.file, onProgress, signal) : sendInPieces(item, item.file, onProgress, signal)
}

const sendWhole = (
  { target: { dataset, folder }, path, batch }: UploadItem,
  file: File,
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const stop = (): void => request.abort()
    const end = (): void => signal.removeEventListener('abort', stop)
    signal.addEventListener('abort', stop, { once: true })
    request.open('POST', urlOf(`/api/uploadToDataset/${dataset}`, { path, batch, folder_id: folder }))
    request.setRequestHeader('accept', 'application/json')
    request.upload.onprogress = ({ loaded }) => onProgress(Math.min(loaded, file.size))
    request.onload = () => {
      end()
      const answer = parsed(request.responseText)
      if (request.status >= 200 && request.status < 300) resolve(typeof answer['id'] === 'string' ? answer['id'] : undefined)
      else reject(new ApiError(request.status, answer, Number(request.getResponseHeader('retry-after')) || undefined))
    }
    request.onerror = () => {
      end()
      void isReadable(file).then(isThere =>
        reject(isThere ? unreachable() : new ApiError(400, { code: 'unreadable', message: 'The file changed on disk or cannot be read' })),
      )
    }
    request.onabort = () => {
      end()
      reject(signal.reason)
    }
    const form = new FormData()
    form.append('file', file, path.split('/').at(-1) ?? file.name)
    request.send(form)
  })

const unreachable = (): ApiError => new ApiError(0, { code: 'unreachable', message: 'The server is unreachable' })

/** Reading a file that was changed or removed since its selection fails like a network error. */
const isReadable = async (file: File): Promise<boolean> => {
  try {
    await file.slice(0, 1).arrayBuffer()
    return true
  } catch {
    return false
  }
}

const parsed = (text: string): Readonly<Record<string, unknown>> => {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}

/** The network process of a browser reads a file itself; a slice, even of the whole file, is copied several times through other processes. */
const bytesOf = (file: File) => ({
  size: file.size,
  slice: async (start: number, end: number) => ({
    value: start === 0 && end >= file.size ? file : file.slice(start, end),
    done: end >= file.size,
  }),
  close: () => undefined,
})

const sendInPieces = async (
  { key, target: { dataset, folder }, path, batch }: UploadItem,
  file: File,
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const [{ Upload }, known] = await Promise.all([onDemand(() => import('tus-js-client')), storedAddress(key)])
  return new Promise((resolve, reject) => {
    const upload = new Upload(file, {
      endpoint: urlOf('/api/uploads'),
      fileReader: { openFile: async () => bytesOf(file) },
      uploadUrl: known ?? null,
      storeFingerprintForResuming: false,
      retryDelays: [],
      metadata: { path, dataset, batch, filetype: file.type, ...(folder === undefined ? {} : { folder }) },
      onUploadUrlAvailable: () => {
        if (upload.url) void storeAddress(key, upload.url)
      },
      onProgress: sent => onProgress(sent),
      onSuccess: () => {
        signal.removeEventListener('abort', stop)
        void removeAddress(key)
        // The ID of the upload becomes the ID of the file.
        resolve(upload.url?.split('/').at(-1))
      },
      onError: error => {
        signal.removeEventListener('abort', stop)
        const response = 'originalResponse' in error ? error.originalResponse : undefined
        if (!response) reject(unreachable())
        else reject(new ApiError(response.getStatus(), parsed(response.getBody()), Number(response.getHeader('retry-after')) || undefined))
      },
    })
    const stop = (): void => {
      void upload.abort()
      reject(signal.reason)
    }
    signal.addEventListener('abort', stop, { once: true })
    upload.start()
  })
}
