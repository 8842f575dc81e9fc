import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createReadStream, type Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { messageOf, StartupError } from '../../kernel/startup-error.ts'
import { UsageError } from '../built-in.ts'
import type { Exclusion } from './exclusion.ts'

/** A local file or folder and its path in the dataset. */
export interface LocalEntry {
  /** As the file system writes it. */
  readonly file: string
  /** Relative path with `/`, in NFC. */
  readonly path: string
}

export interface LocalFile extends LocalEntry {
  readonly size: number
}

/** A file or folder that cannot be read, and its path in the dataset. */
interface UnreadablePath {
  readonly path: string
  readonly error: unknown
}

/** Files and folders below a folder. */
export interface LocalTree {
  readonly files: readonly LocalFile[]
  /** Parents first. */
  readonly folders: readonly LocalEntry[]
  readonly unreadable: readonly UnreadablePath[]
  /** Links to folders, and entries that are neither files nor folders, which are skipped. */
  readonly skipped: readonly LocalEntry[]
}

export const emptyTree: LocalTree = { files: [], folders: [], unreadable: [], skipped: [] }

/** Suffix of partial downloads, which all transfers ignore. */
export const partialSuffix = '.pounce-part'

const joined = (prefix: string, name: string): string => (prefix === '' ? name : `${prefix}/${name}`)

/** All entries below a folder that are not excluded, sorted by name. Follows links to files, but not to folders, which could form a cycle. */
export const treeOfFolder = async (folder: string, isExcluded: Exclusion, prefix = ''): Promise<LocalTree> => {
  const files: LocalFile[] = []
  const folders: LocalEntry[] = []
  const unreadable: UnreadablePath[] = []
  const skipped: LocalEntry[] = []
  const read = async (at: string, path: string): Promise<void> => {
    let entries: Dirent<Buffer>[]
    try {
      entries = await readdir(at, { withFileTypes: true, encoding: 'buffer' })
    } catch (error) {
      unreadable.push({ path: path === '' ? at : path, error })
      return
    }
    if (path !== prefix) folders.push({ file: at, path })
    const named = entries.map(entry => ({ entry, name: entry.name.toString() })).sort((one, other) => (one.name < other.name ? -1 : 1))
    for (const { entry, name } of named) {
      const file = join(at, name)
      const own = joined(path, name.normalize('NFC'))
      if (isExcluded(own)) continue
      if (!isUtf8(entry.name)) {
        unreadable.push({ path: own, error: new StartupError('its name is not valid UTF-8: rename it') })
        continue
      }
      if (entry.isDirectory()) {
        await read(file, own)
        continue
      }
      try {
        const found = await stat(file)
        if (!found.isFile()) skipped.push({ file, path: own })
        else if (!name.endsWith(partialSuffix)) files.push({ file, path: own, size: found.size })
      } catch (error) {
        if (entry.isFile()) unreadable.push({ path: own, error })
        else skipped.push({ file, path: own })
      }
    }
  }
  await read(folder, prefix)
  return { files, folders, unreadable, skipped }
}

/** Empty folders: all others are created with their contents. */
export const emptyFolders = (folders: readonly string[], files: readonly { readonly path: string }[]): readonly string[] => {
  const used = new Set([...folders, ...files.map(({ path }) => path)].map(path => path.split('/').slice(0, -1).join('/')))
  return folders.filter(folder => !used.has(folder))
}

/** The files of a `put` source: a file, a folder with its name, or, with a trailing slash, the contents of a folder. */
export const treeOfSource = async (source: string, isExcluded: Exclusion): Promise<LocalTree> => {
  const file = resolve(source)
  const found = await stat(file).catch(error => {
    throw new StartupError(`${source} is not readable: ${messageOf(error)}`, { cause: error })
  })
  const name = basename(file).normalize('NFC')
  if (found.isFile()) return isExcluded(name) ? emptyTree : { ...emptyTree, files: [{ file, path: name, size: found.size }] }
  if (!found.isDirectory()) throw new StartupError(`${source} is neither a file nor a folder`)
  const isContent = /(?:^|[/\\])\.{0,2}$/.test(source)
  if (!isContent && isExcluded(name)) return emptyTree
  const tree = await treeOfFolder(file, isExcluded, isContent ? '' : name)
  return isContent ? tree : { ...tree, folders: [{ file, path: name }, ...tree.folders] }
}

/** Throws if two files have the same path in the dataset: files of several folders, or names that differ in their Unicode normalization only. */
export const requireDistinctPaths = (files: readonly LocalFile[]): void => {
  const taken = new Map<string, string>()
  for (const { file, path } of files) {
    const other = taken.get(path)
    if (other !== undefined)
      throw new UsageError(
        `${other} and ${file} would have the same path in the dataset, ${path}: rename one of them, or upload them separately`,
      )
    taken.set(path, file)
  }
}

/** SHA-256 in hex. */
export const sha256Of = async (file: string): Promise<string> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), hash)
  return hash.digest('hex')
}

/** Runs work for each item, with at most `jobs` concurrently. Stops at the first failure. */
export const forEachOf = async <T>(items: Iterable<T>, jobs: number, work: (item: T) => Promise<void>): Promise<void> => {
  const left = items[Symbol.iterator]()
  let hasFailed = false
  const worker = async (): Promise<void> => {
    for (let next = left.next(); !next.done && !hasFailed; next = left.next()) {
      try {
        await work(next.value)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  const workers = await Promise.allSettled(Array.from({ length: jobs }, worker))
  const failed = workers.find(one => one.status === 'rejected')
  if (failed) throw failed.reason
}
