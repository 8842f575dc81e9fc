import test from 'ava'
import { type After, collection, eq, isIn, or, type Where } from 'pounce/sdk'
import type { Note } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'

const notes = collection<Note>()('things', {
  byRank: { on: ['rank'] },
  bySpace: { on: ['spaces', 'rank'], array: 'spaces' },
  byName: { on: ['name', 'rank'] },
})
const using = ['byRank', 'bySpace', 'byName']
const count = 4000

const filled = async (t: Parameters<typeof openStore>[0]) => {
  const store = await openStore(t)
  await store.declare([notes])
  for (let from = 0; from < count; from += 1000) {
    const items = Array.from({ length: 1000 }, (_, n) => {
      const rank = from + n
      // Only the first forty are in spaces that have a member.
      const spaces = rank < 40 ? [`mine${rank}`, `mine${(rank * 7) % 40}`] : [`other${rank % 500}`]
      return { change: { insert: { id: `n${rank}`, name: rank % 1000 === 0 ? 'own' : 'n', rank, spaces }, into: notes } }
    })
    await store.commitEach<Note>(items)
  }
  return store
}

/** A query over this many spaces, of which only forty contain anything. */
const member = (spaces: number): Where =>
  or(
    eq('name', 'own'),
    isIn(
      'spaces',
      Array.from({ length: spaces }, (_, n) => `mine${n}`),
    ),
  )
const newest = { by: 'rank', order: 'descending' } as const
const expectedOf = (spaces: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => count - 1 - n)
    .filter(rank => rank % 1000 === 0 || (rank < 40 && (rank < spaces || (rank * 7) % 40 < spaces)))
    .map(rank => `n${rank}`)

for (const spaces of [30, 300, 2500, 20_000])
  test(`pages for a member of ${spaces} spaces neither skip nor repeat documents, however these are distributed`, async t => {
    const store = await filled(t)
    const seen: string[] = []
    let after: After | undefined
    do {
      const page = await store.find(notes, { using, where: member(spaces), sort: newest, limit: 7, ...(after ? { after } : {}) })
      seen.push(...page.items.map(({ id }) => id))
      after = page.next
    } while (after)
    t.deepEqual(seen, expectedOf(spaces))
  })

test('a query over so many spaces that it runs in a reader thread does not block other queries', async t => {
  const store = await filled(t)
  let isListed = false
  const listing = store.find(notes, { using, where: member(50_000), sort: newest, limit: 12 }).finally(() => {
    isListed = true
  })
  await store.get(notes, 'n1')
  t.false(isListed, 'a small query started later completes first')
  t.deepEqual(
    (await listing).items.map(({ id }) => id),
    expectedOf(50_000).slice(0, 12),
  )
})
