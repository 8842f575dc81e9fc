import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { recordingLog } from '../../test/support/recording-log.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { lockDataFolder, lockStoreFolders } from './data-lock.ts'

const holder = new URL('../kernel/fixtures/hold-lock.ts', import.meta.url)

/** A process that locks the folder until it is killed. */
const holdElsewhere = async (folder: string) => {
  const child = spawn(process.execPath, [holder.pathname, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}

test('a locked folder is refused, naming the process, and free again after the release', async t => {
  const folder = join(await tempFolder(t), 'new', 'data')
  const lock = await lockDataFolder(folder)
  await t.throwsAsync(lockDataFolder(folder), { message: new RegExp(`is used by the process ${process.pid}: stop it first`) })
  await lock.release()
  await lock.release()
  await (await lockDataFolder(folder)).release()
})

test('a folder locked by another process is refused, and free as soon as that process is killed', async t => {
  const folder = await tempFolder(t)
  const child = await holdElsewhere(folder)
  await t.throwsAsync(lockDataFolder(folder), { message: new RegExp(`is used by the process ${child.pid}:`) })
  child.kill('SIGKILL')
  await once(child, 'exit')
  t.is((await readFile(join(folder, 'kernel.pid'), 'utf8')).trim(), String(child.pid))
  const lock = await lockDataFolder(folder)
  t.is((await readFile(join(folder, 'kernel.pid'), 'utf8')).trim(), String(process.pid))
  await lock.release()
})

test('one of many concurrent attempts gets the lock', async t => {
  const folder = await tempFolder(t)
  const tries = await Promise.allSettled(Array.from({ length: 10 }, () => lockDataFolder(folder)))
  const held = tries.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
  t.is(held.length, 1)
  await held[0]?.release()
})

test('a folder that cannot be created is refused with the reason', async t => {
  const folder = await tempFolder(t)
  await t.throwsAsync(lockDataFolder(join(folder, 'kernel.lock\0')), { message: /cannot be created/ })
  const lock = await lockDataFolder(folder)
  await lock.release()
  await t.throwsAsync(lockDataFolder(join(folder, 'kernel.lock', 'below-a-file')), {
    message: /is not a folder, or is inside a file: .*ENOTDIR/,
  })
  await t.throwsAsync(lockDataFolder(join(folder, 'kernel.lock')), { message: /is not a folder, or is inside a file: .*EEXIST/ })
})

/** System errors cannot be provoked without mounting file systems: `/dev/full` behaves like a file on a full disk. */
const pidFileOn = async (t: ExecutionContext, device: string): Promise<string> => {
  const folder = await tempFolder(t)
  await symlink(device, join(folder, 'kernel.pid'))
  return folder
}

test('a folder on a full disk, or on one that cannot be written, is refused with a remedy', async t => {
  const full = await pidFileOn(t, '/dev/full')
  await t.throwsAsync(lockDataFolder(full), { name: 'StartRefused', message: /is on a full disk: delete files there.*ENOSPC/ })
  const readOnly = await pidFileOn(t, '/sys/kernel/uevent_seqnum')
  await t.throwsAsync(lockDataFolder(readOnly), {
    name: 'StartRefused',
    message: /is not writable: change its permissions.*(EACCES|EROFS|EPERM)/,
  })
  await rm(join(full, 'kernel.pid'))
  await (await lockDataFolder(full)).release()
})

test('a folder is unlocked although its pid file cannot be removed', async t => {
  const folder = await tempFolder(t)
  const lock = await lockDataFolder(folder)
  // Neither can a folder be removed like a file.
  await rm(join(folder, 'kernel.pid'))
  await mkdir(join(folder, 'kernel.pid'))
  await t.notThrowsAsync(lock.release())
  await rm(join(folder, 'kernel.pid'), { recursive: true })
  await (await lockDataFolder(folder)).release()
})

test('the folder of a store is used by one process; after a refusal nothing remains locked', async t => {
  const { log, lines } = recordingLog()
  const [first, second] = [await tempFolder(t), await tempFolder(t)]
  const folder = (path: string) => ({ path, usualName: 'blobs', setting: 'blobs.disk.folder' })
  // Two stores may share a folder.
  const lock = await lockStoreFolders([folder(second), folder(second)], log)
  await t.throwsAsync(lockStoreFolders([folder(first), folder(second)], log), {
    name: 'StartRefused',
    message: new RegExp(`${second} is used by the process ${process.pid}: stop it first, or set blobs.disk.folder to another folder`),
  })
  await lock.release()
  await (await lockStoreFolders([folder(first), folder(second)], log)).release()
  t.deepEqual(lines, [])
})

test('the folder of a store in the data folder of another server is refused', async t => {
  const { log } = recordingLog()
  const data = await tempFolder(t)
  const lock = await lockDataFolder(data)
  const folder = { path: join(data, 'blobs'), usualName: 'blobs', setting: 'blobs.disk.folder' }
  await t.throwsAsync(lockStoreFolders([folder], log), { message: /blobs is used by the process/ })
  t.deepEqual((await readdir(data)).sort(), ['kernel.lock', 'kernel.pid'])
  await lock.release()
  await (await lockStoreFolders([folder], log)).release()
})

test('a store whose folder cannot be locked starts with a warning', async t => {
  const { log, lines } = recordingLog()
  const folder = { path: await pidFileOn(t, '/dev/full'), usualName: 'blobs', setting: 'blobs.disk.folder' }
  await (await lockStoreFolders([folder], log)).release()
  t.like(lines[0], { level: 'warn', folder: folder.path, setting: 'blobs.disk.folder' })
})
