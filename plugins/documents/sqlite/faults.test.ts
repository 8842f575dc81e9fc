import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { type AnyEvent, collection, eq, event, NoSpace, Taken, Unavailable } from 'pounce/sdk'
import { Connection } from 'pounce/sdk/sqlite'
import { countingIds, FixedClock, type Note, notes, silent } from 'pounce/sdk/testing'
import { failingDatabases } from '../../../test/support/failing-databases.ts'
import { openStore } from '../../../test/support/sqlite-store.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { Database } from './database.ts'
import { GroupCommit, type WriteRequest } from './group-commit.ts'
import { insertPassed } from './outbox-tables.ts'
import { SqliteOutbox } from './sqlite-outbox.ts'

const large = 'x'.repeat(200_000)
const ioError = Object.assign(new Error('disk I/O error'), { errcode: 1034 })

test('a full disk is reported and loses no acknowledged document, and writes succeed again once there is space', async t => {
  const store = await openStore(t, { settings: { maxSizeMiB: 2 } })
  await store.declare([notes])
  const stored: string[] = []
  let refusal: unknown
  for (let n = 0; refusal === undefined && n < 100; n++) {
    const attempt = store.commit({ insert: { id: `n${n}`, content: large, state: 'live' }, into: notes })
    await attempt.then(
      ({ id }) => stored.push(id),
      error => {
        refusal = error
      },
    )
  }
  t.true(refusal instanceof NoSpace)
  t.true(stored.length > 2)
  t.is((await store.find(notes, { using: 'byCreated', where: eq('state', 'live'), limit: 100 })).items.length, stored.length)
  t.is((await store.get(notes, stored[0] ?? ''))?.content, large)
  t.is(await store.get(notes, `n${stored.length}`), undefined)
  await store.commit({ tombstone: stored[0] ?? '', in: notes })
  const made = await store.commit({ insert: { id: 'after', content: large }, into: notes })
  t.is(made.revision, 1)
})

test('a cached document is current after committed changes and after a failed one', async t => {
  const store = await openStore(t, { settings: { maxSizeMiB: 2 } })
  await store.declare([notes])
  await store.commit<Note>({ insert: { id: 'n', name: 'one' }, into: notes })
  t.is((await store.get(notes, 'n'))?.name, 'one')
  await store.commit<Note>({ update: 'n', in: notes, set: { name: 'two' } })
  t.is((await store.get(notes, 'n'))?.name, 'two')
  await t.throwsAsync(store.commit<Note>({ update: 'n', in: notes, set: { name: 'three', content: 'x'.repeat(3_000_000) } }), {
    instanceOf: NoSpace,
  })
  t.is((await store.getMany(notes, ['n'])).get('n')?.name, 'two')
  await store.commit<Note>({ tombstone: 'n', in: notes })
  t.is(await store.get(notes, 'n'), undefined)
  t.is((await store.getMany(notes, ['n'])).size, 0)
  await store.commit<Note>({ insert: { id: 'n', name: 'again' }, into: notes })
  t.is((await store.get(notes, 'n'))?.name, 'again')
})

test('one invalid change does not fail the others in its batch', async t => {
  const store = await openStore(t, { settings: { maxSizeMiB: 1 } })
  await store.declare([notes])
  const huge = 'x'.repeat(3_000_000)
  const results = await Promise.allSettled([
    ...[1, 2, 3].map(n => store.commit<Note>({ insert: { id: `n${n}` }, into: notes })),
    store.commit<Note>({ insert: { id: 'same', content: huge }, into: notes }),
    store.commit<Note>({ insert: { id: 'same', name: 'small' }, into: notes }),
    store.commit<Note>({ update: 'n1', in: notes, set: { name: 'changed' } }),
  ])
  t.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
  t.true(results[3]?.status === 'rejected' && results[3].reason instanceof NoSpace)
  t.is((await store.get(notes, 'same'))?.name, 'small')
  t.like(await store.get(notes, 'n1'), { name: 'changed', revision: 2 })
})

test('commits in one turn of the event loop share transactions of at most 256', async t => {
  const transactions: number[] = []
  const count = (_name: string, _labels?: object, by = 1): void => {
    transactions.push(by)
  }
  const store = await openStore(t, { metrics: { count, gauge: () => undefined, observe: () => undefined } })
  await store.declare([notes])
  await Promise.all(Array.from({ length: 200 }, (_, n) => store.commit({ insert: { id: `n${n}` }, into: notes })))
  t.deepEqual(transactions, [200])
  await Promise.all(Array.from({ length: 600 }, (_, n) => store.commit({ update: `n${n % 200}`, in: notes, inc: { rank: 1 } })))
  t.deepEqual(transactions, [200, 256, 256, 88])
})

test('after an I/O error pending commits are refused and the file is reopened', async t => {
  const folder = await tempFolder(t)
  const database = new Database({ file: `${folder}/x.db`, readOnly: false, cacheMiB: 1, maxSizeMiB: 0 })
  database.open()
  t.teardown(() => database.close())
  database.use(db => db.exec('CREATE TABLE things(a)'))
  const commits = new GroupCommit(database, () => undefined)
  const before = database.connection()
  const write = (value: number, fault?: Error): Promise<void> =>
    new Promise((resolve, reject) => {
      const work: WriteRequest = {
        refuse: reject,
        plan: () => ({
          write: () => {
            if (fault) throw fault
            database.connection().run('INSERT INTO things VALUES (?)', value)
          },
          finish: resolve,
        }),
      }
      commits.add(work)
    })
  const results = await Promise.allSettled([write(1), write(2, ioError), write(3)])
  for (const result of results) t.true(result.status === 'rejected' && result.reason instanceof Unavailable)
  await write(4)
  t.not(database.connection(), before)
  t.deepEqual(
    database.use(db => db.all('SELECT a FROM things')),
    [[4]],
  )
})

test('events that were stored although their commit was reported as failed are delivered', async t => {
  const database = new Database({ file: `${await tempFolder(t)}/x.db`, readOnly: false, cacheMiB: 1, maxSizeMiB: 0 })
  database.open()
  t.teardown(() => database.close())
  const commits = new GroupCommit(database, () => undefined)
  const outbox = new SqliteOutbox({ database, commits, ids: countingIds(), clock: new FixedClock(), log: silent })
  outbox.load()
  await outbox.declareConsumers([{ name: 'test/all', types: '*' }])
  const record = (id: string) => outbox.record(database.connection(), [event('dataset.created', { kind: 'dataset', id }, {})])
  const leave = (id: string): Promise<void> =>
    new Promise((resolve, refuse) => {
      const recorded: AnyEvent[] = []
      const finish = (): void => resolve(outbox.announce(recorded))
      commits.add({ refuse, plan: () => ({ write: () => void recorded.push(...record(id)), finish }) })
    })
  const receive = async (): Promise<readonly string[]> => {
    const claimed = await outbox.claim('test/all', { limit: 10, leaseMs: 1000, owner: 'test' })
    await outbox.done(
      'test/all',
      claimed.map(({ event }) => event.id),
    )
    return claimed.map(({ event }) => event.subject.id)
  }
  await leave('d0')
  t.deepEqual(await receive(), ['d0'])
  // Written and synced, but the system reports a failed sync.
  database.connection().transaction(() => record('d1'))
  database.failed(ioError)
  await leave('d2')
  t.deepEqual(await outbox.waiting(), { 'test/all': 2 })
  t.deepEqual(await receive(), ['d1', 'd2'])
  t.deepEqual(await outbox.waiting(), { 'test/all': 0 })
  // The same for acknowledgements.
  await leave('d3')
  const [claimed] = await outbox.claim('test/all', { limit: 10, leaseMs: 1000, owner: 'test' })
  const id = claimed?.event.id ?? ''
  database.connection().transaction(() => insertPassed(database.connection(), 1, id))
  database.failed(ioError)
  await outbox.done('test/all', [id])
  t.deepEqual(await outbox.waiting(), { 'test/all': 0 })
  t.deepEqual(await receive(), [])
})

test('a locked file is reported as unavailable, and is usable again once unlocked', async t => {
  const folder = await tempFolder(t)
  const store = await openStore(t, { settings: { folder } })
  await store.declare([notes])
  const other = new Connection({ file: `${folder}/pounce.db`, readOnly: false, cacheMiB: 1, maxSizeMiB: 0 })
  t.teardown(() => other.close())
  other.run('BEGIN IMMEDIATE')
  await t.throwsAsync(store.commit({ insert: { id: 'a' }, into: notes }), { instanceOf: Unavailable })
  t.is(await store.get(notes, 'a'), undefined)
  other.run('ROLLBACK')
  t.is((await store.commit({ insert: { id: 'a' }, into: notes })).revision, 1)
})

test('a change that cannot be serialized as JSON is refused without affecting others', async t => {
  const store = await openStore(t)
  await store.declare([notes])
  const circle: { self?: object } = {}
  circle.self = circle
  const results = await Promise.allSettled([
    store.commit<Note>({ insert: { id: 'a' }, into: notes }),
    store.commit<Note>({ insert: { id: 'b', content: circle }, into: notes }),
    store.commit<Note>({ insert: { id: 'c', content: 1n }, into: notes }),
    store.commit<Note>({ insert: { id: 'd', spaces: [], name: ['x'] as never }, into: notes }),
  ])
  t.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'rejected'],
  )
  t.deepEqual(
    (await store.find(notes, { using: 'byName', limit: 9 })).items.map(({ id }) => id),
    ['a'],
  )
})

test('lone surrogates in strings are preserved', async t => {
  const store = await openStore(t)
  await store.declare([notes])
  await store.commit({ insert: { id: 'a', name: 'x\ud800y', content: { '\udc00': '\ud83d' } }, into: notes })
  t.deepEqual(await store.get(notes, 'a'), { id: 'a', revision: 1, name: 'x\ud800y', content: { '\udc00': '\ud83d' } })
  t.is((await store.find(notes, { using: 'byName', where: eq('name', 'x\ud800y'), limit: 9 })).items.length, 1)
})

test('a new unique index over duplicate keys is refused by name', async t => {
  const folder = await tempFolder(t)
  const store = await openStore(t, { settings: { folder } })
  const plain = collection<Note>()('plain', { byName: { on: ['name'] } })
  await store.declare([plain])
  for (const id of ['a', 'b']) await store.commit({ insert: { id, name: 'same' }, into: plain })
  const unique = collection<Note>()('plain', { byName: { on: ['name'], unique: true } })
  const error = await t.throwsAsync(store.declare([unique]), { instanceOf: Taken })
  t.is(error?.index, 'byName')
  t.is((await store.get(plain, 'b'))?.name, 'same')
})

test('the error for a damaged or inaccessible database names the file and the remedy', async t => {
  const folder = await tempFolder(t)
  const file = join(folder, 'documents', 'pounce.db')
  const refused = async (): Promise<string> => (await t.throwsAsync(openStore(t, { folder }))).message
  await (await openStore(t, { folder })).dispose()
  {
    using _ = failingDatabases(folder, 4874)
    t.is(await refused(), `The database ${file} cannot be opened (disk I/O error): its disk is full: delete files there`)
  }
  const whole = await readFile(file)
  await writeFile(file, 'no database, but a text that is longer than the header of one has to be: one hundred bytes and more')
  t.is(
    await refused(),
    `The database ${file} is damaged (file is not a database): stop the server, keep a copy of the file, and restore a backup as docs/operations.md says`,
  )
  await writeFile(file, Buffer.concat([whole.subarray(0, 4096), Buffer.alloc(whole.length - 4096, 7)]))
  t.regex(await refused(), new RegExp(`^The database ${file} is damaged \\(database disk image is malformed\\): .*restore a backup`))
  await rm(file)
  await mkdir(file)
  t.regex(
    await refused(),
    new RegExp(`^The database ${file} cannot be opened \\(unable to open database file\\): .*right to read and write`),
  )
})
