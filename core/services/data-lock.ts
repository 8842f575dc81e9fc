import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, StartupError } from '../kernel/startup-error.ts'

/** A data folder locked by this process until `release`. */
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

/**
 * Locks a data folder for this process and creates the folder if needed. The lock is SQLite's lock on a file, so the operating
 * system always releases it with the process, even after `kill -9`, and reuse of the pid does not matter.
 */
export const lockDataFolder = async (folder: string): Promise<DataLock> => {
  const pidFile = join(folder, 'kernel.pid')
  try {
    await mkdir(folder, { recursive: true, mode: 0o750 })
  } catch (error) {
    throw refusalOf(folder, 'created', error)
  }
  const { DatabaseSync } = await import('node:sqlite')
  let lock: InstanceType<typeof DatabaseSync>
  try {
    lock = new DatabaseSync(join(folder, 'kernel.lock'), { timeout: 0 })
  } catch (error) {
    throw refusalOf(folder, 'opened', error)
  }
  try {
    lock.exec('PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    const isHeld = messageOf(error).includes('locked')
    if (!isHeld) throw refusalOf(folder, 'locked', error)
    throw new StartupError(
      `The data folder ${folder} is used by ${await holderOf(pidFile)}: stop it first, or set POUNCE_DATA to another folder`,
    )
  }
  try {
    await writeFile(pidFile, `${process.pid}\n`)
  } catch (error) {
    lock.close()
    throw refusalOf(folder, 'written', error)
  }
  return {
    release: async () => {
      await rm(pidFile, { force: true })
      if (lock.isOpen) lock.close()
    },
  }
}
