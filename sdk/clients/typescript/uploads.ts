import type { ApiConnection } from './client.ts'
import { PounceProblem, pause } from './problem.ts'

/** Where a file goes, and how it is sent. */
export interface FileUpload {
  /** Id of the dataset; without one only you can see the file. */
  readonly dataset?: string
  /** Id of a folder of the dataset. */
  readonly folder?: string
  /** Name of the file; that of a `File` by default. */
  readonly filename?: string
  /** Relative path with the name, instead of `filename`: folders that are missing are created. */
  readonly path?: string
  /** Media type; by default that of the blob, else the server derives it from the name. */
  readonly type?: string
  /** False: no extractor is triggered. */
  readonly extract?: boolean
  /** Hex SHA-256 of the whole file, which the server then verifies. */
  readonly sha256?: string
  /** Id of an upload that was begun before, of the same file: it continues. */
  readonly resume?: string
  /** Called with the id as soon as there is one. Keep it to `resume` after a crash. */
  readonly onStart?: (upload: string) => void
  /** Called with durable bytes and all bytes. */
  readonly onProgress?: (sent: number, total: number) => void
  /** Aborted, the upload keeps what the server has. */
  readonly signal?: AbortSignal
  /** Bytes of a request; 16 MiB by default. */
  readonly pieceBytes?: number
  /** Upper bound of the request of a piece, which is then tried again; 600,000 by default. */
  readonly pieceTimeoutMs?: number
  /** How often a piece is tried again without progress; 5 by default. */
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

/** What may be different the next time: the network, the server's load, another request of ours that it still reads. */
const isPassing = (error: unknown): error is PounceProblem =>
  error instanceof PounceProblem && (error.status === 0 || error.status >= 500 || [408, 409, 423, 429, 460].includes(error.status))

/** Sends a file by the tus protocol, piece by piece, and continues where the server is after an interruption. Returns the id of the file. */
export const upload = async (connection: ApiConnection, blob: Blob, options: FileUpload): Promise<string> => {
  const { signal, onProgress, pieceBytes = 16 * 1024 * 1024, retries = 5 } = options
  const id = options.resume ?? (await begin(connection, blob, options))
  const path = `/api/uploads/${encodeURIComponent(id)}`
  const received = async (): Promise<number> => {
    const { headers } = await connection.send('HEAD', path, { ...limitsOf(options), headers: tus })
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
      // A server that does not answer now is asked again by the next try.
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
  if (!id) throw new PounceProblem({ title: 'No Location', detail: 'The server began an upload without saying where' })
  options.onStart?.(id)
  return id
}
