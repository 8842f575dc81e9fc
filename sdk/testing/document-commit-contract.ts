import { event } from '../events.ts'
import { CommitConflict, type Refusal, Taken } from '../ports/conflicts.ts'
import { collection, type DocumentStore, eq, type Stored, type Update } from '../ports/document-store.ts'
import { Invalid } from '../problem.ts'
import type { ContractTest, TestContext } from './any-runner.ts'
import { type Note, notes } from './notes.ts'

type Open = (t: TestContext) => Promise<DocumentStore>

const refused = async (t: TestContext, commit: Promise<unknown>, reason: Refusal): Promise<void> => {
  const error = await t.throwsAsync(commit, { instanceOf: CommitConflict })
  t.is(error?.reason, reason)
}

/** A document after one update. */
const updated = async (store: DocumentStore, before: Note, update: Update): Promise<unknown> => {
  await store.commit({ insert: { id: 'a', ...before }, into: notes })
  await store.commit({ update: 'a', in: notes, ...update })
  const { id: _id, revision: _revision, ...rest } = (await store.get(notes, 'a')) as Note & Stored
  return rest
}

const difficult = {
  'dots.in.keys': { 'a.b': [1, { 'c.$d': null }] },
  $set: { $gt: '' },
  empty: {},
  none: [],
  nested: [[], [[1, [2]], {}]],
  numbers: [0, -1, 1.5, 1e300, 5e-324, 2 ** 53, -(2 ** 53 - 1), 2 ** 63, 2 ** 64 + 2 ** 12],
  texts: ['', ' ', '\u0000', '\n\t', '"\\\'`', 'é\u0301', '𝔘𝔫𝔦', '\u{10ffff}', 'null', '%_*?[a]'],
  flags: [true, false, null],
  constructor: 'own',
  toString: 1,
}

/** Commits: operators, guards, conflicts, uniqueness and races. */
export function documentCommitContract(test: ContractTest, open: Open): void {
  insertAndReplace(test, open)
  updates(test, open)
  guards(test, open)
  uniqueKeys(test, open)
  manyAtOnce(test, open)
}

function insertAndReplace(test: ContractTest, open: Open): void {
  test('an inserted document is returned with revision 1 by commit, get and getMany', async t => {
    const store = await open(t)
    const made = await store.commit({ insert: { id: 'a', name: 'one', content: difficult }, into: notes })
    t.deepEqual(made, { id: 'a', revision: 1, name: 'one', content: difficult })
    t.deepEqual(await store.get(notes, 'a'), made)
    t.deepEqual([...(await store.getMany(notes, ['a', 'b']))], [['a', made]])
    t.is(await store.get(notes, 'b'), undefined)
  })

  test('members named __proto__ are kept like any other', async t => {
    const store = await open(t)
    const content = JSON.parse('{"__proto__":{"isAdmin":true},"list":[{"__proto__":1}]}')
    await store.commit({ insert: { id: 'a', content }, into: notes })
    await store.commit({ update: 'a', in: notes, set: { 'content.more': JSON.parse('{"__proto__":2}') } })
    const found = await store.get(notes, 'a')
    t.is(JSON.stringify(found?.content), '{"__proto__":{"isAdmin":true},"list":[{"__proto__":1}],"more":{"__proto__":2}}')
    t.is((Object.prototype as { isAdmin?: boolean }).isAdmin, undefined)
  })

  test('modifying a document after a commit or read does not affect the stored one', async t => {
    const store = await open(t)
    const content = { list: [1] }
    const made = await store.commit({ insert: { id: 'a', content }, into: notes })
    content.list.push(2)
    const list = [3]
    const changed = await store.commit({ update: 'a', in: notes, set: { 'content.other': list } })
    list.push(4)
    ;(made.content as typeof content).list.push(5)
    ;(changed.content as typeof content).list.push(6)
    for (let read = 0; read < 3; read += 1) {
      const found = (await store.get(notes, 'a'))?.content as typeof content
      t.deepEqual(found, { list: [1], other: [3] })
      try {
        found.list.push(7)
      } catch (error) {
        t.true(error instanceof TypeError)
      }
    }
  })

  test('an existing id cannot be inserted again; a tombstoned one can', async t => {
    const store = await open(t)
    await store.commit({ insert: { id: 'a', name: 'one' }, into: notes })
    await refused(t, store.commit({ insert: { id: 'a', name: 'two' }, into: notes }), 'exists')
    const last = await store.commit({ tombstone: 'a', in: notes })
    t.deepEqual(last, { id: 'a', revision: 1, name: 'one' })
    t.is(await store.get(notes, 'a'), undefined)
    t.is((await store.getMany(notes, ['a'])).size, 0)
    t.deepEqual((await store.find(notes, { using: 'byName', limit: 10 })).items, [])
    t.deepEqual(await store.commit({ insert: { id: 'a', name: 'two' }, into: notes }), { id: 'a', revision: 1, name: 'two' })
  })

  test('a replacement requires the current revision, and drops omitted members', async t => {
    const store = await open(t)
    const made = await store.commit({ insert: { id: 'a', name: 'one', author: 'x' }, into: notes })
    const replaced = await store.commit({ replace: { id: 'a', revision: made.revision, name: 'two' }, in: notes })
    t.deepEqual(replaced, { id: 'a', revision: 2, name: 'two' })
    await refused(t, store.commit({ replace: { id: 'a', revision: 1, name: 'three' }, in: notes }), 'revision')
    await refused(t, store.commit({ replace: { id: 'b', revision: 1, name: 'three' }, in: notes }), 'absent')
    t.deepEqual((await store.find(notes, { using: 'byName', where: eq('name', 'one'), limit: 10 })).items, [])
    t.deepEqual(await store.get(notes, 'a'), replaced)
  })

  test('an id that is empty, too long or contains control characters is refused', async t => {
    const store = await open(t)
    for (const id of ['', 'x'.repeat(201), 'a\u0000b', 'a\n']) {
      await t.throwsAsync(store.commit({ insert: { id }, into: notes }), { instanceOf: Invalid })
    }
    for (const id of ['a b', "o'clock", 'ключ', '𝔘', '%', '$where', 'a/b:c@d.e']) {
      await store.commit({ insert: { id }, into: notes })
      t.is((await store.get(notes, id))?.id, id)
    }
  })

  test('a collection that was not declared is refused', async t => {
    const store = await open(t)
    const other = collection<Note>()('others')
    await t.throwsAsync(store.get(other, 'a'))
    await t.throwsAsync(store.commit({ insert: { id: 'a' }, into: other }))
  })
}

function updates(test: ContractTest, open: Open): void {
  const cases: readonly (readonly [title: string, before: Note, update: Update, after: unknown])[] = [
    ['set creates the objects on the path', {}, { set: { 'content.a.b': 1 } }, { content: { a: { b: 1 } } }],
    ['set replaces a value of any type', { content: { a: [1] } }, { set: { 'content.a': { c: null } } }, { content: { a: { c: null } } }],
    ['unset removes a field', { name: 'n', content: { a: 1, b: 2 } }, { unset: ['name', 'content.a'] }, { content: { b: 2 } }],
    ['unset of an absent field is no error', { name: 'n' }, { unset: ['content.a', 'author'] }, { name: 'n' }],
    ['inc treats an absent field as 0', { content: { a: 5 } }, { inc: { 'content.a': -7, 'content.b': 2 } }, { content: { a: -2, b: 2 } }],
    ['push appends', { spaces: ['x'] }, { push: { spaces: { values: ['y', 'x'] } } }, { spaces: ['x', 'y', 'x'] }],
    ['push creates an absent array', {}, { push: { 'content.list': { values: [{ a: 1 }] } } }, { content: { list: [{ a: 1 }] } }],
    ['push keeps the last', { spaces: ['1', '2'] }, { push: { spaces: { values: ['3', '4'], keepLast: 3 } } }, { spaces: ['2', '3', '4'] }],
    [
      'addToSet appends values that equal no element',
      { content: { list: [{ a: [1] }, 2] } },
      { addToSet: { 'content.list': [{ a: [1] }, 2, '2', { a: [] }, '2'] } },
      { content: { list: [{ a: [1] }, 2, '2', { a: [] }] } },
    ],
    ['addToSet creates an absent array', {}, { addToSet: { spaces: ['x'] } }, { spaces: ['x'] }],
    ['pull removes every equal element', { spaces: ['x', 'y', 'x'] }, { pull: { spaces: ['x', 'z'] } }, { spaces: ['y'] }],
    [
      'pull removes objects that have all members of a value',
      { places: [{ dataset: 'a', folder: 'f' }, { dataset: 'a' }, { dataset: 'b' }] },
      { pull: { places: [{ dataset: 'a' }] } },
      { places: [{ dataset: 'b' }] },
    ],
    ['pull from an absent array is no error', { name: 'n' }, { pull: { spaces: ['x'] } }, { name: 'n' }],
    [
      'operators can be combined',
      { rank: 1, name: 'a' },
      { set: { author: 'x' }, unset: ['name'], inc: { rank: 1 } },
      { rank: 2, author: 'x' },
    ],
  ]
  for (const [title, before, update, after] of cases) {
    test(`update: ${title}`, async t => {
      t.deepEqual(await updated(await open(t), before, update), after)
    })
  }

  test('an update that does not fit the document is rejected completely', async t => {
    const store = await open(t)
    const made = await store.commit({ insert: { id: 'a', name: 'text', spaces: ['x'], content: { a: null } }, into: notes })
    const unsuitable: readonly Update[] = [
      { set: { 'name.first': 1 } },
      { set: { 'spaces.0': 'y' } },
      { set: { 'content.a.b': 1 } },
      { inc: { name: 1 } },
      { inc: { 'content.a': 1 } },
      { push: { name: { values: [1] } } },
      { addToSet: { name: [1] } },
      { pull: { name: ['t'] } },
      { set: { id: 'b' } },
      { set: { revision: 7 } },
      { set: { 'content.x': 1, 'content.x.y': 2 } },
      { set: { rank: 1 }, inc: { rank: 1 } },
    ]
    for (const update of unsuitable) {
      const both = { ...update, set: { author: 'changed', ...update.set } }
      await t.throwsAsync(store.commit({ update: 'a', in: notes, ...both }), { instanceOf: Invalid }, JSON.stringify(update))
    }
    t.deepEqual(await store.get(notes, 'a'), made)
  })

  test('every commit raises the revision by one', async t => {
    const store = await open(t)
    await store.commit({ insert: { id: 'a' }, into: notes })
    t.is((await store.commit({ update: 'a', in: notes })).revision, 2)
    t.is((await store.commit({ update: 'a', in: notes, set: { name: 'n' } })).revision, 3)
    t.is((await store.commit({ replace: { id: 'a', revision: 3 }, in: notes })).revision, 4)
  })
}

function guards(test: ContractTest, open: Open): void {
  test('a guard that does not hold leaves document and outbox unchanged', async t => {
    const store = await open(t)
    await store.outbox.declareConsumers([{ name: 'test/all', types: '*' }])
    const made = await store.commit({ insert: { id: 'a', state: 'live' }, into: notes })
    const says = [event('dataset.created', { kind: 'dataset', id: 'a' }, {})]
    const where = eq('state', 'trashed')
    await refused(t, store.commit({ update: 'a', in: notes, where, set: { state: 'gone' } }, says), 'guard')
    await refused(t, store.commit({ tombstone: 'a', in: notes, where }, says), 'guard')
    await refused(t, store.commit({ update: 'b', in: notes, set: { state: 'gone' } }, says), 'absent')
    await refused(t, store.commit({ tombstone: 'b', in: notes }, says), 'absent')
    await refused(t, store.commit({ insert: { id: 'a' }, into: notes }, says), 'exists')
    t.deepEqual(await store.get(notes, 'a'), made)
    t.deepEqual(await store.outbox.waiting(), { 'test/all': 0 })
    await store.commit({ update: 'a', in: notes, where: eq('state', 'live'), set: { state: 'trashed' } }, says)
    t.deepEqual(await store.outbox.waiting(), { 'test/all': 1 })
  })

  test('of 50 concurrent updates with the same guard one succeeds', async t => {
    const store = await open(t)
    await store.commit({ insert: { id: 'a', state: 'free' }, into: notes })
    const tries = Array.from({ length: 50 }, (_, n) =>
      store.commit({ update: 'a', in: notes, where: eq('state', 'free'), set: { state: 'taken', author: `u${n}` } }),
    )
    const results = await Promise.allSettled(tries)
    t.is(results.filter(result => result.status === 'fulfilled').length, 1)
    t.is((await store.get(notes, 'a'))?.revision, 2)
  })

  test('of 50 concurrent increments none is lost', async t => {
    const store = await open(t)
    await store.commit({ insert: { id: 'a', rank: 0 }, into: notes })
    await Promise.all(Array.from({ length: 50 }, () => store.commit({ update: 'a', in: notes, inc: { rank: 1 } })))
    t.like(await store.get(notes, 'a'), { rank: 50, revision: 51 })
  })
}

function uniqueKeys(test: ContractTest, open: Open): void {
  test('of 50 concurrent inserts of the same unique key one succeeds', async t => {
    const store = await open(t)
    const tries = Array.from({ length: 50 }, (_, n) => store.commit({ insert: { id: `n${n}`, email: 'a@example.org' }, into: notes }))
    const results = await Promise.allSettled(tries)
    t.is(results.filter(result => result.status === 'fulfilled').length, 1)
    for (const result of results) {
      if (result.status === 'rejected') t.true(result.reason instanceof Taken && result.reason.index === 'byEmail')
    }
    t.is((await store.find(notes, { using: 'byEmail', where: eq('email', 'a@example.org'), limit: 10 })).items.length, 1)
  })

  test('a unique key is free again once its document has another key or is deleted', async t => {
    const store = await open(t)
    await store.commit({ insert: { id: 'a', email: 'x' }, into: notes })
    await store.commit({ insert: { id: 'b', email: 'y' }, into: notes })
    await t.throwsAsync(store.commit({ update: 'b', in: notes, set: { email: 'x' } }), { instanceOf: Taken })
    await t.throwsAsync(store.commit({ replace: { id: 'b', revision: 1, email: 'x' }, in: notes }), { instanceOf: Taken })
    t.like(await store.get(notes, 'b'), { email: 'y', revision: 1 })
    await store.commit({ update: 'a', in: notes, set: { email: 'z', name: 'n' } })
    await store.commit({ update: 'b', in: notes, set: { email: 'x' } })
    await store.commit({ tombstone: 'a', in: notes })
    await store.commit({ insert: { id: 'c', email: 'z' }, into: notes })
    await store.commit({ update: 'c', in: notes, set: { email: 'z' } })
    t.is((await store.get(notes, 'c'))?.revision, 2)
  })

  test('unique keys with a null part never conflict; strings differ from numbers and by case', async t => {
    const store = await open(t)
    await store.commit({ insert: { id: 'a', email: null }, into: notes })
    await store.commit({ insert: { id: 'b', email: null }, into: notes })
    await store.commit({ insert: { id: 'c' }, into: notes })
    await store.commit({ insert: { id: 'd', email: 'X' }, into: notes })
    await store.commit({ insert: { id: 'e', email: 'x' }, into: notes })
    await store.commit({ insert: { id: 'f', team: { name: 'red', seat: 1 } }, into: notes })
    await store.commit({ insert: { id: 'g', team: { name: 'red', seat: 2 } }, into: notes })
    await store.commit({ insert: { id: 'h', team: { name: '1', seat: 1 } }, into: notes })
    await t.throwsAsync(store.commit({ insert: { id: 'i', team: { name: 'red', seat: 2 } }, into: notes }), { instanceOf: Taken })
    t.is(await store.count(notes, { using: 'byEmail', upTo: 100 }), 8)
  })
}

function manyAtOnce(test: ContractTest, open: Open): void {
  test('commitEach applies its changes in order and reports each', async t => {
    const store = await open(t)
    await store.outbox.declareConsumers([{ name: 'test/all', types: '*' }])
    const says = [event('dataset.created', { kind: 'dataset', id: 'a' }, {})]
    const results = await store.commitEach<Note>([
      { change: { insert: { id: 'a', email: 'x' }, into: notes }, events: says },
      { change: { insert: { id: 'a' }, into: notes }, events: says },
      { change: { update: 'a', in: notes, set: { 'email.x': 1 } } },
      { change: { insert: { id: 'b', email: 'x' }, into: notes } },
      { change: { update: 'a', in: notes, inc: { rank: 2 } }, events: says },
      { change: { tombstone: 'a', in: notes } },
      { change: { insert: { id: 'b', email: 'x' }, into: notes } },
      { change: { update: 'zz', in: notes } },
    ])
    t.deepEqual(
      results.map(result => (result.ok ? result.document.revision : result.error.constructor.name)),
      [1, 'CommitConflict', 'Invalid', 'Taken', 2, 2, 1, 'CommitConflict'],
    )
    t.deepEqual(await store.outbox.waiting(), { 'test/all': 2 })
    t.is(await store.get(notes, 'a'), undefined)
    t.like(await store.get(notes, 'b'), { email: 'x' })
    t.deepEqual(await store.commitEach([]), [])
  })

  test('conditions and revisions hold for each change of commitEach', async t => {
    const store = await open(t)
    await store.commit({ insert: { id: 'a', state: 'live' }, into: notes })
    await store.commit({ insert: { id: 'b', state: 'live' }, into: notes })
    const results = await store.commitEach<Note>([
      { change: { tombstone: 'a', in: notes, where: eq('state', 'trashed') } },
      { change: { update: 'a', in: notes, where: eq('state', 'trashed'), set: { name: 'n' } } },
      { change: { replace: { id: 'a', revision: 7, name: 'n' }, in: notes } },
      { change: { update: 'a', in: notes, where: eq('state', 'live'), set: { state: 'trashed' } } },
      { change: { replace: { id: 'a', revision: 1, name: 'n' }, in: notes } },
      { change: { tombstone: 'a', in: notes, where: eq('state', 'trashed') } },
      { change: { replace: { id: 'b', revision: 1, name: 'n' }, in: notes } },
    ])
    t.deepEqual(
      results.map(result => (result.ok ? 'ok' : result.error instanceof CommitConflict && result.error.reason)),
      ['guard', 'guard', 'revision', 'ok', 'revision', 'ok', 'ok'],
    )
    t.is(await store.get(notes, 'a'), undefined)
    t.deepEqual(await store.get(notes, 'b'), { id: 'b', revision: 2, name: 'n' })
  })

  test('1,000 changes and 1,000 ids are accepted in one call, and no more', async t => {
    const store = await open(t)
    const items = Array.from({ length: 1000 }, (_, n) => ({ change: { insert: { id: `n${n}`, rank: n }, into: notes } }))
    t.true((await store.commitEach<Note>(items)).every(result => result.ok))
    const ids = items.map(({ change }) => change.insert.id)
    t.is((await store.getMany(notes, ids)).size, 1000)
    await t.throwsAsync(store.commitEach<Note>([...items, { change: { insert: { id: 'more' }, into: notes } }]))
    await t.throwsAsync(store.getMany(notes, [...ids, 'more']))
    t.is(await store.get(notes, 'more'), undefined)
  })
}
