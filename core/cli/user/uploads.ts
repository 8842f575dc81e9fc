import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { messageOf, StartupError } from '../../kernel/startup-error.ts'
import { type ContentPlace, treeOf } from './dataset-contents.ts'
import type { StreamedBody } from './http-client.ts'
import { type LocalFile, sha256Of } from './local-files.ts'
import { isFatal, RequestRefused, type ServerClient, TransientFailure } from './server-client.ts'
import type { TransferProgress } from './transfer-progress.ts'

/** What exists at the path of a file: nothing, the same bytes, or different ones. */
export type PlaceState = 'absent' | 'same' | 'other'

/** A file to upload, and what exists at its path on the server. */
export interface CheckedFileOf extends LocalFile {
  readonly sha256: string | undefined
  readonly state: PlaceState | 'invalid'
  readonly id?: string | undefined
  readonly message?: string | undefined
}

/** Uploads to one dataset. */
export interface Uploader {
  /** Checks what exists on the server at the paths of files. At most 1,000. */
  check(files: readonly LocalFile[]): Promise<readonly CheckedFileOf[]>
  /** Creates missing folders and their parents. Reports the folders that fail. */
  ensureFolders(paths: readonly string[]): Promise<void>
  /** Resolves to the id of the file once the server has received it completely. */
  upload(file: CheckedFileOf): Promise<string>
}

/** An unfinished upload on the server. */
interface OpenUpload {
  readonly id: string
  readonly dataset: string | null
  readonly folder: string | null
  readonly path?: string
  readonly filename: string
  readonly length: number
  readonly received: number
}

const tus = { 'tus-resumable': '1.0.0' }
const bytesType = { 'content-type': 'application/offset+octet-stream' }
/** Files up to this size are sent with the request that creates the upload. */
const maxAtOnceBytes = 1024 * 1024
/** The server rereads a large file before it responds. */
const answerTimeoutMs = 3_600_000

interface Frame {
  readonly offset?: number
  readonly head?: string
  readonly tail?: string
}

/** The bytes of a file from an offset to the checked size, so that a growing file is uploaded up to that size. A shrinking file is an error. */
const bodyOf = ({ file, size }: LocalFile, { offset = 0, head = '', tail = '' }: Frame, onBytes: (count: number) => void): StreamedBody => {
  async function* content() {
    if (head !== '') yield Buffer.from(head)
    let left = size - offset
    try {
      if (left > 0)
        for await (const chunk of createReadStream(file, { start: offset, end: size - 1, highWaterMark: 256 * 1024 })) {
          left -= (chunk as Buffer).length
          onBytes((chunk as Buffer).length)
          yield chunk as Buffer
        }
    } catch (error) {
      throw new StartupError(`${file} is not readable: ${messageOf(error)}`, { cause: error })
    }
    if (left > 0) throw new StartupError(`${file} changed during the upload: repeat the command`)
    if (tail !== '') yield Buffer.from(tail)
  }
  return {
    length: size - offset + Buffer.byteLength(head) + Buffer.byteLength(tail),
    open: () => Readable.from(content(), { objectMode: false }),
  }
}

const encoded = (pairs: Readonly<Record<string, string>>): string =>
  Object.entries(pairs)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',')

const decoded = (header: string | undefined): ReadonlyMap<string, string> =>
  new Map(
    (header ?? '').split(',').map(pair => {
      const [key = '', value = ''] = pair.trim().split(' ')
      return [key, Buffer.from(value, 'base64').toString()]
    }),
  )

/** Reports a folder that could not be created, so that it does not stop the others. */
const orReported = async (path: string, progress: TransferProgress, create: () => Promise<unknown>): Promise<void> => {
  try {
    await create()
  } catch (error) {
    if (isFatal(error)) throw error
    progress.failure(path, error, false)
  }
}

/** The progress of an upload. */
interface Position {
  id: string | undefined
  /** Number of bytes that the server has received. */
  offset: number
  /** Number of bytes counted in the progress display. */
  counted: number
}

const isGone = (error: unknown): boolean => error instanceof RequestRefused && (error.status === 404 || error.status === 410)

/** Another request of the same upload is still open, or the server's offset differs. */
const isOutOfStep = (error: unknown): boolean => error instanceof RequestRefused && (error.status === 409 || error.status === 423)

/**
 * Uploads with tus, the resumable upload protocol of Pounce. An interrupted upload, even of an earlier run, is found in the server's list of unfinished
 * uploads and resumed if its path, length and SHA-256 match the file.
 */
export class ResumableUploads implements Uploader {
  readonly #client: ServerClient
  readonly #dataset: string
  readonly #prefix: string
  readonly #progress: TransferProgress
  #unfinished: Promise<readonly OpenUpload[]> | undefined

  constructor(
    client: ServerClient,
    { dataset, path }: { readonly dataset: string; readonly path: readonly string[] },
    progress: TransferProgress,
  ) {
    this.#client = client
    this.#dataset = dataset
    this.#prefix = path.map(name => `${name}/`).join('')
    this.#progress = progress
  }

  async check(files: readonly LocalFile[]): Promise<readonly CheckedFileOf[]> {
    const unreadable: CheckedFileOf[] = []
    const read: (LocalFile & { readonly sha256: string })[] = []
    for (const file of files) {
      this.#progress.note(`Reading ${file.path}`)
      try {
        read.push({ ...file, sha256: await sha256Of(file.file) })
      } catch (error) {
        unreadable.push({ ...file, sha256: undefined, state: 'invalid', message: messageOf(error) })
      }
    }
    if (read.length === 0) return unreadable
    const json = { dataset: this.#dataset, files: read.map(({ path, size, sha256 }) => ({ path: this.#prefix + path, size, sha256 })) }
    type Checked = { readonly state: CheckedFileOf['state']; readonly id: string | null; readonly message?: string }
    const found = await this.#client.json<readonly Checked[]>('POST', '/api/uploads/check', { json, isRepeatable: true })
    const checked = read.map((file, at) => ({
      ...file,
      state: found[at]?.state ?? 'absent',
      id: found[at]?.id ?? undefined,
      message: found[at]?.message,
    }))
    return [...unreadable, ...checked]
  }

  async ensureFolders(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const json = { path: this.#prefix + path }
      await orReported(path, this.#progress, () =>
        this.#client.json('POST', `/api/datasets/${this.#dataset}/folders`, { json, isRepeatable: true }),
      )
    }
  }

  async upload(file: CheckedFileOf): Promise<string> {
    const at: Position = { id: await this.#unfinishedOf(file), offset: 0, counted: 0 }
    let furthest = 0
    return this.#client.retried(
      async attempt => {
        // The upload may have been created although the response was lost, and may even be complete.
        if (attempt > 0 && at.id === undefined) {
          this.#unfinished = undefined
          const [found] = await this.check([file])
          if (found?.state === 'same' && found.id !== file.id && found.id !== undefined) return found.id
          at.id = await this.#unfinishedOf(file)
        }
        try {
          if (at.id === undefined) await this.#create(file, at)
          else this.#reached(at, (await this.#head(at.id)).offset)
          if (at.offset < file.size) await this.#append(file, at)
        } catch (error) {
          // If the upload could not be created, these errors are about the dataset.
          if (at.id === undefined || !(isGone(error) || isOutOfStep(error))) throw error
          if (isGone(error)) at.id = undefined
          throw new TransientFailure(messageOf(error), {})
        } finally {
          this.#reached(at, at.offset)
        }
        if (at.id === undefined || at.offset < file.size) throw new TransientFailure(`The server has only a part of ${file.path}`, {})
        return at.id
      },
      () => {
        const hasAdvanced = at.offset > furthest
        furthest = Math.max(at.offset, furthest)
        return hasAdvanced
      },
    )
  }

  /** Corrects the counted bytes to the offset that the server reports. */
  #reached(at: Position, offset: number): void {
    this.#progress.skip(offset - at.counted)
    at.offset = offset
    at.counted = offset
  }

  async #create(file: CheckedFileOf, at: Position): Promise<void> {
    const { sha256, size } = file
    const metadata = encoded({ path: this.#prefix + file.path, dataset: this.#dataset, ...(sha256 === undefined ? {} : { sha256 }) })
    const isAtOnce = size > 0 && size <= maxAtOnceBytes
    const headers = { ...tus, ...(isAtOnce ? bytesType : {}), 'upload-length': String(size), 'upload-metadata': metadata }
    const body = isAtOnce ? this.#bytesOf(file, at) : Buffer.alloc(0)
    const { response } = await this.#client.attemptText('/api/uploads', { method: 'POST', headers, body, answerTimeoutMs })
    at.id = basename(response.header('location') ?? '')
    this.#reached(at, Number(response.header('upload-offset') ?? 0))
  }

  async #append(file: CheckedFileOf, at: Position): Promise<void> {
    const headers = { ...tus, ...bytesType, 'upload-offset': String(at.offset) }
    const body = this.#bytesOf(file, at)
    const { response } = await this.#client.attemptText(`/api/uploads/${at.id}`, { method: 'PATCH', headers, body, answerTimeoutMs })
    this.#reached(at, Number(response.header('upload-offset') ?? 0))
  }

  #bytesOf(file: CheckedFileOf, at: Position): StreamedBody {
    return bodyOf(file, { offset: at.offset }, bytes => {
      at.counted += bytes
      this.#progress.move(bytes)
    })
  }

  async #head(id: string) {
    const { response } = await this.#client.attemptText(`/api/uploads/${id}`, { method: 'HEAD', headers: tus, answerTimeoutMs })
    return { offset: Number(response.header('upload-offset') ?? 0), metadata: decoded(response.header('upload-metadata')) }
  }

  async #unfinishedOf({ path, size, sha256 }: CheckedFileOf): Promise<string | undefined> {
    this.#unfinished ??= Array.fromAsync(this.#client.items<OpenUpload>('/api/uploads', { limit: 1000 })).catch(error => {
      this.#unfinished = undefined
      throw error
    })
    const wanted = this.#prefix + path
    for (const one of await this.#unfinished) {
      if (one.dataset !== this.#dataset || one.folder !== null || one.length !== size || (one.path ?? one.filename) !== wanted) continue
      const head = await this.#head(one.id).catch(error => {
        if (isGone(error)) return undefined
        throw error
      })
      if (head && head.metadata.get('sha256') === sha256) return one.id
    }
    return undefined
  }
}

/** Uploads with multipart forms for Clowder v1: an interrupted upload starts again. */
export class SingleRequestUploads implements Uploader {
  readonly #client: ServerClient
  readonly #place: ContentPlace
  readonly #progress: TransferProgress
  #tree: ReturnType<typeof treeOf> | undefined
  #ids: Map<string, string> | undefined

  constructor(client: ServerClient, place: ContentPlace, progress: TransferProgress) {
    this.#client = client
    this.#place = place
    this.#progress = progress
  }

  /** Clowder v1 has no digests, so files of equal size are considered identical. */
  async check(files: readonly LocalFile[]): Promise<readonly CheckedFileOf[]> {
    const { files: present } = await this.#contents()
    return files.map(file => {
      const there = present.get(file.path)
      return { ...file, sha256: undefined, state: !there ? 'absent' : there.size === file.size ? 'same' : 'other', id: there?.id }
    })
  }

  async ensureFolders(paths: readonly string[]): Promise<void> {
    const ids = await this.#folderIds()
    for (const path of paths) {
      const names = path.split('/')
      await orReported(path, this.#progress, async () => {
        for (const count of names.keys()) {
          const at = names.slice(0, count + 1).join('/')
          if (!ids.has(at)) ids.set(at, await this.#createFolder(ids.get(names.slice(0, count).join('/')), names[count] ?? ''))
        }
      })
    }
  }

  /** Resolves to the id. */
  async #createFolder(parent: string | undefined, name: string): Promise<string> {
    const { dataset } = this.#place
    const place = parent === undefined ? { parentId: dataset, parentType: 'dataset' } : { parentId: parent, parentType: 'folder' }
    return (await this.#client.json<{ readonly id: string }>('POST', `/api/datasets/${dataset}/newFolder`, { json: { name, ...place } })).id
  }

  async upload(file: CheckedFileOf): Promise<string> {
    const above = file.path.split('/').slice(0, -1).join('/')
    const folder = (await this.#folderIds()).get(above)
    if (above !== '' && folder === undefined) throw new StartupError(`Its folder ${above} could not be created`)
    return this.#client.retried(async attempt => {
      // If the connection failed after the last byte, the file may exist.
      const there = attempt === 0 ? undefined : await this.#arrived(file)
      return there ?? this.#send(file, folder)
    })
  }

  async #send(file: CheckedFileOf, folder: string | undefined): Promise<string> {
    let sent = 0
    const boundary = randomBytes(16).toString('hex')
    const name = basename(file.path)
      .replace(/["\\]/g, '\\$&')
      .replace(/[\r\n]/g, ' ')
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="File"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`
    const body = bodyOf(file, { head, tail: `\r\n--${boundary}--\r\n` }, bytes => {
      sent += bytes
      this.#progress.move(bytes)
    })
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
    const query = folder === undefined ? {} : { folder_id: folder }
    try {
      const { text } = await this.#client.attemptText(`/api/uploadToDataset/${this.#place.dataset}`, {
        ...{ method: 'POST', headers, query, body, answerTimeoutMs },
      })
      return String((JSON.parse(text) as { readonly id?: unknown }).id ?? '')
    } catch (error) {
      this.#progress.move(-sent)
      throw error
    }
  }

  async #arrived({ path, size }: CheckedFileOf): Promise<string | undefined> {
    const { files } = await treeOf(this.#client, this.#place)
    const before = (await this.#contents()).files.get(path)?.id
    const there = files.get(path)
    return there && there.id !== before && there.size === size ? there.id : undefined
  }

  #contents() {
    this.#tree ??= treeOf(this.#client, this.#place)
    return this.#tree
  }

  /** Folder ids by relative path; the empty path is the target itself. */
  async #folderIds(): Promise<Map<string, string>> {
    const { folders } = await this.#contents()
    this.#ids ??= new Map([...folders].map(([path, { id }]) => [path, id]))
    if (this.#place.folder) this.#ids.set('', this.#place.folder.id)
    return this.#ids
  }
}
