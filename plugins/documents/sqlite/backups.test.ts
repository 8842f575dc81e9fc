import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type ExecutionContext } from 'ava'
import { countingIds, FixedClock, notes } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'

const setUp = async (t: ExecutionContext, maxBackups: number) => {
  const folder = await tempFolder(t)
  const clock = new FixedClock('2026-11-29T10:20:30.456Z')
  const store = await openStore(t, { settings: { folder, maxBackups }, tools: { clock, ids: countingIds() } })
  await store.declare([notes])
  const backups = join(folder, 'backups')
  const named = async (): Promise<readonly string[]> => (await readdir(backups)).sort()
  return { store, clock, backups, named }
}

test('a backup contains every acknowledged document, and can be opened in place of the database', async t => {
  const { store, backups } = await setUp(t, 2)
  for (const id of ['a', 'b']) await store.commit({ insert: { id, email: id, spaces: ['s'] }, into: notes })
  const file = await store.backUp()
  t.is(file, join(backups, 'before-migration-20261129T102030456Z.db'))
  await store.commit({ tombstone: 'a', in: notes })

  const other = await tempFolder(t)
  const source = new DatabaseSync(file ?? '', { readOnly: true })
  t.is(source.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok')
  source.prepare('VACUUM INTO ?').run(join(other, 'pounce.db'))
  source.close()
  const restored = await openStore(t, { settings: { folder: other } })
  await restored.declare([notes])
  t.deepEqual([...(await restored.getMany(notes, ['a', 'b'])).keys()].sort(), ['a', 'b'])
})

test('the newest backups are kept, and what an interrupted one left is removed', async t => {
  const { store, clock, backups, named } = await setUp(t, 2)
  await mkdir(backups)
  await writeFile(join(backups, 'before-migration-20261129T102030455Z.db.part'), 'half')
  await writeFile(join(backups, 'before-migration-20261129T102030455Z.db.part-journal'), 'half')
  await writeFile(join(backups, 'mine.db'), 'of the operator')
  const written: string[] = []
  for (let n = 0; n < 3; n += 1) {
    written.push(basename((await store.backUp()) ?? ''))
    clock.advance(1000)
  }
  t.deepEqual(await named(), [...written.slice(1), 'mine.db'])
})

test('a backup that fails names the remedies, leaves nothing and removes no earlier one', async t => {
  const { store, clock, backups, named } = await setUp(t, 1)
  const earlier = basename((await store.backUp()) ?? '')
  clock.advance(1000)
  // A folder in place of its WAL makes SQLite fail.
  const obstacle = 'before-migration-20261129T102031456Z.db.part-wal'
  await mkdir(join(backups, obstacle))
  const error = await t.throwsAsync(async () => store.backUp())
  t.regex(error.message, /free space for a copy of .*pounce\.db.*documents\.sqlite\.maxBackups to 0/)
  t.deepEqual(await named(), [earlier, obstacle])
})

test('with maxBackups 0 no backup is written', async t => {
  const { store } = await setUp(t, 0)
  t.is(await store.backUp(), undefined)
})
