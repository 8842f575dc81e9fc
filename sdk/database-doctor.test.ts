import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type ExecutionContext } from 'ava'
import { Unavailable } from 'pounce/sdk'
import { DatabaseDoctor } from 'pounce/sdk/sqlite'
import { tempFolder } from '../test/support/temp-folder.ts'

const doctorOf = (file: () => string): DatabaseDoctor =>
  new DatabaseDoctor({ name: 'notes', file, jsonColumns: ['doc', 'events.event'], remedy: 'restore a backup' })

const check = (doctor: DatabaseDoctor, isRead = true) =>
  doctor.run({ arguments: {}, options: isRead ? { 'read-data': true } : {} }, () => undefined)

/** A database in WAL mode whose rows are only in the log. */
const setUp = async (t: ExecutionContext) => {
  const file = join(await tempFolder(t), 'notes.db')
  const db = new DatabaseSync(file, { defensive: false })
  t.teardown(() => db.close())
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE notes(id TEXT PRIMARY KEY, doc TEXT); CREATE TABLE events(event TEXT)')
  db.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0')
  db.exec(`INSERT INTO notes VALUES ('a', '{"a":1}'), ('b', NULL), ('c', '')`)
  return { file, db }
}

test('what is only in the log is checked too, and neither is changed', async t => {
  const { file, db } = await setUp(t)
  const contents = (): Promise<readonly Buffer[]> => Promise.all([file, `${file}-wal`].map(path => readFile(path)))
  t.deepEqual(await check(doctorOf(() => file)), [{ check: 'database notes', ok: true }])
  db.exec(`UPDATE notes SET doc = '{"a":' WHERE id = 'a'; INSERT INTO events VALUES ('{')`)
  const before = await contents()
  const detail = `${file} is damaged (1 values of events.event are not JSON; 1 values of notes.doc are not JSON): restore a backup`
  const [row] = await check(doctorOf(() => file))
  t.false(row?.['ok'])
  t.deepEqual(
    String(row?.['detail'])
      .split(/[(;)] ?/)
      .toSorted(),
    detail.split(/[(;)] ?/).toSorted(),
  )
  t.deepEqual(
    await check(
      doctorOf(() => file),
      false,
    ),
    [{ check: 'database notes', ok: true }],
  )
  t.deepEqual(await contents(), before)
})

test('a long list of faults is shortened', async t => {
  const { file, db } = await setUp(t)
  db.exec('CREATE TABLE counts(n); INSERT INTO counts VALUES (NULL), (NULL), (NULL), (NULL); PRAGMA writable_schema = ON')
  db.exec("UPDATE sqlite_schema SET sql = 'CREATE TABLE counts(n NOT NULL)' WHERE name = 'counts'")
  const [row] = await check(doctorOf(() => file))
  t.is(row?.['detail'], `${file} is damaged (${'NULL value in counts.n; '.repeat(3)}and more): restore a backup`)
})

test('a database that another program has locked is reported as not checked', async t => {
  const { file, db } = await setUp(t)
  db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
  const [row] = await check(doctorOf(() => file))
  t.false(row?.['ok'])
  t.regex(String(row?.['detail']), /could not be checked \(database is locked\): check the disk/)
})

test('if another file has replaced a database meanwhile, that one is checked', async t => {
  const { file } = await setUp(t)
  const files = [`${file}-gone`]
  t.deepEqual(await check(doctorOf(() => files.pop() ?? file)), [{ check: 'database notes', ok: true }])
})

test('a check ends when its plugin is stopped', async t => {
  const { file } = await setUp(t)
  const doctor = doctorOf(() => file)
  const checked = t.throwsAsync(check(doctor), { instanceOf: Unavailable })
  doctor.dispose()
  await checked
})
