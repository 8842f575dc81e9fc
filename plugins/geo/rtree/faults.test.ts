import { readFile, writeFile } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import { NoSpace, Unavailable } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'
import { Connection } from 'pounce/sdk/sqlite'
import { fileFormat } from './file-check.ts'
import { migrate, migrations } from './schema.ts'
import { TaskThread } from './task-thread.ts'
import { idsIn, openGeo, pointAt, testFolder } from './testing.ts'

const fileIn = (folder: string): string => `${folder}/geo/points.sqlite`
const opened = (file: string, readOnly = false): Connection => new Connection({ file, readOnly, cacheMiB: 1, maxSizeMiB: 0 })
const note = 'x'.repeat(2000)

test('a full disk is reported, no acknowledged point is lost, and inserts succeed again once there is space', async t => {
  const store = await openGeo(t, await testFolder(t), { maxSizeMiB: 2 })
  const batch = (from: number): Datapoint[] =>
    Array.from({ length: 100 }, (_, n) => pointAt(from + n, { properties: { v: n, note: `${from + n}${note}` } }))
  let kept = 0
  let refusal: unknown
  while (refusal === undefined && kept < 5000) {
    const inserted = store.insert(batch(kept + 1))
    refusal = await inserted.then(
      () => undefined,
      (error: unknown) => error,
    )
    if (refusal === undefined) kept += 100
  }
  t.true(refusal instanceof NoSpace)
  t.true(kept >= 300)
  t.is((await idsIn(store)).length, kept)
  t.is((await store.statistics([1])).get(1)?.count, kept)
  t.is(await store.get(kept + 1), undefined)
  t.is(await store.remove({ ids: Array.from({ length: 200 }, (_, at) => at + 1) }), 200)
  t.deepEqual((await store.insert([pointAt(1)]))[0], { status: 'inserted' })
  t.is(await store.count({}, 10_000), kept - 199)
})

test('a second store on the same file is refused until the first has released it', async t => {
  const folder = await testFolder(t)
  const [one, other] = [await openGeo(t, folder), await openGeo(t, folder)]
  await one.insert([pointAt(1)])
  const refused = await t.throwsAsync(other.insert([pointAt(2)]), { instanceOf: Unavailable })
  t.regex(refused?.message ?? '', /in use by another process: .*geo\.postgis/)
  await t.throwsAsync(other.get(1), { instanceOf: Unavailable })
  await one.dispose()
  t.is((await other.insert([pointAt(2)]))[0]?.status, 'inserted')
  t.deepEqual(await idsIn(other), [1, 2])
})

test('a batch that exceeds the available space does not fail the others', async t => {
  const store = await openGeo(t, await testFolder(t), { maxSizeMiB: 1 })
  const large = Array.from({ length: 400 }, (_, n) => pointAt(1000 + n, { properties: { note: `${n}${note.repeat(3)}` } }))
  const results = await Promise.allSettled([store.insert([pointAt(1)]), store.insert(large), store.insert([pointAt(2), pointAt(3)])])
  t.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  t.true(results[1].status === 'rejected' && results[1].reason instanceof NoSpace)
  t.deepEqual(await idsIn(store), [1, 2, 3])
})

test('a file of a newer version is refused and left unchanged', async t => {
  const folder = await testFolder(t)
  const store = await openGeo(t, folder)
  await store.insert([pointAt(1)])
  await store.dispose()
  const db = opened(fileIn(folder))
  db.exec('PRAGMA user_version=99')
  db.close()
  const before = await readFile(fileIn(folder))
  await t.throwsAsync(openGeo(t, folder), { message: /newer version/ })
  t.deepEqual(await readFile(fileIn(folder)), before)
})

test('a file that is not a database is refused and left unchanged', async t => {
  const folder = await testFolder(t)
  const store = await openGeo(t, folder)
  await store.insert([pointAt(1)])
  await store.dispose()
  await writeFile(fileIn(folder), 'something else entirely'.repeat(100))
  await t.throwsAsync(openGeo(t, folder), { message: /not a SQLite database/ })
  t.true((await readFile(fileIn(folder), 'utf8')).startsWith('something else'))
})

test('a file with damaged pages causes Unavailable, not wrong results', async t => {
  const folder = await testFolder(t)
  const store = await openGeo(t, folder)
  await store.insert(Array.from({ length: 3000 }, (_, at) => pointAt(at + 1, { startMs: at, stream: (at % 5) + 1 })))
  await store.dispose()
  const bytes = await readFile(fileIn(folder))
  await writeFile(fileIn(folder), bytes.fill(0xa5, 4096 * 2))
  const again = await openGeo(t, folder)
  for (const call of [() => idsIn(again), () => again.find({ filter: {}, limit: 10 }), () => again.insert([pointAt(9000)])]) {
    await t.throwsAsync<Error>(call, { instanceOf: Unavailable })
  }
})

test('an interrupted migration of the file is rolled back, and repeated at the next start', async t => {
  const file = `${await testFolder(t)}/x.sqlite`
  const db = opened(file)
  t.teardown(() => db.close())
  migrate(db, file)
  t.is(migrations.length, fileFormat)
  const broken = 'CREATE TABLE more (a); INSERT INTO more VALUES (1); CREATE TABLE points (a)'
  t.throws(() => migrate(db, file, [...migrations, broken]), { message: /already exists/ })
  t.deepEqual(db.get('PRAGMA user_version'), [migrations.length])
  t.deepEqual(db.all("SELECT name FROM sqlite_master WHERE name = 'more'"), [])
  migrate(db, file, [...migrations, 'CREATE TABLE more (a)'])
  migrate(db, file, [...migrations, 'CREATE TABLE more (a)'])
  t.deepEqual(db.get('PRAGMA user_version'), [migrations.length + 1])
  t.throws(() => migrate(db, file), { message: /newer version/ })
})

test('while the file is locked, writes fail with Unavailable and reads continue; afterwards writes succeed', async t => {
  const folder = await testFolder(t)
  const store = await openGeo(t, folder)
  await store.insert([pointAt(1)])
  const other = opened(fileIn(folder))
  t.teardown(() => other.close())
  other.run('BEGIN IMMEDIATE')
  let [last, groups] = [Number.NEGATIVE_INFINITY, 0]
  const refused = async (at: number): Promise<void> => {
    await t.throwsAsync(store.insert([pointAt(at + 2)]), { instanceOf: Unavailable })
    const now = performance.now()
    // Each wait for the lock takes a second.
    if (now - last > 700) groups += 1
    last = now
  }
  await Promise.all(Array.from({ length: 20 }, (_, at) => refused(at)))
  // Batches that wait for the lock together are refused together, not one after the other.
  t.true(groups <= 4, `${groups}`)
  await t.throwsAsync(store.remove({ ids: [1] }), { instanceOf: Unavailable })
  t.deepEqual(await idsIn(store), [1])
  other.run('ROLLBACK')
  t.deepEqual(await store.insert([pointAt(2)]), [{ status: 'inserted' }])
})

const lastWord = "require('node:worker_threads').parentPort.once('message', () => process.exit(3))"

test('when a thread dies, its tasks fail and the next task gets a new thread', async t => {
  let made = 0
  const answer = `const { parentPort } = require('node:worker_threads')
    parentPort.on('message', m => { if ('request' in m) parentPort.postMessage({ task: m.task, piece: 'here' }); if ('end' in m) parentPort.close() })`
  const start = (): Worker => {
    made += 1
    return new Worker(made === 1 ? lastWord : answer, { eval: true })
  }
  const thread = new TaskThread(start, 'The thread')
  const request = { type: 'remove', ids: [] } as const
  const both = await Promise.allSettled([thread.run(request), Array.fromAsync(thread.pieces(request))])
  for (const result of both) t.true(result.status === 'rejected' && result.reason instanceof Unavailable)
  t.is(await thread.run(request), 'here')
  t.deepEqual([made, thread.load], [2, 0])
  await thread.close()
  await t.throwsAsync(thread.run(request), { instanceOf: Unavailable })
})
