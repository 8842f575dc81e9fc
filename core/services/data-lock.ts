import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { basename, dirname, join, resolve, sep } from 'node:path'
import type { Log } from 'pounce/sdk'
import type { Config } from '../kernel/config.ts'
import { messageOf, StartupError } from '../kernel/startup-error.ts'

const [lockFileName, pidFileName] = ['kernel.lock', 'kernel.pid']

/** A folder locked by this process until `release`. */
export interface DataLock {
  release(): Promise<void>
}

const holderOf = async (file: string): Promise<string> => {
  try {
    const pid = (await readFile(file, 'utf8')).trim()
    return /^\d+$/.test(pid) ? `the process ${pid}` : 'another process'
  } catch {
    return 'another process'
  }
}

/** The path of a Unix socket is limited to 108 bytes on Linux, 104 on macOS. */
const maxSocketPathBytes = 100

/** The command socket of a data folder's server; undefined if the system does not support one for this folder. */
export const commandSocket = (data: string): string | undefined => {
  const path = join(resolve(data), 'commands.sock')
  return process.platform === 'win32' || Buffer.byteLength(path) > maxSocketPathBytes ? undefined : path
}

/** Whether a server responds in the folder: its lock file may have been deleted, or the file system may not support locks. */
const isServed = async (folder: string): Promise<boolean> => {
  const path = commandSocket(folder)
  if (path === undefined) return false
  return new Promise(done => {
    const socket = connect(path, () => {
      socket.destroy()
      done(true)
    })
    socket.once('error', () => done(false))
  })
}

/** Error codes and their explanation for the operator. SQLite has its own codes for a full disk and a read-only file. */
const reasons: readonly (readonly [codes: readonly (string | number)[], reason: string])[] = [
  [['ENOSPC', 'EDQUOT', 13], 'is on a full disk: delete files there, or set POUNCE_DATA to another folder'],
  [
    ['EROFS', 'EACCES', 'EPERM', 8, 14],
    'is not writable: change its permissions or those of its mount, or set POUNCE_DATA to another folder',
  ],
  [['ENOTDIR', 'EEXIST'], 'is not a folder, or is inside a file: set POUNCE_DATA to another folder'],
]

const refusalOf = (folder: string, doing: string, error: unknown): StartupError => {
  const { code, errcode } = error as { readonly code?: string; readonly errcode?: number }
  // The low byte of an extended SQLite code is the primary code.
  const kind = errcode === undefined ? code : errcode & 0xff
  const reason = reasons.find(([codes]) => kind !== undefined && codes.includes(kind))?.[1]
  return new StartupError(`The data folder ${folder} ${reason ?? `cannot be ${doing}`}: ${messageOf(error)}`, { cause: error })
}

/** Another process has locked the folder. */
class FolderInUse extends StartupError {}

const otherData = 'set POUNCE_DATA to another folder'

/**
 * Locks a data folder for this process and creates the folder if needed. The lock is SQLite's lock on a file, so the operating
 * system always releases it with the process, even after `kill -9`, and reuse of the pid does not matter. A folder whose server responds on its
 * command socket is refused even without a lock: someone may have deleted the file.
 */
export const lockDataFolder = (folder: string): Promise<DataLock> =>
  lockFolder(folder, { mode: 0o750, inUseBy: holder => `The data folder ${folder} is used by ${holder}: stop it first, or ${otherData}` })

interface Locking {
  /** Of a new folder. */
  readonly mode: number
  /** The message for a folder that is locked. */
  inUseBy(holder: string): string
}

const lockFolder = async (folder: string, { mode, inUseBy }: Locking): Promise<DataLock> => {
  const pidFile = join(folder, pidFileName)
  try {
    await mkdir(folder, { recursive: true, mode })
  } catch (error) {
    throw refusalOf(folder, 'created', error)
  }
  const { DatabaseSync } = await import('node:sqlite')
  let lock: InstanceType<typeof DatabaseSync>
  try {
    lock = new DatabaseSync(join(folder, lockFileName), { timeout: 0 })
  } catch (error) {
    throw refusalOf(folder, 'opened', error)
  }
  try {
    lock.exec('PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    const isHeld = messageOf(error).includes('locked')
    if (!isHeld) throw refusalOf(folder, 'locked', error)
    throw new FolderInUse(inUseBy(await holderOf(pidFile)))
  }
  if (await isServed(folder)) {
    lock.close()
    throw new FolderInUse(inUseBy(await holderOf(pidFile)))
  }
  try {
    await writeFile(pidFile, `${process.pid}\n`)
  } catch (error) {
    lock.close()
    throw refusalOf(folder, 'written', error)
  }
  return {
    release: async () => {
      // On a disk that has become read-only the file remains, and the next start overwrites it.
      await rm(pidFile, { force: true }).catch(() => undefined)
      if (lock.isOpen) lock.close()
    },
  }
}

/** A folder of a store that is configured outside the data folder. */
export interface StoreFolder {
  readonly path: string
  /** Its name inside a data folder, where it is by default. */
  readonly usualName: string
  /** The setting that names it. */
  readonly setting: string
}

/** The folders of local stores that the configuration places outside the data folder, whose lock does not protect them. */
export const storeFoldersOf = ({ kernel, plugins }: Config): readonly StoreFolder[] =>
  plugins.flatMap(({ name, plugin, config }) => {
    const folder = (config as { readonly folder?: unknown } | undefined)?.folder
    if (!(plugin.isLocal || plugin.keepsLocalData) || typeof folder !== 'string') return []
    const path = resolve(folder)
    const isInside = `${path}${sep}`.startsWith(`${resolve(kernel.data)}${sep}`)
    return isInside ? [] : [{ path, usualName: plugin.id.split('.')[0] ?? '', setting: `${name}.folder` }]
  })

/**
 * Locks folders of stores for this process, and refuses those in the data folder of another server. A file system without locks is not refused: a warning
 * is logged.
 */
export const lockStoreFolders = async (folders: readonly StoreFolder[], log: Log): Promise<DataLock> => {
  const locks = new Map<string, DataLock>()
  const release = async (): Promise<void> => {
    for (const lock of [...locks.values()].toReversed()) await lock.release()
  }
  for (const { path, usualName, setting } of folders) {
    const inUseBy = (holder: string): string =>
      `The folder ${path} is used by ${holder}: stop it first, or set ${setting} to another folder`
    try {
      if (basename(path) === usualName) await refuseLocked(dirname(path), { mode: 0o700, inUseBy })
      if (!locks.has(path)) locks.set(path, await lockFolder(path, { mode: 0o700, inUseBy }))
    } catch (error) {
      if (error instanceof FolderInUse) {
        await release()
        throw error
      }
      log.warn('A folder cannot be locked; make sure that no other server uses it', { folder: path, setting, error: messageOf(error) })
    }
  }
  return { release }
}

/** Refuses a data folder that another process has locked. */
const refuseLocked = async (folder: string, locking: Locking): Promise<void> => {
  const isData = await access(join(folder, lockFileName)).then(
    () => true,
    () => false,
  )
  if (isData) await (await lockFolder(folder, locking)).release()
}
