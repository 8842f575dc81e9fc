import test from 'ava'
import type { Caller, Membership, Ref, Rights } from 'pounce/sdk'
import { idOf, member, policyOn, resourceOf, someone, sourcesOf } from './testing-fixtures/cast.ts'

const lab = member('lab', 'Viewer')
const many = (count: number): readonly Membership[] => [
  ...Array.from({ length: count - 1 }, (_, n) => ({ ...lab, space: n.toString(16).padStart(24, '0') })),
  lab,
]
const hex = (n: number): string => `a${n.toString(16).padStart(23, '0')}`
const inLab: Rights = { author: idOf('author'), spaces: [idOf('lab')], isPublic: false, state: 'live' }
const everything = policyOn({ all: () => [resourceOf('dataset', async ids => new Map(ids.map(id => [id, inLab])))] }, { isPrivate: true })

/** Memberships that count how often they are read. */
const counting = (memberships: readonly Membership[]) => {
  const looks = { count: 0 }
  const counted = memberships.map(
    membership =>
      new Proxy(membership, {
        get: (target, name) => {
          if (name === 'space') looks.count += 1
          return Reflect.get(target, name)
        },
      }),
  )
  return { looks, counted }
}

test('a member of 64,000 spaces has the rights of the last one, for one resource and for a thousand', async t => {
  const { looks, counted } = counting(many(64_000))
  const busy = someone('busy', counted)
  t.is(await everything.canOn(busy, 'ViewDataset', { kind: 'dataset', id: hex(1) }), 'yes')
  t.is(await everything.canOn(busy, 'EditDataset', { kind: 'dataset', id: hex(1) }), 'no')
  const ids = Array.from({ length: 1000 }, (_, n) => hex(n))
  t.is((await everything.allowed(busy, 'ViewDataset', 'dataset', ids)).size, 1000)
  const where = everything.visibleTo(busy, 'ViewDataset')
  t.true(typeof where === 'object' && JSON.stringify(where).includes(idOf('lab')))
  t.log(`${looks.count} looks at 64,000 memberships`)
  t.true(looks.count < 20 * 64_000, 'memberships are not read once per resource')
})

test('an access decision and a search scope read each of 10,000 memberships at most five times', async t => {
  for (const look of [
    (busy: Caller) => everything.canOn(busy, 'ViewDataset', { kind: 'dataset', id: hex(1) }),
    (busy: Caller) => everything.searchScope(busy),
  ]) {
    const { looks, counted } = counting(many(10_000))
    await look(someone('busy', counted))
    t.true(looks.count > 0 && looks.count <= 5 * 10_000, `${looks.count}`)
  }
})

test('a space in which a caller has several roles, for example through groups, is listed once', t => {
  const twice = someone('twice', [lab, { ...lab, group: idOf('soil') }, { ...member('lab', 'Editor'), group: idOf('rock') }])
  t.deepEqual(everything.visibleTo(twice, 'ViewDataset'), {
    op: 'or',
    any: [
      { op: 'eq', field: 'author', value: idOf('twice') },
      { op: 'in', field: 'spaces', values: [idOf('lab')] },
      { op: 'eq', field: 'isPublic', value: true },
    ],
  })
})

test('parents are read in batches of 1,000, and a cycle of parents is not followed repeatedly', async t => {
  const datasets = Array.from({ length: 2500 }, (_, n): Ref => ({ kind: 'dataset', id: hex(n) }))
  const requested: number[] = []
  const rightsOf = async (ids: readonly string[]) => {
    requested.push(ids.length)
    return new Map(ids.map(id => [id, { ...inLab, spaces: id === hex(2400) ? inLab.spaces : [] }]))
  }
  const file: Rights = { author: '', spaces: [], isPublic: false, state: 'live', parents: datasets }
  const policy = policyOn(
    {
      all: () => [resourceOf('file', async ids => new Map(ids.map(id => [id, file]))), resourceOf('dataset', rightsOf)],
    },
    { isPrivate: true },
  )
  t.is(await policy.canOn(someone('viewer', [lab]), 'ViewFile', { kind: 'file', id: hex(9) }), 'yes')
  t.deepEqual(requested, [1000, 1000, 500])
  const reads = { count: 0 }
  const circle = sourcesOf(
    {
      'comment:a': { parents: [{ kind: 'metadata', id: idOf('b') }] },
      'metadata:b': { parents: [{ kind: 'comment', id: idOf('a') }] },
    },
    reads,
  )
  t.is(await policyOn(circle).canOn(someone('author'), 'ViewComments', { kind: 'comment', id: idOf('a') }), 'unseen')
  t.true(reads.count <= 8)
})
