import type { Stats } from 'node:fs'
import { constants, copyFile, mkdir, opendir, rename, stat, utimes } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { configPort, Installation, type s, wire } from 'pounce/sdk'
import type { BackupCopy, BackupPart } from 'pounce/sdk/kit'
import { realDisk, syncPath } from './disk.ts'
import { config, DiskBlobs, folderOf } from './disk-blobs.ts'

const Config = configPort(config)

/** All but `tmp`. */
const folders = ['files', 'beginnings', 'sums', 'segments'] as const
const batchSize = 16
const progressEvery = 1000

/** A file changed this recently may change again without a later modification time: the clock of file systems is coarse. */
const settledMs = 2000
/** The modification time of copies that the next backup replaces. */
const unknownTime = new Date(0)

/** The stored bytes, for `pounce backup`. A file whose copy has the same size and modification time is not copied again. */
export class DiskBackup implements BackupPart {
  readonly name = 'blobs'
  readonly holds = 'bytes'
  readonly source: string
  readonly #blobs: DiskBlobs

  constructor(settings: s.Static<typeof config>, installation: Installation, blobs: DiskBlobs) {
    this.source = folderOf(settings, installation)
    this.#blobs = blobs
  }

  retain(): () => Promise<void> {
    return this.#blobs.retain()
  }

  async copyTo(folder: string, progress: (message: string) => void): Promise<BackupCopy> {
    const sum = { copied: 0, unchanged: 0, bytes: 0 }
    const copyBatch = async (names: readonly string[]): Promise<void> => {
      for (const bytes of await Promise.all(names.map(name => copyNew(this.source, folder, name)))) {
        if (bytes === undefined) continue
        if (bytes === 'unchanged') sum.unchanged += 1
        else {
          sum.copied += 1
          sum.bytes += bytes
        }
        if ((sum.copied + sum.unchanged) % progressEvery === 0) progress(`${sum.copied + sum.unchanged} files`)
      }
    }
    await mkdir(join(folder, 'tmp'), { recursive: true, mode: 0o700 })
    for (const name of folders) {
      await mkdir(join(folder, name), { recursive: true, mode: 0o700 })
      for (const subfolder of await subfoldersOf(this.source, name)) {
        await mkdir(join(folder, subfolder), { recursive: true, mode: 0o700 })
        const batch: string[] = []
        for await (const entry of await opendir(join(this.source, subfolder))) {
          if (!entry.isFile()) continue
          batch.push(join(subfolder, entry.name))
          if (batch.length === batchSize) await copyBatch(batch.splice(0))
        }
        await copyBatch(batch)
        await syncPath(realDisk, join(folder, subfolder))
      }
    }
    await syncPath(realDisk, folder)
    return sum
  }
}
wire(DiskBackup, Config, Installation, DiskBlobs)

/** The folders in a folder, at most 256, and then itself, so that it is synced last. Relative to the source. */
const subfoldersOf = async (source: string, name: string): Promise<readonly string[]> => {
  const found: string[] = []
  for await (const entry of await opendir(join(source, name))) if (entry.isDirectory()) found.push(join(name, entry.name))
  return [...found, name]
}

const absent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error
}

const isSame = (one: Stats, other: Stats): boolean => one.size === other.size && Math.abs(one.mtimeMs - other.mtimeMs) < 1

/** Resolves to the number of copied bytes; undefined for a file that was removed meanwhile. */
const copyNew = async (source: string, folder: string, name: string): Promise<number | 'unchanged' | undefined> => {
  const [from, to] = [join(source, name), join(folder, name)]
  const [stats, earlier] = await Promise.all([stat(from).catch(absent), stat(to).catch(absent)])
  if (stats === undefined) return undefined
  if (earlier && isSame(stats, earlier)) return 'unchanged'
  // A start of the store empties this folder.
  const part = join(folder, 'tmp', name.replaceAll(sep, '-'))
  const isThere = await copyFile(from, part, constants.COPYFILE_FICLONE).then(() => true, absent)
  if (!isThere) return undefined
  const { size } = await stat(part)
  await utimes(part, stats.atime, Date.now() - stats.mtimeMs > settledMs ? stats.mtime : unknownTime)
  await syncPath(realDisk, part)
  await rename(part, to)
  return size
}
