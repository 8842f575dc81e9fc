import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { type Log, NoSpace, type SearchIndex, Unavailable } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { searchDocument, searchId } from '../../../sdk/testing/search-documents.ts'
import { failingDatabases } from '../../../test/support/failing-databases.ts'
import { freshIndex, startedIndex } from '../../../test/support/fts-index.ts'
import { schemaVersion } from './schema.ts'

const all = { query: { op: 'all' }, scope: { all: true }, from: 0, size: 1000 } as const

const documents = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ put: searchDocument(n + 1, { name: `sample number ${n}`, text: 'words '.repeat(100) }) }))

async function* asStream(count: number) {
  for (const { put } of documents(count)) yield put
}

const total = async (index: SearchIndex): Promise<number> => (await index.search(all)).total

const indexFiles = async (folder: string): Promise<readonly string[]> =>
  (await readdir(join(folder, 'search'))).filter(name => name.endsWith('.db'))

const currentFile = async (folder: string): Promise<string> =>
  join(folder, 'search', (await readFile(join(folder, 'search', 'current'), 'utf8')).trim())

/** A log that records its warnings and errors. */
function watching(): { readonly log: Log; readonly warnings: unknown[]; readonly errors: string[] } {
  const warnings: unknown[] = []
  const errors: string[] = []
  const log: Log = { ...silent, warn: (...line) => warnings.push(line), error: message => errors.push(message) }
  return { log, warnings, errors }
}

test('a new index needs a rebuild until it has been rebuilt or cleared', async t => {
  const { index, folder } = await freshIndex(t)
  t.true(await index.needsRebuild())
  await index.apply(documents(3))
  t.true(await index.needsRebuild())
  await index.rebuild(asStream(5))
  t.false(await index.needsRebuild())
  await index.dispose()
  const again = startedIndex(t, folder)
  t.false(await again.needsRebuild())
  t.is(await total(again), 5)
  await again.clear()
  t.false(await again.needsRebuild())
  t.is(await total(again), 0)
})

test('applied changes survive a restart, even without a clean shutdown', async t => {
  const { index, folder } = await freshIndex(t)
  await index.rebuild(asStream(5))
  await index.apply([{ remove: searchId(1) }])
  const after = startedIndex(t, folder)
  t.is(await total(after), 4)
  t.false(await after.needsRebuild())
  await after.apply(documents(1))
  t.is(await total(after), 4)
})

test('only the index in use is kept on disk', async t => {
  const { index, folder } = await freshIndex(t)
  for (let times = 0; times < 3; times += 1) await index.rebuild(asStream(20))
  t.is((await indexFiles(folder)).length, 1)
  await t.throwsAsync(index.rebuild(asStream(20), { signal: AbortSignal.abort() }))
  await index.clear()
  t.is((await indexFiles(folder)).length, 1)
  await index.dispose()
  await writeFile(join(folder, 'search', 'index-77.db'), 'left by a rebuild that a crash ended')
  const again = startedIndex(t, folder)
  t.is((await indexFiles(folder)).length, 1)
  t.is(await total(again), 0)
})

test('only an index that was changed and not closed is checked at the next start', async t => {
  const { index, folder } = await freshIndex(t)
  await index.rebuild(asStream(5))
  await index.dispose()
  const path = await currentFile(folder)
  const isClosed = (): boolean => {
    const file = new DatabaseSync(path, { readOnly: true })
    const { value } = file.prepare("SELECT value FROM meta WHERE key = 'closed'").get() as { readonly value: number }
    file.close()
    return value === 1
  }
  const again = startedIndex(t, folder)
  t.is(await total(again), 5)
  t.true(isClosed())
  await again.apply(documents(7))
  t.false(isClosed())
  await again.dispose()
  t.true(isClosed())
})

test('on a full disk the start says so and keeps the index', async t => {
  const { index, folder } = await freshIndex(t)
  await index.rebuild(asStream(5))
  await index.dispose()
  const { log, errors } = watching()
  for (const errcode of [13, 4874]) {
    using _ = failingDatabases(folder, errcode)
    t.throws(() => startedIndex(t, folder, log), { instanceOf: NoSpace, message: /The disk with the search index is full/ })
  }
  t.deepEqual(errors, [])
  t.is(await total(startedIndex(t, folder)), 5)

  const empty = await mkdtemp(join(folder, 'new-'))
  await mkdir(join(empty, 'search'))
  await symlink('/dev/full', join(empty, 'search/current.new'))
  t.throws(() => startedIndex(t, empty, log), { instanceOf: NoSpace, message: /The disk with the search index is full/ })
})

/** Marks the file as open, as if the program had been killed. */
function reopen(path: string): void {
  const db = new DatabaseSync(path)
  db.exec("UPDATE meta SET value = 0 WHERE key = 'closed'")
  db.close()
}

const ways: readonly (readonly [string, (path: string) => Promise<void>])[] = [
  ['overwritten', path => writeFile(path, Buffer.alloc(50_000, 'no database'))],
  ['emptied', path => writeFile(path, '')],
  ['truncated', async path => truncate(path, Math.floor((await stat(path)).size / 2))],
  ['lost', path => rm(path)],
  [
    'of another version',
    async path => {
      const db = new DatabaseSync(path)
      db.exec("UPDATE meta SET value = 99 WHERE key = 'version'")
      db.close()
    },
  ],
  [
    'partly overwritten',
    async path => {
      const file = await open(path, 'r+')
      const { size } = await file.stat()
      for (let at = 8192; at < size; at += 4096) await file.write(Buffer.alloc(2000, 0xff), 0, 2000, at)
      await file.close()
    },
  ],
]
for (const [how, spoil] of ways) {
  test(`an index that was ${how} is recreated, reported and rebuilt`, async t => {
    const { index, folder } = await freshIndex(t)
    await index.rebuild(asStream(300))
    await index.dispose()
    reopen(await currentFile(folder))
    await spoil(await currentFile(folder))
    const { log, warnings, errors } = watching()
    const again = startedIndex(t, folder, log)
    t.true(await again.needsRebuild())
    const isOld = how === 'of another version'
    t.deepEqual(
      warnings,
      isOld ? [['Search index has another version; it will be rebuilt', { version: 99, requiredVersion: schemaVersion }]] : [],
    )
    t.is(errors.length > 0, !isOld && how !== 'emptied' && how !== 'lost')
    t.is(await total(again), 0)
    await again.rebuild(asStream(300))
    t.false(await again.needsRebuild())
    t.is(await total(again), 300)
  })
}

test('damage detected while the index is in use clears it, and it can be used again', async t => {
  const { index, folder } = await freshIndex(t)
  await index.rebuild(asStream(2000))
  await index.dispose()
  const again = startedIndex(t, folder)
  t.is(await total(again), 2000)
  const file = await open(await currentFile(folder), 'r+')
  const { size } = await file.stat()
  await file.write(Buffer.alloc(size - 4096, 0xee), 0, size - 4096, 4096)
  await file.close()
  let failure: unknown
  for (let n = 0; n < 2000 && !failure; n += 50) {
    failure = await again.search({ ...all, query: { op: 'word', text: `${n}` } }).catch((error: unknown) => error)
    if (!(failure instanceof Error)) failure = undefined
  }
  t.true(failure instanceof Unavailable)
  t.true(await again.needsRebuild())
  await again.apply(documents(10))
  t.is(await total(again), 10)
})

test('damage detected by a writer thread clears the index, which then contains the new changes', async t => {
  const { index, folder } = await freshIndex(t)
  await index.rebuild(asStream(300))
  await index.dispose()
  const { log, errors } = watching()
  const again = startedIndex(t, folder, log)
  const file = await open(await currentFile(folder), 'r+')
  const { size } = await file.stat()
  await file.write(Buffer.alloc(size - 4096, 0xee), 0, size - 4096, 4096)
  await file.close()
  await again.apply(documents(40))
  t.is(errors.length, 1)
  t.true(await again.needsRebuild())
  t.is(await total(again), 40)
})

test('changes applied by another thread during a rebuild are in the rebuilt index', async t => {
  const { index } = await freshIndex(t)
  await index.rebuild(asStream(20))
  const applied: Promise<void>[] = []
  async function* slowly() {
    for (let n = 0; n < 20; n += 1) {
      applied.push(index.apply(documents(60).slice(20 + n, 40 + n)))
      await setImmediate()
      const { put } = documents(n + 1)[n] as { put: ReturnType<typeof searchDocument> }
      yield put
    }
  }
  await index.rebuild(slowly())
  await Promise.all(applied)
  t.is(await total(index), 59)
})
