import test, { type ExecutionContext } from 'ava'
import { type AnyEvent, type Collection, eq } from 'pounce/sdk'
import { countingIds, FixedClock, silent } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'
import { auditLineOf } from './audit-lines.ts'
import { type AuditRecord, audit, ChainWriter, chains } from './chain-writer.ts'
import type { Settings } from './config.ts'
import { AuditRetention, keptAddress, networkOf, StoredAudit } from './stored-audit.ts'

const settings: Settings = {
  ...{ keptDays: 400, addresses: 'network', countedMinutes: 15, reads: 'downloads', maxPendingReads: 10 },
  whenReadsCannotBeRecorded: 'refuse',
}

const receivers = { all: () => [] }

/** Entries that the log writes about itself. */
const isOwn = ({ type }: AuditRecord): boolean => type.startsWith('audit.')

const dayMs = 86_400_000

const user = '0000000000000000000000aa'

const opened = async (t: ExecutionContext, given: Partial<Settings> = {}) => {
  const documents = await openStore(t)
  await documents.declare([audit as Collection<object>, chains as Collection<object>])
  const [clock, ids] = [new FixedClock(), countingIds()]
  const chain = new ChainWriter(documents, ids, clock, receivers, silent)
  const log = new StoredAudit({ ...settings, ...given }, documents, ids, clock, chain)
  const forget = new AuditRetention({ ...settings, ...given }, documents, chain, clock)
  const lines = async (): Promise<readonly AuditRecord[]> => (await log.page({}, { limit: 500 })).items.filter(line => !isOwn(line))
  return { documents, clock, chain, log, forget, lines }
}

const signedIn = (id: string): AnyEvent => ({
  id,
  at: '2026-01-05T10:00:00.000Z',
  type: 'user.signed-in',
  subject: { kind: 'user', id: user },
  actor: user,
  data: { address: '192.0.2.77' },
})

test('an event delivered twice creates one entry', async t => {
  const { log, lines } = await opened(t)
  await log.handleAll([signedIn('6b0000000000000000000001'), signedIn('6b0000000000000000000002')])
  await log.handleAll([signedIn('6b0000000000000000000002')])
  t.is((await lines()).length, 2)
  t.like((await lines())[0], { type: 'user.signed-in', actor: user, user, address: '192.0.2.0/24', count: 1 })
})

test('concurrent failed sign-ins are counted exactly, by account and network', async t => {
  const { log, lines, clock } = await opened(t)
  const refused = (address: string, whose: string | undefined = user) =>
    log.note({ type: 'sign-in.refused', ...(whose ? { user: whose } : {}), about: { door: 'password' }, address, isCounted: true })
  await Promise.all(Array.from({ length: 40 }, (_, at) => refused(`192.0.2.${at}`)))
  await refused('198.51.100.1')
  await log.note({ type: 'sign-in.refused', about: { door: 'password' }, address: '192.0.2.9', isCounted: true })
  t.deepEqual(
    (await lines()).map(({ count }) => count).toSorted((a, b) => b - a),
    [40, 1, 1],
  )
  clock.advance(16 * 60_000)
  await refused('192.0.2.1')
  t.is((await lines()).length, 4, 'after 15 minutes a new entry begins')
})

test('all expired entries are deleted and the others are kept', async t => {
  const { log, forget, lines, clock, documents } = await opened(t)
  await Promise.all(Array.from({ length: 450 }, () => log.note({ type: 'superadmin.used', actor: user })))
  clock.advance(399 * dayMs)
  await log.note({ type: 'superadmin.used', actor: user })
  const never = new AbortController().signal
  await forget.run(never)
  t.is(await documents.count(audit, { using: 'byAt', upTo: 1000 }), 453, 'including the first entries of two chains')
  clock.advance(2 * dayMs)
  await forget.run(never)
  t.is((await lines()).length, 1)
})

test('a page with few matches ends early and has a next page', async t => {
  const { log } = await opened(t)
  await log.note({ type: 'admin.testMail', actor: user, user })
  await Promise.all(Array.from({ length: 2100 }, () => log.note({ type: 'superadmin.used', actor: user, user })))
  const first = await log.page({ user, type: 'admin.testMail' }, { limit: 10 })
  t.is(first.items.length, 0)
  t.truthy(first.next)
  const rest = await log.page({ user, type: 'admin.testMail' }, { limit: 10, ...(first.next ? { after: first.next } : {}) })
  t.deepEqual([rest.items.length, rest.next], [1, undefined])
})

test('addresses are stored as configured', async t => {
  for (const [addresses, kept] of [
    ['whole', '2001:db8::1'],
    ['network', '2001:db8:0::/48'],
    ['none', null],
  ] as const) {
    const { documents, chain } = await opened(t)
    const log = new StoredAudit({ ...settings, addresses }, documents, countingIds(), new FixedClock(), chain)
    await log.note({ type: 'admin.testMail', address: '2001:db8::1' })
    t.is((await documents.find(audit, { using: 'byType', where: eq('type', 'admin.testMail'), limit: 1 })).items[0]?.address, kept)
  }
})

test('users’ changes to their own profiles are not audited', t => {
  const updated = (fields: string[], actor?: string) =>
    auditLineOf({
      ...{ id: 'a', at: '', type: 'user.updated', subject: { kind: 'user', id: user }, data: { fields } },
      ...(actor === undefined ? {} : { actor }),
    } as AnyEvent)
  t.is(updated(['firstName', 'profile', 'notifications'], user), undefined)
  t.is(updated(['lastLogin']), undefined)
  t.like(updated(['firstName'], 'someone else'), { type: 'user.updated', user })
  t.like(updated(['password'], user), { type: 'user.password-changed' })
  t.like(updated(['password']), { type: 'user.password-changed' })
  t.like(updated(['termsAccepted'], user), { type: 'user.terms-accepted' })
})

test('a network is the first 24 bits of IPv4 and the first 48 of IPv6, in any spelling', t => {
  t.is(networkOf('192.0.2.77'), '192.0.2.0/24')
  t.is(networkOf('::ffff:192.0.2.77'), '192.0.2.0/24')
  t.is(networkOf('2001:0DB8:0001:0002::7'), '2001:db8:1::/48')
  t.is(networkOf('2001:db8::7'), '2001:db8:0::/48')
  t.is(networkOf('::1'), '0:0:0::/48')
  t.is(networkOf('fe80::1%eth0'), 'fe80:0:0::/48')
})

test('an invalid address is not stored', t => {
  for (const text of ['', 'unknown', 'a password', '192.0.2', '192.0.2.77:80']) t.is(networkOf(text), null)
  t.is(keptAddress(undefined, 'whole'), null)
  t.is(keptAddress('192.0.2.77', 'whole'), '192.0.2.77')
  t.is(keptAddress('a forwarded text', 'whole'), null)
  t.is(keptAddress('192.0.2.77', 'none'), null)
})
