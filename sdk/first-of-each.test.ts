import test from 'ava'
import { type FirstItems, firstOfEach } from './first-of-each.ts'

interface Owner {
  readonly id: string
}
interface Item {
  readonly owner: string
  readonly n: number
}

/** A store whose pages have at most `pageSize` items. */
const store = (counts: Readonly<Record<string, number>>, pageSize: number) => {
  const reads: (readonly string[])[] = []
  const read = async (owners: readonly Owner[]) => {
    reads.push(owners.map(({ id }) => id))
    const all = owners.flatMap(({ id }) => Array.from({ length: counts[id] ?? 0 }, (_, n): Item => ({ owner: id, n })))
    const items = all.sort((one, other) => one.n - other.n).slice(0, pageSize)
    return { items, ...(all.length > pageSize ? { next: [items.length, ''] as const } : {}) }
  }
  return { reads, items: { read, ownerOf: ({ owner }: Item) => owner } }
}

const firstOf = async (owners: string, { items }: ReturnType<typeof store>): Promise<readonly FirstItems<Owner, Item>[]> =>
  Array.fromAsync(
    firstOfEach(
      [...owners].map(id => ({ id })),
      items,
    ),
  )
const numbers = (found: readonly FirstItems<Owner, Item>[]) =>
  found.map(({ owner, items }) => `${owner.id}${items.map(({ n }) => n).join('')}`)

test('few items are read together, and owners may repeat', async t => {
  const few = store({ a: 2, c: 1 }, 10)
  t.deepEqual(numbers(await firstOf('abcba', few)), ['a01', 'b', 'c0', 'b', 'a01'])
  t.deepEqual(few.reads, [['a', 'b', 'c']])
})

test('an owner with more than a page is read alone, and its items continue', async t => {
  const many = store({ a: 1, b: 9, c: 1, d: 2 }, 4)
  const found = await firstOf('abcd', many)
  t.deepEqual(numbers(found), ['a0', 'b0123', 'c0', 'd01'])
  t.deepEqual(
    found.map(({ next }) => next !== undefined),
    [false, true, false, false],
  )
})

test('each owner has its items whatever the page size', async t => {
  const counts = { a: 3, b: 0, c: 5, d: 1, e: 2 }
  for (let pageSize = 1; pageSize < 14; pageSize += 1)
    for (const { owner, items, next } of await firstOf('abcdeac', store(counts, pageSize))) {
      const count = counts[owner.id as keyof typeof counts]
      t.is(items.length, Math.min(count, pageSize), `${owner.id} in pages of ${pageSize}`)
      t.is(next !== undefined, count > pageSize)
      t.true(items.every(item => item.owner === owner.id))
    }
})

test('no owners need no read', async t => {
  const none = store({}, 1)
  t.deepEqual(await firstOf('', none), [])
  t.deepEqual(none.reads, [])
})
