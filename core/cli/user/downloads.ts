import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { StartupError } from '../../kernel/startup-error.ts'
import type { ContentPlace } from './dataset-contents.ts'
import type { IncomingResponse } from './http-client.ts'
import { forEachOf, sha256Of } from './local-files.ts'
import { PartialFile } from './partial-file.ts'
import { RequestRefused, type ServerClient, TransientFailure } from './server-client.ts'
import type { TransferProgress } from './transfer-progress.ts'

/** A file on the server and its local path. */
export interface RemoteFileOf {
  readonly id: string
  /** The relative path to display. */
  readonly path: string
  readonly size: number | undefined
  readonly file: string
}

const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/** A server's file name as a safe local file name: it cannot traverse folders, and is valid on all systems. */
export const localName = (name: string): string => {
  const safe = name.replace(/[\0-\x1f\x7f/\\]/g, '_')
  const isDots = /^\.{0,2}$/.test(safe)
  if (process.platform !== 'win32') return isDots ? `_${safe}` : safe
  const trimmed = safe.replace(/[<>:"|?*]/g, '_').replace(/[. ]$/, '_')
  return reserved.test(trimmed) || isDots ? `_${trimmed}` : trimmed
}

interface LocalFolder {
  readonly folder: string
  /** The existing names, by themselves and in NFC. */
  readonly names: ReadonlyMap<string, string>
}

const localFolder = async (folder: string): Promise<LocalFolder> => {
  const names = await readdir(folder).catch(() => [])
  return {
    folder,
    names: new Map([...names.map(name => [name.normalize('NFC'), name] as const), ...names.map(name => [name, name] as const)]),
  }
}

/** Finds the local paths of paths on the server, also of files and folders whose local names are decomposed (NFD), as macOS writes them. */
export const localPathsIn = (folder: string): ((path: string) => Promise<string>) => {
  const read = new Map<string, Promise<LocalFolder>>()
  const folderOf = (path: string): Promise<LocalFolder> => {
    const known = read.get(path) ?? pathOf(path).then(localFolder)
    read.set(path, known)
    return known
  }
  const pathOf = async (path: string): Promise<string> => {
    if (path === '') return folder
    const slash = path.lastIndexOf('/')
    const { folder: above, names } = await folderOf(path.slice(0, Math.max(slash, 0)))
    const name = localName(path.slice(slash + 1))
    return join(above, names.get(name) ?? names.get(name.normalize('NFC')) ?? name)
  }
  return pathOf
}

/** The digest of `sha-256=:…:` (RFC 9530), in hex. */
const digestIn = (header: string | undefined): string | undefined => {
  const value = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]+):/.exec(header ?? '')?.[1]
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('hex')
}

/** The server's digest of a file; undefined if it has none, as in Clowder v1. */
const remoteSha256 = async (client: ServerClient, id: string): Promise<string | undefined> =>
  (await client.json<{ readonly sha256?: string }>('GET', `/api/files/${id}/metadata`)).sha256

const hasSize = async ({ file, size }: RemoteFileOf): Promise<boolean> => {
  const found = await stat(file).catch(() => undefined)
  return found?.isFile() === true && found.size === size
}

const comparedSideBySide = 8

interface Compared {
  readonly id: string | null
  readonly state: string
}

/** Compares many files in one request, which requires permission to upload; undefined without it. */
const comparedAtOnce = async (
  client: ServerClient,
  { dataset, folder }: ContentPlace,
  files: readonly (RemoteFileOf & { readonly sha256: string })[],
): Promise<ReadonlySet<string> | undefined> => {
  const prefix = (folder?.path ?? []).map(name => `${name}/`).join('')
  const json = { dataset, files: files.map(({ path, size, sha256 }) => ({ path: prefix + path, size, sha256 })) }
  try {
    const found = await client.json<readonly Compared[]>('POST', '/api/uploads/check', { json, isRepeatable: true })
    return new Set(files.flatMap(({ id }, at) => (found[at]?.state === 'same' && found[at]?.id === id ? [id] : [])))
  } catch (error) {
    if (error instanceof RequestRefused && error.status !== 401) return undefined
    throw error
  }
}

/** Ids of the files whose bytes already exist locally. If the server has no digests, as in Clowder v1, compares sizes. At most 1,000 files. */
export const presentIds = async (
  client: ServerClient,
  files: readonly RemoteFileOf[],
  place: ContentPlace | undefined,
): Promise<ReadonlySet<string>> => {
  const alike: RemoteFileOf[] = []
  for (const file of files) if (await hasSize(file)) alike.push(file)
  if (client.kind === 'clowder' || alike.length === 0) return new Set(alike.map(({ id }) => id))
  const read: (RemoteFileOf & { readonly sha256: string })[] = []
  for (const file of alike) read.push({ ...file, sha256: await sha256Of(file.file) })
  const compared = place && (await comparedAtOnce(client, place, read))
  if (compared) return compared
  const present = new Set<string>()
  await forEachOf(read, comparedSideBySide, async ({ id, sha256 }) => {
    if ((await remoteSha256(client, id)) === sha256) present.add(id)
  })
  return present
}

/** The length of the whole file, from a complete or partial response. */
const totalOf = (response: IncomingResponse): number | undefined => {
  const text = response.status === 206 ? /\/(\d+)$/.exec(response.header('content-range') ?? '')?.[1] : response.header('content-length')
  return text === undefined ? undefined : Number(text)
}

/** Downloads a file, verified by length and SHA-256; resumes a partial download. Resolves to its digest. */
export const download = async (
  client: ServerClient,
  { id, path, size, file }: RemoteFileOf,
  progress: TransferProgress,
): Promise<string> => {
  const part = new PartialFile(file, id)
  const from = async (start: 'open' | 'rewind' | 'discard'): Promise<void> => {
    const before = part.bytes
    await part[start]()
    progress.skip(part.bytes - before)
  }
  const attempt = async (): Promise<string> => {
    if (size !== undefined && part.bytes > size) await from('discard')
    const range = part.bytes === 0 ? {} : { range: `bytes=${part.bytes}-` }
    const response = await client.attempt(`/api/files/${id}`, { method: 'GET', headers: { ...range, accept: '*/*' } }, [416])
    // The partial file is complete or invalid: the digest decides.
    const hasAll = response.status === 416
    if (response.status === 200 && part.bytes > 0) await from('rewind')
    const wanted = totalOf(response) ?? size
    const expected = digestIn(response.header('repr-digest'))
    if (hasAll) response.message.resume()
    else {
      try {
        for await (const chunk of response.message) {
          await part.append(chunk as Buffer)
          progress.move((chunk as Buffer).length)
        }
      } catch (error) {
        if (isOfDisk(error)) throw error
        throw new TransientFailure(`The download of ${path} broke off`, {})
      }
    }
    if (!hasAll && wanted !== undefined && part.bytes < wanted) throw new TransientFailure(`The download of ${path} broke off`, {})
    const sha256 = part.sha256()
    const right = expected ?? (await remoteSha256(client, id))
    const isWhole = (wanted === undefined || part.bytes === wanted) && (await part.endsHere())
    if ((right !== undefined && right !== sha256) || !isWhole) {
      await from('discard')
      throw new TransientFailure(`${path} arrived damaged`, {})
    }
    if (await part.complete()) return sha256
    await from('open')
    throw new TransientFailure(`Another download of ${path} is in progress`, {})
  }
  try {
    await from('open')
    let furthest = part.bytes
    return await client.retried(attempt, () => {
      const hasAdvanced = part.bytes > furthest
      furthest = Math.max(furthest, part.bytes)
      return hasAdvanced
    })
  } catch (error) {
    if (isOfDisk(error)) throw new StartupError(`${file} is not writable: ${error.message}`, { cause: error })
    throw error
  } finally {
    // An empty partial file has nothing to resume.
    await (part.bytes === 0 ? part.remove() : part.close())
  }
}

/**
 * Writes the bytes of a file to a stream, in order and exactly once; resumes after an interruption. Throws if length or SHA-256 are
 * wrong, although the bytes have been written by then. If the reader closes the stream, it ends without an error.
 */
export const downloadTo = async (
  client: ServerClient,
  { id, path, size }: Omit<RemoteFileOf, 'file'>,
  out: Writable,
  progress: TransferProgress,
): Promise<void> => {
  const hash = createHash('sha256')
  const closed = once(out, 'close').catch(() => undefined)
  let written = 0
  let furthest = 0
  const attempt = async (): Promise<string | undefined> => {
    const range = written === 0 ? {} : { range: `bytes=${written}-` }
    const response = await client.attempt(`/api/files/${id}`, { method: 'GET', headers: { ...range, accept: '*/*' } })
    // A server without range support sends the already written bytes again.
    let left = response.status === 206 ? 0 : written
    const expected = digestIn(response.header('repr-digest'))
    const total = totalOf(response) ?? size
    try {
      for await (const chunk of response.message) {
        const bytes = (chunk as Buffer).subarray(left)
        left = Math.max(0, left - (chunk as Buffer).length)
        hash.update(bytes)
        written += bytes.length
        progress.move(bytes.length)
        if (out.destroyed || out.errored) return undefined
        if (bytes.length > 0 && !out.write(bytes)) await Promise.race([once(out, 'drain'), closed])
      }
    } catch {
      if (out.destroyed || out.errored) return undefined
      throw new TransientFailure(`The download of ${path} broke off`, {})
    }
    if (total !== undefined && written < total) throw new TransientFailure(`The download of ${path} broke off`, {})
    return expected ?? (await remoteSha256(client, id))
  }
  const right = await client.retried(attempt, () => {
    const hasAdvanced = written > furthest
    furthest = written
    return hasAdvanced
  })
  if (right !== undefined && right !== hash.digest('hex'))
    throw new StartupError(`${path} was corrupted in transit: the written bytes are not the file`)
}

const isOfDisk = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && /^E(?:ACCES|NOSPC|ROFS|DQUOT|FBIG|ISDIR|PERM|IO)$/.test(String(error.code))
