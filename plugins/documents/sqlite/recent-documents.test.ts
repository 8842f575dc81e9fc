import test from 'ava'
import { notes } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'

const long = 'word '.repeat(4000)

/** A store that has cached a note, as it caches all documents read by ID. */
const readStore = async (t: Parameters<typeof openStore>[0]) => {
  const store = await openStore(t)
  await store.declare([notes])
  await store.commit({ insert: { id: 'first', name: 'first' }, into: notes })
  await store.get(notes, 'first')
  return store
}

test('after several changes of a document in one transaction, readers get the result of the last one', async t => {
  const store = await readStore(t)
  const done = await store.commitEach([
    { change: { insert: { id: 'changed', name: 'short' }, into: notes } },
    { change: { update: 'changed', in: notes, set: { name: 'other' } } },
    { change: { insert: { id: 'grown', name: 'short' }, into: notes } },
    { change: { update: 'grown', in: notes, set: { name: long } } },
    { change: { insert: { id: 'gone', name: 'short' }, into: notes } },
    { change: { tombstone: 'gone', in: notes } },
  ])
  t.true(done.every(({ ok }) => ok))
  t.like(await store.get(notes, 'changed'), { name: 'other', revision: 2 })
  t.like(await store.get(notes, 'grown'), { name: long, revision: 2 })
  t.is(await store.get(notes, 'gone'), undefined)
  t.deepEqual([...(await store.getMany(notes, ['changed', 'grown', 'gone'])).keys()], ['changed', 'grown'])
})

test('after a refused change, readers get the previous document', async t => {
  const store = await readStore(t)
  const [taken, gone] = await store.commitEach([
    { change: { insert: { id: 'first', name: 'second' }, into: notes } },
    { change: { update: 'absent', in: notes, set: { name: 'second' } } },
  ])
  t.false(taken?.ok)
  t.false(gone?.ok)
  t.like(await store.get(notes, 'first'), { name: 'first', revision: 1 })
  t.is(await store.get(notes, 'absent'), undefined)
})
