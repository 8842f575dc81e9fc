import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, StartupError } from '../kernel/startup-error.ts'

/** A data folder that this process holds until `release`. */
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

/**
 * Locks a data folder for this process and makes it when it is new. The lock is SQLite's lock on a file, so the operating
 * system ends it with the process however that ends: after `kill -9` nothing is in the way, anyone who got the old pid since.
 */
export const lockDataFolder = async (folder: string): Promise<DataLock> => {
  const pidFile = join(folder, 'kernel.pid')
  try {
    await mkdir(folder, { recursive: true, mode: 0o750 })
  } catch (error) {
    throw new StartupError(`The data folder ${folder} cannot be created: ${messageOf(error)}`, { cause: error })
  }
  const { DatabaseSync } = await import('node:sqlite')
  let lock: InstanceType<typeof DatabaseSync>
  try {
    lock = new DatabaseSync(join(folder, 'kernel.lock'), { timeout: 0 })
  } catch (error) {
    throw new StartupError(`The data folder ${folder} is not writable: ${messageOf(error)}`, { cause: error })
  }
  try {
    lock.exec('PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    const isHeld = messageOf(error).includes('locked')
    if (!isHeld) throw new StartupError(`The data folder ${folder} cannot be locked: ${messageOf(error)}`, { cause: error })
    throw new StartupError(
      `The data folder ${folder} is used by ${await holderOf(pidFile)}: stop it first, or set POUNCE_DATA to another folder`,
    )
  }
  await writeFile(pidFile, `${process.pid}\n`)
  return {
    release: async () => {
      await rm(pidFile, { force: true })
      if (lock.isOpen) lock.close()
    },
  }
}
