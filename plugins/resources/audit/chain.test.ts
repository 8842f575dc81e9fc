import test, { type ExecutionContext } from 'ava'
import { type Collection, eq, type Ids, Unavailable } from 'pounce/sdk'
import { countingIds, FixedClock, silent } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'
import { AnchorChains } from './chain-anchors.ts'
import { audit, ChainWriter, chains, ownLine } from './chain-writer.ts'
import type { Settings } from './config.ts'
import { AuditRetention } from './stored-audit.ts'
import { AuditVerifier } from './verify-audit.ts'

const dayMs = 86_400_000
const never = new AbortController().signal
const settings: Settings = {
  ...{ keptDays: 400, addresses: 'network', countedMinutes: 15, reads: 'downloads', maxPendingReads: 10 },
  whenReadsCannotBeRecorded: 'refuse',
}

const opened = async (t: ExecutionContext) => {
  const documents = await openStore(t)
  await documents.declare([audit as Collection<object>, chains as Collection<object>])
  const [clock, ids]: [FixedClock, Ids] = [new FixedClock(), countingIds()]
  const kernel = () => new ChainWriter(documents, ids, clock, { all: () => [] }, silent)
  const write = (chain: ChainWriter, count: number) =>
    Promise.all(Array.from({ length: count }, () => chain.append([ownLine(ids.next(), clock.now().toISOString(), 'test.line', {})])))
  const verify = () => new AuditVerifier(documents).verify()
  return { documents, clock, ids, kernel, write, verify }
}

test('kernels that write concurrently have a chain each', async t => {
  const { kernel, write, verify } = await opened(t)
  const [one, other] = [kernel(), kernel()]
  await Promise.all([write(one, 300), write(other, 300), write(one, 5)])
  t.like(await verify(), { isIntact: true, lines: 607, chains: 2, faultCount: 0 })
})

test('after retention in the middle of a chain, the log verifies and its beginning is still protected', async t => {
  const { documents, clock, kernel, write, verify } = await opened(t)
  const chain = kernel()
  await write(chain, 250)
  clock.advance(399 * dayMs)
  const late = kernel()
  await write(late, 3)
  clock.advance(2 * dayMs)
  const forget = new AuditRetention(settings, documents, late, clock)
  await forget.run(never)
  const found = await verify()
  t.deepEqual([found.isIntact, found.faults], [true, []])
  t.is(await documents.count(audit, { using: 'byType', where: eq('type', 'test.line'), upTo: 1000 }), 3)
  clock.advance(398 * dayMs + dayMs / 2)
  await forget.run(never)
  t.true((await verify()).isIntact)

  const [first] = (await documents.find(audit, { using: 'byType', where: eq('type', 'audit.forgotten'), limit: 1 })).items
  await documents.commit({ tombstone: first?.id ?? '', in: audit })
  t.false((await verify()).isIntact)
})

test('a chain is cut after its expired entries', async t => {
  const { documents, clock, kernel, write, verify } = await opened(t)
  const chain = kernel()
  for (let hour = 0; hour < 60; hour++) {
    await write(chain, 1)
    clock.advance(dayMs / 4)
  }
  clock.advance(395 * dayMs)
  const writer = kernel()
  await new AuditRetention(settings, documents, writer, clock).run(never)
  const left = (await documents.find(audit, { using: 'byType', where: eq('type', 'test.line'), limit: 100 })).items
  t.true(left.length > 10 && left.length < 60)
  t.true((await verify()).isIntact)
  const [oldest] = left.toSorted((one, other) => (one.seq ?? 0) - (other.seq ?? 0))
  await documents.commit({ tombstone: oldest?.id ?? '', in: audit })
  t.deepEqual(
    (await verify()).faults.map(({ fault, seq }) => [fault, seq]),
    [['removed', oldest?.seq]],
  )
})

test('after a commit of unknown outcome a new chain begins, and neither outcome is a fault', async t => {
  const { documents, ids, clock, kernel, write, verify } = await opened(t)
  const chain = kernel()
  await write(chain, 3)
  const commitEach = documents.commitEach.bind(documents)
  documents.commitEach = (async (items: Parameters<typeof commitEach>[0]) => {
    await commitEach(items.slice(1))
    throw new Unavailable('The result is unknown')
  }) as typeof documents.commitEach
  await t.throwsAsync(chain.append(Array.from({ length: 4 }, () => ownLine(ids.next(), clock.now().toISOString(), 'test.line', {}))))
  documents.commitEach = commitEach as typeof documents.commitEach
  await write(chain, 3)
  t.like(await verify(), { isIntact: true, chains: 2, faultCount: 0 })
})

test('no anchors are added without activity', async t => {
  const { documents, ids, clock, kernel, write } = await opened(t)
  const chain = kernel()
  await write(chain, 3)
  const anchors = new AnchorChains(documents, chain, ids, clock)
  for (let time = 0; time < 3; time++) await anchors.run(never)
  t.is(await documents.count(audit, { using: 'byType', where: eq('type', 'audit.anchor'), upTo: 10 }), 1)
  clock.advance(2 * dayMs)
  await anchors.run(never)
  t.is(await documents.count(chains, { using: 'bySettled', where: eq('isSettled', false), upTo: 10 }), 0)
})
