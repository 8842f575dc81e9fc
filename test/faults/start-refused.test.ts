import { execFile } from 'node:child_process'
import { chmod, chown, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { adminKey, childServer, dataFolder, runPounce, startChild } from '../support/child-server.ts'
import { newDataset, upload } from '../support/scene.ts'

const main = fileURLToPath(new URL('../../core/main.js', import.meta.url))
/** `nobody`: permissions do not bind a test that runs as root. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

/** Starts a server that must end, and returns the lines it printed. */
const refusal = (folder: string, account: typeof unprivileged = undefined): Promise<string[]> => {
  const env: NodeJS.ProcessEnv = { ...process.env, POUNCE_DATA: folder, POUNCE_HTTP__PORT: '0', POUNCE_LOG__LEVEL: 'silent' }
  // It may not be writable for the other account.
  delete env['NODE_COMPILE_CACHE']
  return new Promise((done, reject) => {
    execFile(process.execPath, [main, 'start'], { ...account, env, timeout: 60_000 }, (error, _out, err) =>
      error?.code === 1 ? done(err.trim().split('\n')) : reject(error ?? new Error('The server has started')),
    )
  })
}

const used = async (t: ExecutionContext): Promise<{ folder: string; file: string }> => {
  const folder = await dataFolder(t)
  await runPounce(folder, 'migrate', 'up')
  return { folder, file: join(folder, 'documents', 'pounce.db') }
}

test('a database file without write permission is refused by name, with the remedy', async t => {
  const { folder, file } = await used(t)
  if (unprivileged)
    for (const name of ['', ...(await readdir(folder, { recursive: true }))])
      await chown(join(folder, name), unprivileged.uid, unprivileged.gid)
  await chmod(file, 0o400)
  const [line, ...others] = await refusal(folder, unprivileged)
  t.regex(
    line ?? '',
    new RegExp(`The database ${file} cannot be opened \\(.*\\): the account of the server needs the right to read and write`),
  )
  t.deepEqual(others, [])
})

test('a database with damaged pages is refused in one line, with the remedy', async t => {
  const { folder, file } = await used(t)
  const database = await open(file, 'r+')
  await database.write(Buffer.alloc(3 * 4096, 0xa5), 0, 3 * 4096, 4096)
  await database.close()
  const [line, ...others] = await refusal(folder)
  t.regex(line ?? '', new RegExp(`The database ${file} is damaged \\(.*\\): .*restore a backup as docs/operations.md says$`))
  t.deepEqual(others, [])
})

/** Starts a server on a folder, and returns its log lines that contain a text. */
const linesOf = async (folder: string, text: string): Promise<string[]> => {
  const server = startChild(folder)
  await server.ready
  server.signal('SIGTERM')
  const { out, err } = await server.ended
  return `${out}\n${err}`.split('\n').filter(line => line.includes(text))
}

test('a start without the records or the bytes of an installation, as by a disk that is not mounted, is reported', async t => {
  const folder = await dataFolder(t)
  const server = await childServer(t, folder)
  const call = server.as(await adminKey(server))
  await upload(call, await newDataset(call))
  server.signal('SIGTERM')
  await server.ended
  const lines = async (text: string): Promise<number> => (await linesOf(folder, text)).length
  const [noBytes, noRecords] = [
    'The stored bytes of the latest files are missing',
    'The records are new, but the blob store contains bytes',
  ]
  t.deepEqual([await lines(noBytes), await lines(noRecords)], [0, 0])
  await rename(join(folder, 'blobs'), join(folder, 'away'))
  t.is(await lines(noBytes), 1)
  await rm(join(folder, 'blobs'), { recursive: true })
  await rename(join(folder, 'away'), join(folder, 'blobs'))
  t.is(await lines(noBytes), 0)
  await rm(join(folder, 'documents'), { recursive: true })
  t.is(await lines(noRecords), 1)
})
