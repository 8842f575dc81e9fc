import test from 'ava'
import { type Clock, type DocumentStore, definePlugin } from 'pounce/sdk'
import { FixedClock } from 'pounce/sdk/testing'
import { MemoryDocuments } from '../../test/support/memory-documents.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { ObjectIds } from '../services/services.ts'
import { things } from './fixtures/things.ts'
import { installationId, metaRecords } from './kernel-records.ts'
import { Leases } from './leases.ts'
import { Migrations } from './migrations.ts'
import { StartupError } from './startup-error.ts'

const folder = (name: string): URL => new URL(`./fixtures/${name}/`, import.meta.url)
const pluginWith = (migrations?: URL, id = 'test.things') => definePlugin({ id, summary: 's', ...(migrations ? { migrations } : {}) })
const none = pluginWith()
const one = pluginWith(folder('migrations-one'))
const two = pluginWith(folder('migrations-two'))

const storeAt = (clock: Clock): MemoryDocuments => new MemoryDocuments(clock, new ObjectIds(clock))
const newStore = (): MemoryDocuments => storeAt(new FixedClock())

const migrationsUntil = (interrupted: AbortSignal, documents: DocumentStore, ...plugins: (typeof one)[]): Migrations => {
  const clock = new FixedClock()
  const named = plugins.map(plugin => ({ name: plugin.id, plugin }))
  const leases = new Leases(documents, clock)
  return new Migrations(named, { documents, clock, log: recordingLog().log, leases, version: '1.0.0', interrupted })
}
const migrationsOn = (documents: DocumentStore, ...plugins: (typeof one)[]): Migrations =>
  migrationsUntil(new AbortController().signal, documents, ...plugins)

test('a new installation applies all migrations in order and records them', async t => {
  const documents = newStore()
  const { instance, applied } = await migrationsOn(documents, two).run(false)
  t.regex(instance, /^[a-z0-9]{10}$/)
  t.is(applied, 2)
  t.deepEqual((await documents.get(things, 'one'))?.steps, ['first', 'second'])
  const again = await migrationsOn(documents, two).run(false)
  t.deepEqual(again, { instance, applied: 0, backup: undefined })
})

test('pending migrations of an existing installation are refused with both remedies, and applied when allowed', async t => {
  const documents = newStore()
  await migrationsOn(documents, one).run(false)
  const later = migrationsOn(documents, two)
  const error = await t.throwsAsync(later.run(false))
  t.regex(error.message, /test\.things\/0002-second-step.*POUNCE_DBUPDATE=1.*pounce migrate up/)
  t.deepEqual((await documents.get(things, 'one'))?.steps, ['first'])
  t.is((await later.run(true)).applied, 1)
  t.deepEqual((await documents.get(things, 'one'))?.steps, ['first', 'second'])
})

test('records are backed up before a migration changes them, and only then', async t => {
  const documents = newStore()
  const backups: unknown[] = []
  const store: DocumentStore = documents
  store.backUp = async () => {
    backups.push((await documents.get(things, 'one'))?.steps)
    return 'a file'
  }
  await migrationsOn(store, one).run(false)
  await migrationsOn(store, one).run(true)
  await t.throwsAsync(migrationsOn(store, two).run(false))
  t.deepEqual(backups, [])
  t.is((await migrationsOn(store, two).run(true)).backup, 'a file')
  t.deepEqual(backups, [['first']])
})

test('a failed migration that is tried again keeps the backup made before it', async t => {
  const documents = newStore()
  await migrationsOn(documents, one).run(false)
  let backups = 0
  const store: DocumentStore = documents
  store.backUp = async () => `file ${++backups}`
  await documents.commit({ insert: { id: 'fault', steps: [] }, into: things })
  for (const _ of [1, 2, 3]) await t.throwsAsync(migrationsOn(store, two).run(true), { message: /the second step broke/ })
  await documents.commit({ tombstone: 'fault', in: things })
  await migrationsOn(store, two).run(true)
  t.is(backups, 1)
  t.is(JSON.stringify(await documents.get(metaRecords, installationId)).includes('file 1'), false)
})

test('after a failed backup no migration is applied', async t => {
  const documents = newStore()
  await migrationsOn(documents, one).run(false)
  const store: DocumentStore = documents
  store.backUp = () => Promise.reject(new Error('no space'))
  await t.throwsAsync(migrationsOn(store, two).run(true), { instanceOf: StartupError, message: 'no space' })
  t.deepEqual((await documents.get(things, 'one'))?.steps, ['first'])
})

test('a plugin that gains its first migration on an existing installation is pending too', async t => {
  const documents = newStore()
  await migrationsOn(documents, none).run(false)
  await t.throwsAsync(migrationsOn(documents, one).run(false), { message: /Pending migrations: .*0001-first-step/ })
})

test('a refused start lists all pending migrations, also those of plugins that are new to the installation', async t => {
  const documents = newStore()
  await migrationsOn(documents, none).run(false)
  const other = pluginWith(one.migrations, 'test.other')
  await t.throwsAsync(migrationsOn(documents, one, other).run(false), {
    message: /: test\.things\/0001-first-step, test\.other\/0001-first-step\./,
  })
})

test('a plugin that is new to an existing installation applies its migrations without confirmation', async t => {
  const documents = newStore()
  await migrationsOn(documents, pluginWith(undefined, 'test.other')).run(false)
  t.is((await migrationsOn(documents, pluginWith(undefined, 'test.other'), one).run(false)).applied, 1)
})

test('data of a newer version is refused', async t => {
  const documents = newStore()
  await migrationsOn(documents, two).run(false)
  const error = await t.throwsAsync(migrationsOn(documents, one).run(true))
  t.regex(error.message, /written by a newer version.*test\.things\/0002-second-step/)
})

test('a migration that fails is named, those before it stay applied, and the next start continues with it', async t => {
  const documents = newStore()
  await documents.commit({ insert: { id: 'fault', steps: [] }, into: things })
  const migrations = migrationsOn(documents, two)
  await t.throwsAsync(migrations.run(false), { message: /test\.things\/0002-second-step failed: the second step broke/ })
  t.deepEqual(
    (await migrations.status()).map(({ name, state }) => [name, state]),
    [
      ['0001-first-step', 'applied'],
      ['0002-second-step', 'pending'],
    ],
  )
  await documents.commit({ tombstone: 'fault', in: things })
  t.is((await migrations.run(false)).applied, 1)
})

test('after a start killed before the installation was recorded, the next one is a new installation', async t => {
  const documents = newStore()
  const { commit } = documents
  documents.commit = async (change, events) => {
    if ('into' in change && change.into.name === 'kernel.meta') throw new Error('killed')
    return commit.call(documents, change, events) as never
  }
  await t.throwsAsync(migrationsOn(documents, two).run(false), { message: 'killed' })
  documents.commit = commit
  t.is((await migrationsOn(documents, two).run(false)).applied, 0)
  t.deepEqual((await documents.get(things, 'one'))?.steps, ['first', 'second'])
})

test('two kernels that start concurrently apply each migration once', async t => {
  const clock = new FixedClock()
  const documents = storeAt(clock)
  const runs = await Promise.all([migrationsOn(documents, two).run(false), migrationsOn(documents, two).run(false)])
  t.is(runs[0]?.instance, runs[1]?.instance)
  t.is(
    runs.reduce((sum, { applied }) => sum + applied, 0),
    2,
  )
})

test('a kernel that starts while another one applies migrations needs no confirmation', async t => {
  const documents = newStore()
  const { find } = documents
  documents.find = async (...query) => {
    const seen = await find.apply(documents, query)
    documents.find = find
    await migrationsOn(documents, two).run(false)
    return seen as never
  }
  t.is((await migrationsOn(documents, two).run(false)).applied, 0)
})

test('an interrupted start waits no longer for a kernel that applies migrations, and applies none', async t => {
  const documents = newStore()
  t.truthy(await new Leases(documents, new FixedClock()).take('kernel/migrations', 15_000))
  const interrupted = new AbortController()
  const run = migrationsUntil(interrupted.signal, documents, two).run(false)
  interrupted.abort(new StartupError('Startup was interrupted'))
  await t.throwsAsync(run, { instanceOf: StartupError, message: 'Startup was interrupted' })
  t.is(await documents.get(things, 'one'), undefined)
})
