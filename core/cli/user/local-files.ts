import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { messageOf, StartupError } from '../../kernel/startup-error.ts'
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

/** Files and folders below a folder. */
export interface LocalTree {
  readonly files: readonly LocalFile[]
  /** Parents first. */
  readonly folders: readonly LocalEntry[]
  /** Entries that are neither files nor folders, which are skipped. */
  readonly skipped: readonly string[]
  /** Entries that cannot be opened because their names are not valid UTF-8. */
  readonly misnamed: readonly string[]
}

export const emptyTree: LocalTree = { files: [], folders: [], skipped: [], misnamed: [] }

/** Suffix of partial downloads, which all transfers ignore. */
export const partialSuffix = '.pounce-part'

const joined = (prefix: string, name: string): string => (prefix === '' ? name : `${prefix}/${name}`)

/** All entries below a folder that are not excluded, sorted by name. Follows links to files, but not to folders, which could form a cycle. */
export const treeOfFolder = async (folder: string, isExcluded: Exclusion, prefix = ''): Promise<LocalTree> => {
  const files: LocalFile[] = []
  const folders: LocalEntry[] = []
  const skipped: string[] = []
  const misnamed: string[] = []
  const read = async (at: string, path: string): Promise<void> => {
    const entries = await readdir(at, { withFileTypes: true, encoding: 'buffer' })
    const named = entries.map(entry => ({ entry, name: entry.name.toString() })).sort((one, other) => (one.name < other.name ? -1 : 1))
    for (const { entry, name } of named) {
      const file = join(at, name)
      const own = joined(path, name.normalize('NFC'))
      if (isExcluded(own)) continue
      if (!isUtf8(entry.name)) {
        misnamed.push(file)
        continue
      }
      if (entry.isDirectory()) {
        folders.push({ file, path: own })
        await read(file, own)
        continue
      }
      const found = await stat(file).catch(() => undefined)
      if (!found?.isFile()) skipped.push(file)
      else if (!name.endsWith(partialSuffix)) files.push({ file, path: own, size: found.size })
    }
  }
  await read(folder, prefix)
  return { files, folders, skipped, misnamed }
}

/** Empty folders: all others are created with their contents. */
export const emptyFolders = (folders: readonly LocalEntry[], files: readonly LocalFile[]): readonly string[] => {
  const used = new Set([...folders, ...files].map(({ path }) => path.split('/').slice(0, -1).join('/')))
  return folders.map(({ path }) => path).filter(folder => !used.has(folder))
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
