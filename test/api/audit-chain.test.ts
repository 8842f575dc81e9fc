import test, { type ExecutionContext } from 'ava'
import { type Collection, Commands, collection, DocumentStore, type Stored } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newPerson } from '../support/people.ts'
import { ok } from '../support/scene.ts'

interface Line {
  readonly type: string
  readonly actor: string | null
  readonly chain: string
  readonly seq: number
  readonly prev: string
  readonly hash: string
  readonly count: number
  readonly about: Readonly<Record<string, unknown>>
}
interface Found {
  readonly isIntact: boolean
  readonly lines: number
  readonly chains: number
  readonly unchained: { readonly lines: number; readonly until: string | null }
  readonly faults: readonly { readonly fault: string; readonly chain: string; readonly seq: number; readonly id: string | null }[]
  readonly heads: readonly { readonly chain: string; readonly seq: number; readonly hash: string }[]
}
const lines: Collection<Line> = collection<Line>()('audit')

const verified = (server: TestServer): Promise<Found> => ok<Found>(server.as(server.admin.key)('/api/admin/audit/verification'))
const stored = async (server: TestServer): Promise<readonly (Line & Stored)[]> =>
  (await Array.fromAsync(server.get(DocumentStore).walk(lines))).toSorted((one, other) => one.seq - other.seq)

/** A server with at least seven unmodified lines in one chain. */
const furnished = async (t: ExecutionContext): Promise<{ server: TestServer; written: readonly (Line & Stored)[] }> => {
  const server = await bootForTest({ t })
  for (const name of ['ann', 'bob', 'cid']) await newPerson(server, name)
  await server.drained()
  const before = await stored(server)
  t.true(before.length >= 7)
  const found = await verified(server)
  t.deepEqual([found.isIntact, found.faults, found.chains], [true, [], 1])
  const written = await stored(server)
  // The log's own periodic lines may be written at any time.
  t.true(found.lines >= before.length && found.lines <= written.length)
  return { server, written }
}
const at = (written: readonly (Line & Stored)[], place: number): Line & Stored => {
  const line = written[place]
  if (!line) throw new Error(`there is no line ${place}`)
  return line
}
const named = (found: Found) => found.faults.map(({ fault, seq, id }) => ({ fault, seq, id }))

test('the route and the command report which line was changed', async t => {
  const { server, written } = await furnished(t)
  const { id, seq } = at(written, 3)
  await server.get(DocumentStore).commit({ update: id, in: lines, set: { actor: 'somebody else' } })
  t.deepEqual(named(await verified(server)), [{ fault: 'changed', seq, id }])
  const command = server
    .get(Commands)
    .all()
    .find(({ name }) => name === 'audit verify')
  const error = await t.throwsAsync(async () => command?.run({ arguments: {}, options: {} }, () => undefined))
  t.regex(error?.message ?? '', new RegExp(`changed: chain \\w+, place ${seq} \\(line ${id}\\)`))
})

test('removed lines are detected in the middle and, once anchored, at the end', async t => {
  const { server, written } = await furnished(t)
  await server.runPeriodic('resources.audit/anchor')
  const documents = server.get(DocumentStore)
  const gone = at(written, 2)
  await documents.commit({ tombstone: gone.id, in: lines })
  t.deepEqual(named(await verified(server)), [{ fault: 'removed', seq: gone.seq, id: null }])
  await server.restart()
  await newPerson(server, 'dan')
  await server.drained()
  const now = await stored(server)
  const last = now.filter(({ chain }) => chain === gone.chain).at(-1)
  await server.get(DocumentStore).commit({ tombstone: last?.id ?? '', in: lines })
  t.deepEqual(named(await verified(server)), [
    { fault: 'removed', seq: gone.seq, id: null },
    { fault: 'removed', seq: last?.seq ?? 0, id: null },
  ])
})

test('reordered lines are detected', async t => {
  const { server, written } = await furnished(t)
  const [one, other] = [at(written, 3), at(written, 4)]
  const documents = server.get(DocumentStore)
  await documents.commit({ update: one.id, in: lines, set: { seq: other.seq } })
  await documents.commit({ update: other.id, in: lines, set: { seq: one.seq } })
  t.deepEqual(named(await verified(server)), [
    { fault: 'changed', seq: one.seq, id: other.id },
    { fault: 'reordered', seq: other.seq, id: one.id },
  ])
})

test('a line inserted in the middle is detected', async t => {
  const { server, written } = await furnished(t)
  const { revision: _, ...line } = at(written, 4)
  const insert = { ...line, id: 'f'.repeat(24), actor: 'nobody' }
  await server.get(DocumentStore).commit({ insert, into: lines })
  const found = await verified(server)
  t.true(named(found).some(({ fault, seq }) => fault === 'inserted' && seq === line.seq))
  t.true(named(found).every(({ seq }) => seq === line.seq))
})

test('a line rewritten together with its hash is detected through the next line', async t => {
  const { server, written } = await furnished(t)
  const { id, seq } = at(written, 3)
  const { hashOf } = await import('../../plugins/resources/audit/chain-writer.ts')
  const forged = { ...at(written, 3), actor: 'somebody else' }
  const hash = hashOf(forged as unknown as Parameters<typeof hashOf>[0])
  await server.get(DocumentStore).commit({ update: id, in: lines, set: { actor: forged.actor, hash } })
  t.deepEqual(named(await verified(server)), [{ fault: 'changed', seq, id }])
})

test('each start opens a new chain linked to the previous one; lines from before the upgrade stay readable', async t => {
  const { server, written } = await furnished(t)
  const { id: _, revision: __, chain, seq, prev, hash, ...content } = at(written, 2)
  const old = { ...content, id: 'e'.repeat(24), at: '2020-01-01T00:00:00.000Z', type: 'old.line' }
  await server.get(DocumentStore).commit({ insert: old as unknown as Line & { id: string }, into: lines })
  await server.restart()
  await newPerson(server, 'eve')
  await server.drained()
  const found = await verified(server)
  t.like(found, { isIntact: true, chains: 2, unchained: { lines: 1, until: old.at } })
  const all = await stored(server)
  // The log's own periodic entry may have followed the lines read above.
  const before = all.filter(line => line.chain === chain)
  const last = at(before, before.length - 1)
  t.true(last.seq >= written.length)
  t.deepEqual(
    all
      .filter(({ type }) => type === 'audit.chain-opened')
      .map(line => line.about['heads'])
      .toSorted((a, b) => String(a).length - String(b).length),
    [[], [`${chain}:${last.seq}:${last.hash}`]],
  )
  const shown = await ok<{ type: string; chain: unknown }[]>(server.as(server.admin.key)('/api/admin/audit?type=old.line'))
  t.deepEqual(
    shown.map(line => line.chain),
    [null],
  )
  t.truthy([seq, prev, hash])
})

test('a wrong count is detected once the count is final', async t => {
  const server = await bootForTest({ t, config: { resources: { audit: { countedMinutes: 1 } } } })
  for (let time = 0; time < 3; time++) await server.as('no such key')('/api/me')
  await server.drained()
  t.true((await verified(server)).isIntact)
  const line = (await stored(server)).find(({ type }) => type === 'sign-in.refused')
  if (!line) throw new Error('no line')
  const documents = server.get(DocumentStore)
  const past = '2020-01-01T00:00:00.000Z'
  await documents.commit({ update: line.id, in: lines, set: { openUntil: past } })
  await server.runPeriodic('resources.audit/anchor')
  t.true((await verified(server)).isIntact)
  await documents.commit({ update: line.id, in: lines, set: { count: line.count + 7 } })
  t.deepEqual(named(await verified(server)), [{ fault: 'changed', seq: line.seq, id: line.id }])
})
