import type { ApiConnection } from './client.ts'
import { PounceProblem, pause } from './problem.ts'

/** Where and how to upload a file. */
export interface FileUpload {
  /** Id of the dataset; without one, only you can view the file. */
  readonly dataset?: string
  /** Id of a folder in the dataset. */
  readonly folder?: string
  /** Name of the file; defaults to that of the `File`. */
  readonly filename?: string
  /** Relative path including the name, instead of `filename`; missing folders are created. */
  readonly path?: string
  /** Media type; defaults to that of the blob, otherwise the server derives it from the name. */
  readonly type?: string
  /** False: do not trigger extractors. */
  readonly extract?: boolean
  /** Hex SHA-256 of the whole file, for the server to verify. */
  readonly sha256?: string
  /** Id of an earlier, incomplete upload of the same file to resume. */
  readonly resume?: string
  /** Called with the upload id once it is known. Store it to `resume` after a crash. */
  readonly onStart?: (upload: string) => void
  /** Called with the number of durable bytes and the total. */
  readonly onProgress?: (sent: number, total: number) => void
  /** When aborted, the server keeps the bytes received so far. */
  readonly signal?: AbortSignal
  /** Bytes per request; 16 MiB by default. */
  readonly pieceBytes?: number
  /** Timeout per piece, after which it is retried; 600,000 by default. */
  readonly pieceTimeoutMs?: number
  /** Maximum number of retries without progress; 5 by default. */
  readonly retries?: number
}

const tus = { 'tus-resumable': '1.0.0' }

const base64 = (text: string): string => btoa(Array.from(new TextEncoder().encode(text), byte => String.fromCharCode(byte)).join(''))

const metadataOf = (blob: Blob, { dataset, folder, filename, path, type, extract, sha256 }: FileUpload): string => {
  const name = filename ?? ('name' in blob ? String(blob.name) : undefined)
  if (path === undefined && name === undefined) throw new TypeError('An upload needs filename or path')
  const filetype = type ?? blob.type
  const members = {
    ...(path === undefined ? { filename: name } : { path }),
    ...(filetype === '' ? {} : { filetype }),
    ...{ dataset, folder, sha256, extract },
  }
  return Object.entries(members)
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key} ${base64(String(value))}`]))
    .join(',')
}

const limitsOf = ({ signal, pieceTimeoutMs = 600_000 }: FileUpload): { readonly signal: AbortSignal } => ({
  signal: AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(pieceTimeoutMs)]),
})

/** Whether the error is transient: network, server load, or an earlier request of ours that is still being processed. */
const isPassing = (error: unknown): error is PounceProblem =>
  error instanceof PounceProblem && (error.status === 0 || error.status >= 500 || [408, 409, 423, 429].includes(error.status))

/** Uploads a file in pieces with the tus protocol, and continues from the server's offset after an interruption. Returns the id of the file. */
export const upload = async (connection: ApiConnection, blob: Blob, options: FileUpload): Promise<string> => {
  const { signal, onProgress, pieceBytes = 16 * 1024 * 1024, retries = 5 } = options
  const id = options.resume ?? (await begin(connection, blob, options))
  const path = `/api/uploads/${encodeURIComponent(id)}`
  const received = async (): Promise<number> => {
    const { headers } = await connection.send('HEAD', path, { ...limitsOf(options), headers: tus })
    const length = Number(headers.get('upload-length') ?? blob.size)
    if (length !== blob.size) throw new TypeError(`The upload to resume is of a file with ${length} bytes; this one has ${blob.size}`)
    return Number(headers.get('upload-offset'))
  }
  let offset = options.resume === undefined ? 0 : await received()
  let failed = 0
  while (offset < blob.size) {
    onProgress?.(offset, blob.size)
    try {
      const { headers } = await connection.send('PATCH', path, {
        ...limitsOf(options),
        body: blob.slice(offset, offset + pieceBytes),
        headers: { ...tus, 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) },
      })
      offset = Number(headers.get('upload-offset'))
      failed = 0
    } catch (error) {
      if (!isPassing(error) || failed >= retries) throw error
      await pause(error.retryAfterSeconds === undefined ? 500 * 2 ** failed : error.retryAfterSeconds * 1000, signal)
      signal?.throwIfAborted()
      failed++
      // If the server does not respond now, the next attempt queries it again.
      const known = await received().catch((unknown: unknown) => {
        if (!isPassing(unknown)) throw unknown
        return offset
      })
      if (known > offset) failed = 0
      offset = known
    }
  }
  onProgress?.(blob.size, blob.size)
  return id
}

const begin = async (connection: ApiConnection, blob: Blob, options: FileUpload): Promise<string> => {
  const { headers } = await connection.send('POST', '/api/uploads', {
    headers: { ...tus, 'upload-length': String(blob.size), 'upload-metadata': metadataOf(blob, options) },
    ...limitsOf(options),
  })
  const id = headers.get('location')?.split('/').at(-1)
  if (!id) throw new PounceProblem({ title: 'No Location', detail: 'The server started an upload without a Location header' })
  options.onStart?.(id)
  return id
}
