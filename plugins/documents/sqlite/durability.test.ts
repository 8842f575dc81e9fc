import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { eq, event } from 'pounce/sdk'
import { countingIds, FixedClock, type Note, notes } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'

/** Runs the writing child process until it has acknowledged this many documents, then sends SIGKILL. Resolves to the acknowledged ids. */
const killAfter = (folder: string, round: number, acknowledged: number): Promise<readonly string[]> => {
  const script = fileURLToPath(new URL('./crash-child.ts', import.meta.url))
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, folder, `r${round}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    printed += text
    if (printed.split('\n').length > acknowledged) child.kill('SIGKILL')
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => resolve(printed.split('\n').slice(0, -1)))
  })
}

test('documents acknowledged before a SIGKILL survive with their index entries and events; none is stored partially', async t => {
  const folder = await tempFolder(t)
  const acknowledged: string[] = []
  for (const round of [1, 2, 3]) acknowledged.push(...(await killAfter(folder, round, 40 * round)))
  t.true(acknowledged.length >= 240)
  const store = await openStore(t, { settings: { folder } })
  await store.declare([notes])
  await store.outbox.declareConsumers([{ name: 'test/all', types: '*' }])
  const kept = new Set<string>()
  for await (const { id } of store.scan(notes, { using: 'byName' })) kept.add(id)
  t.deepEqual(
    acknowledged.filter(id => !kept.has(id)),
    [],
  )
  const indexed = await store.count(notes, { using: 'bySpace', where: eq('spaces', 'all'), upTo: 1_000_000 })
  t.is(indexed, kept.size)
  const delivered = new Set<string>()
  for (;;) {
    const deliveries = await store.outbox.claim('test/all', { limit: 1000, leaseMs: 1000, owner: 'test' })
    if (deliveries.length === 0) break
    for (const { event } of deliveries) delivered.add(event.subject.id)
    await store.outbox.done(
      'test/all',
      deliveries.map(({ event }) => event.id),
    )
  }
  t.deepEqual([...delivered].sort(), [...kept].sort())
})

test('documents, indexes and conflicts are the same after closing and reopening', async t => {
  const folder = await tempFolder(t)
  const first = await openStore(t, { settings: { folder } })
  await first.declare([notes])
  await first.commit({ insert: { id: 'a', email: 'x', spaces: ['s'] }, into: notes })
  await first.commit({ update: 'a', in: notes, inc: { rank: 2 } })
  await first.commit({ insert: { id: 'b' }, into: notes })
  await first.commit({ tombstone: 'b', in: notes })
  await first.dispose()
  const second = await openStore(t, { settings: { folder } })
  await t.throwsAsync(second.get(notes, 'a'), { message: /not declared/ })
  await second.declare([notes])
  t.deepEqual(await second.get(notes, 'a'), { id: 'a', revision: 2, email: 'x', spaces: ['s'], rank: 2 })
  t.is(await second.get(notes, 'b'), undefined)
  t.is(await second.count(notes, { using: 'bySpace', where: eq('spaces', 's'), upTo: 9 }), 1)
  await t.throwsAsync(second.commit({ insert: { id: 'c', email: 'x' }, into: notes }), { message: /already in use/ })
})

test('commits queued when the store is stopped are written; later calls are refused', async t => {
  const folder = await tempFolder(t)
  const store = await openStore(t, { settings: { folder } })
  await store.declare([notes])
  const queued = Array.from({ length: 600 }, (_, n) => store.commit({ insert: { id: `n${n}` }, into: notes }))
  await store.dispose()
  t.is((await Promise.all(queued)).length, 600)
  for (const call of [
    () => store.commit({ insert: { id: 'late' }, into: notes }),
    () => store.get(notes, 'n1'),
    () => store.find(notes, { using: 'byName', limit: 1 }),
    () => store.outbox.claim('x', { limit: 1, leaseMs: 1, owner: 'o' }),
    async () => store.health(),
  ]) {
    await t.throwsAsync(call)
  }
  await store.dispose()
  const again = await openStore(t, { settings: { folder } })
  await again.declare([notes])
  t.is(await again.count(notes, { using: 'byName', upTo: 1000 }), 600)
})

test('a file of a newer version is refused', async t => {
  const folder = await tempFolder(t)
  const store = await openStore(t, { settings: { folder } })
  await store.dispose()
  const { DatabaseSync } = await import('node:sqlite')
  const file = new DatabaseSync(`${folder}/pounce.db`)
  file.exec('PRAGMA user_version=99')
  file.close()
  await t.throwsAsync(openStore(t, { settings: { folder } }), { message: /newer version/ })
})

test('after a restart, outbox leases are void, failures and dead letters are kept, and ids keep increasing', async t => {
  const folder = await tempFolder(t)
  const clock = new FixedClock()
  const consumers = [
    { name: 'test/all', types: '*' as const },
    { name: 'test/idle', types: ['file.removed'] },
  ]
  const claim = { limit: 100, leaseMs: 30_000, owner: 'test' }
  const first = await openStore(t, { settings: { folder }, tools: { clock, ids: { next: () => `${'f'.repeat(23)}0` } } })
  await first.declare([notes])
  await first.outbox.declareConsumers(consumers)
  const says = [0, 1, 2, 3, 4].map(n => event('dataset.created', { kind: 'dataset', id: `d${n}` }, {}))
  await first.commit<Note>({ insert: { id: 'a' }, into: notes }, says)
  const ids = (await first.outbox.claim('test/all', claim)).map(({ event }) => event.id)
  await first.outbox.done('test/all', [ids[4] ?? '', ids[3] ?? ''])
  await first.outbox.failed('test/all', ids[1] ?? '', { error: 'e1', retryInMs: 60_000 })
  await first.outbox.failed('test/all', ids[2] ?? '', { error: 'e2', park: true })
  t.deepEqual(await first.outbox.waiting(), { 'test/all': 2, 'test/idle': 0 })
  await first.dispose()

  const second = await openStore(t, { settings: { folder }, tools: { clock, ids: countingIds() } })
  await second.declare([notes])
  await second.outbox.declareConsumers(consumers)
  t.deepEqual(await second.outbox.waiting(), { 'test/all': 2, 'test/idle': 0 })
  t.deepEqual(
    (await second.outbox.deadLetters({ limit: 9 })).map(({ event, error }) => [event.subject.id, error]),
    [['d2', 'e2']],
  )
  const next = event('dataset.updated', { kind: 'dataset', id: 'd9' }, { fields: [] })
  await second.commit({ update: 'a', in: notes }, [next])
  const again = await second.outbox.claim('test/all', claim)
  t.deepEqual(
    again.map(({ event }) => event.subject.id),
    ['d0', 'd9'],
  )
  t.true((again[1]?.event.id ?? '') > (ids[4] ?? ''))
  clock.advance(60_000)
  const late = await second.outbox.claim('test/all', claim)
  t.true(late.some(({ event, attempt }) => event.subject.id === 'd1' && attempt === 2))
})

test('an event stored in the transaction that settled all older ones is still pending after a restart', async t => {
  const folder = await tempFolder(t)
  const clock = new FixedClock()
  const consumers = [
    { name: 'test/all', types: '*' as const },
    { name: 'test/idle', types: '*' as const },
  ]
  const claim = { limit: 100, leaseMs: 30_000, owner: 'test' }
  const first = await openStore(t, { settings: { folder }, tools: { clock, ids: countingIds() } })
  await first.declare([notes])
  await first.outbox.declareConsumers(consumers)
  const says = (id: string) => [event('dataset.created', { kind: 'dataset', id }, {})]
  await first.commit<Note>({ insert: { id: 'a' }, into: notes }, says('d0'))
  const settle = async (consumer: string) =>
    first.outbox.done(
      consumer,
      (await first.outbox.claim(consumer, claim)).map(({ event }) => event.id),
    )
  await settle('test/idle')
  const [older] = await first.outbox.claim('test/all', claim)
  await Promise.all([
    first.commit<Note>({ insert: { id: 'b' }, into: notes }, says('d1')),
    first.outbox.done('test/all', [older?.event.id ?? '']),
  ])
  await first.dispose()

  const second = await openStore(t, { settings: { folder }, tools: { clock, ids: countingIds() } })
  await second.outbox.declareConsumers(consumers)
  t.deepEqual(await second.outbox.waiting(), { 'test/all': 1, 'test/idle': 1 })
  for (const { name } of consumers)
    t.deepEqual(
      (await second.outbox.claim(name, claim)).map(each => each.event.subject.id),
      ['d1'],
    )
})
