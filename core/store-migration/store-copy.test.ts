import test, { type ExecutionContext } from 'ava'
import { type Collection, Conflict, collection, Invalid } from 'pounce/sdk'
import { FixedClock, testBytes } from 'pounce/sdk/testing'
import { embeddedStores } from '../../test/support/embedded-stores.ts'
import { idOfName, kernelCollections, leaseRecords, metaRecords } from '../kernel/kernel-records.ts'
import { finishMove, type MoveReport, movedBlobs, moveId, moveRecords, refuseUnfinishedMove } from './migration-record.ts'
import { type MovePlan, StoreCopy, type Stores } from './store-copy.ts'

interface Paper {
  readonly title: string
  readonly inner: { readonly blob: string | null }
  readonly note: unknown
}
const papers = collection<Paper>()('papers', { byTitle: { on: ['title'], unique: true } })
const bare = collection<{ readonly n: number }>()('bare')
const all: readonly Collection<object>[] = [...kernelCollections, moveRecords, papers, bare]
const lasting = all.filter(one => one !== leaseRecords)
const places = [{ in: papers, field: 'inner.blob' }]

const stores = async (t: ExecutionContext): Promise<Stores> => {
  const made = await embeddedStores(t)
  await made.documents.declare(all)
  await made.documents.outbox.declareConsumers([])
  return made
}

/** Papers with bytes of all lengths, two with shared bytes, one without bytes, and records of another collection. */
const fill = async ({ documents, blobs }: Stores, count = 30): Promise<void> => {
  await documents.commit({ insert: { id: idOfName('installation'), instance: 'abc', version: '0', plugins: [] }, into: metaRecords })
  await documents.commit({ insert: { id: 'l', name: 'x', owner: 'me', forMs: 1, notBefore: '', fence: 1 }, into: leaseRecords })
  let last: string | null = null
  for (let at = 0; at < count; at += 1) {
    const blob: string | null = at === 3 ? null : at === 5 ? last : (await blobs.put(testBytes(at * 7919, at + 1))).key
    const note = { text: 'größe 🌿', list: [1, null, { deep: [true] }], at }
    await documents.commit({ insert: { id: `p-${at}`, title: `Paper ${at}`, inner: { blob }, note }, into: papers })
    last = blob
  }
  for (let n = 0; n < 205; n += 1) await documents.commit({ insert: { id: `b-${n}`, n }, into: bare })
  for (let times = 0; times < 3; times += 1) await documents.commit({ update: 'b-7', in: bare, inc: { n: 100 } })
}

const planOf = (from: Stores, to: Stores, more: Partial<MovePlan> = {}): MovePlan => ({
  route: 'here+one to there+two',
  ...{
    from,
    to,
    places,
    instance: 'abc',
    collections: lasting,
    leases: [leaseRecords],
    clock: new FixedClock(),
    readData: false,
    skipDamaged: false,
  },
  progress: () => undefined,
  ...more,
})

const run = (from: Stores, to: Stores, more: Partial<MovePlan> = {}): Promise<MoveReport> => new StoreCopy(planOf(from, to, more)).run()

/** All records, with their bytes in place of keys. */
const contents = async ({ documents, blobs }: Stores): Promise<readonly unknown[]> => {
  const found: unknown[] = []
  for await (const { id, title, inner, note } of documents.walk(papers)) {
    const bytes = inner.blob === null ? [] : ((await (await blobs.get(inner.blob))?.toArray()) ?? ['missing'])
    found.push({ id, title, note, bytes: inner.blob === null ? null : Buffer.concat(bytes as Buffer[]).toString('base64') })
  }
  for await (const { id, n } of documents.walk(bare)) found.push({ id, n })
  for await (const { id, instance } of documents.walk(metaRecords)) found.push({ id, instance })
  return found
}

const keysOf = async ({ blobs }: Stores): Promise<readonly string[]> => (await Array.fromAsync(blobs.list())).map(({ key }) => key)

test('records and bytes arrive completely under their ids, and the source is unchanged', async t => {
  const [from, to] = [await stores(t), await stores(t)]
  await fill(from)
  const before = await contents(from)
  const report = await run(from, to, { readData: true })
  t.like(report, { documents: 236, blobs: 28, copiedNow: 28, withoutBytes: 0 })
  t.deepEqual(await contents(to), before)
  t.deepEqual(await contents(from), before)
  t.is((await keysOf(to)).length, 28)
  t.is(await to.documents.get(leaseRecords, 'l'), undefined)
  t.deepEqual(await Array.fromAsync(to.documents.walk(movedBlobs)), [])
  t.is((await to.documents.get(moveRecords, moveId))?.state, 'finished')
  await t.notThrowsAsync(refuseUnfinishedMove(to.documents))
})

test('a migration whose search index has not been rebuilt yet can be repeated, and other ones are possible', async t => {
  const [from, to] = [await stores(t), await stores(t)]
  await fill(from, 8)
  const report = await run(from, to, { hasSearch: true })
  await t.notThrowsAsync(refuseUnfinishedMove(to.documents), 'servers can use the records')
  t.deepEqual(await run(from, to, { hasSearch: true }), report)
  const next = await stores(t)
  t.like(await run(to, { documents: to.documents, blobs: next.blobs }, { route: 'next', hasSearch: true }), { copiedNow: report.blobs })
  await finishMove(to.documents)
  await t.throwsAsync(run(to, { documents: to.documents, blobs: next.blobs }, { route: 'next', hasSearch: true }), {
    message: /was completed at/,
  })
})

test('a server that runs on the source ends the migration', async t => {
  const [from, to] = [await stores(t), await stores(t)]
  await fill(from, 8)
  let renewal: Promise<unknown> | undefined
  const renew = (): void => {
    renewal ??= from.documents.commit({ update: 'l', in: leaseRecords, set: { forMs: 1 } })
  }
  await t.throwsAsync(run(from, to, { progress: renew }), { message: /^A server is running on the source/ })
  await t.throwsAsync(refuseUnfinishedMove(to.documents))
  await renewal
  t.like(await run(from, to), { documents: 214 })
})

test('bytes can be migrated without records, and records without bytes', async t => {
  const [from, other] = [await stores(t), await stores(t)]
  await fill(from)
  const before = await contents(from)
  const bytesMoved = { documents: from.documents, blobs: other.blobs }
  t.like(await run(from, bytesMoved), { copiedNow: 28 })
  t.deepEqual(await contents(bytesMoved), before)
  const recordsMoved = { documents: other.documents, blobs: other.blobs }
  t.like(await run(bytesMoved, recordsMoved, { route: 'next' }), { copiedNow: 0 })
  t.deepEqual(await contents(recordsMoved), before)
  t.like(await run(bytesMoved, { documents: from.documents, blobs: (await stores(t)).blobs }, { route: 'third' }), { copiedNow: 28 })
})

/** A store whose calls fail from the nth on, as if the process was killed there: earlier calls persist. */
const dying = (target: Stores, calls: { left: number }): Stores => {
  const watch = <T extends object>(store: T, names: readonly string[]): T =>
    new Proxy(store, {
      get: (of, name) => {
        const member: unknown = Reflect.get(of, name, of)
        if (typeof member !== 'function') return member
        return (...given: unknown[]) => {
          if (names.includes(String(name))) {
            if (calls.left <= 0) return Promise.reject(new Error('killed'))
            calls.left -= 1
          }
          return member.apply(of, given)
        }
      },
    })
  return { documents: watch(target.documents, ['commit', 'commitEach']), blobs: watch(target.blobs, ['put']) }
}

for (const isShared of [false, true]) {
  test(`a migration that is interrupted at any point is resumed by the next run${isShared ? ', also with a shared document store' : ''}`, async t => {
    for (const survived of [0, 1, 9, 17, 18, 19, 21, 23]) {
      const [from, other] = [await stores(t), await stores(t)]
      await fill(from, 8)
      const before = await contents(from)
      const to = isShared ? { documents: from.documents, blobs: other.blobs } : other
      const calls = { left: survived }
      let attempts = 0
      const isMoved = async (): Promise<boolean> => {
        const broken = dying(to, calls)
        const same = isShared ? { documents: broken.documents, blobs: from.blobs } : from
        try {
          await run(same, broken)
          return true
        } catch (error) {
          if (!(error instanceof Error && error.message === 'killed')) throw error
          if (attempts === 0 && survived > 1 && (await to.documents.get(moveRecords, moveId))?.state === 'under way')
            await t.throwsAsync(refuseUnfinishedMove(to.documents), { message: /migrate --from here\+one --to there\+two/ })
          return false
        }
      }
      while (!(await isMoved())) {
        calls.left = 12
        attempts += 1
        t.true(attempts < 20)
      }
      t.deepEqual(await contents(to), before, `${survived}`)
      t.true((await keysOf(to)).length >= 6)
    }
  })
}

test('changes, additions and removals in the source between two runs are applied to the target', async t => {
  const [from, to] = [await stores(t), await stores(t)]
  await fill(from)
  await t.throwsAsync(run(from, dying(to, { left: 56 })), { message: 'killed' })
  await from.documents.commit({ update: 'p-2', in: papers, set: { title: 'Changed' } })
  await from.documents.commit({ tombstone: 'p-1', in: papers })
  await from.documents.commit({ insert: { id: 'b-new', n: -1 }, into: bare })
  await run(from, to)
  t.deepEqual(await contents(to), await contents(from))
})

test('a target that contains anything else is refused and left unchanged', async t => {
  const [from, full, bytes, otherMove] = [await stores(t), await stores(t), await stores(t), await stores(t)]
  await fill(from)
  await full.documents.commit({ insert: { id: 'x', n: 1 }, into: bare })
  await t.throwsAsync(run(from, full), { instanceOf: Conflict, message: /not empty: bare contains x/ })
  t.is(await full.documents.get(moveRecords, moveId), undefined)
  const { key } = await bytes.blobs.put(testBytes(5))
  await t.throwsAsync(run(from, bytes), { instanceOf: Conflict, message: new RegExp(`not empty: .*${key}`) })
  await t.throwsAsync(run(from, dying(otherMove, { left: 5 })), { message: 'killed' })
  await t.throwsAsync(run(from, otherMove, { route: 'a+b to c+d' }), { instanceOf: Conflict, message: /here\+one to there\+two/ })
  await run(from, otherMove)
  await t.throwsAsync(run(from, otherMove), { instanceOf: Conflict, message: /not empty/ })
  await t.throwsAsync(run(await stores(t), await stores(t), { instance: undefined }), { instanceOf: Invalid, message: /No installation/ })
})

test('damaged bytes end the migration, naming the record, unless they are skipped; missing ones are counted', async t => {
  const [from, to, missing] = [await stores(t), await stores(t), await stores(t)]
  await fill(from)
  const blob = (await from.documents.get(papers, 'p-9'))?.inner.blob ?? ''
  const wrong = testBytes(71_271, 99)
  const blobs: Stores['blobs'] = Object.assign(Object.create(from.blobs), {
    stat: (key: string) => from.blobs.stat(key),
    list: () => from.blobs.list(),
    get: async (key: string) => (key === blob ? (await import('node:stream')).Readable.from([wrong]) : from.blobs.get(key)),
  })
  const damaged = { documents: from.documents, blobs }
  await t.throwsAsync(run(damaged, to), { instanceOf: Invalid, message: /papers p-9 .*damaged/ })
  t.like(await run(damaged, to, { skipDamaged: true }), { withoutBytes: 1, blobs: 27 })
  await from.blobs.remove(blob)
  t.like(await run(from, missing), { withoutBytes: 1, blobs: 27 })
  t.is((await missing.documents.get(papers, 'p-9'))?.title, 'Paper 9')
})

test('bytes or records that differ from the source are detected', async t => {
  const [from, to] = [await stores(t), await stores(t)]
  await fill(from)
  const forgetful: Stores['blobs'] = Object.assign(Object.create(to.blobs), {
    put: async (...given: Parameters<Stores['blobs']['put']>) => {
      const info = await to.blobs.put(...given)
      if (info.sizeBytes === 15_838) await to.blobs.remove(info.key)
      return info
    },
    list: () => to.blobs.list(),
    stat: (key: string) => to.blobs.stat(key),
  })
  await t.throwsAsync(run(from, { documents: to.documents, blobs: forgetful }), {
    instanceOf: Invalid,
    message: /differ from the source/,
  })
  await t.throwsAsync(refuseUnfinishedMove(to.documents))
})

test('bytes outside the stores are not migrated, and records keep their keys', async t => {
  const [from, to] = [await stores(t), await stores(t)]
  await fill(from, 2)
  await from.documents.commit({ insert: { id: 'p-out', title: 'Outside', inner: { blob: 'outside/1' }, note: null }, into: papers })
  const blobs = new Proxy(from.blobs, {
    get: (inner, member) => {
      if (member === 'liesElsewhere') return (key: string) => key.startsWith('outside/')
      const value: unknown = Reflect.get(inner, member, inner)
      return typeof value === 'function' ? value.bind(inner) : value
    },
  })
  t.like(await run({ ...from, blobs }, to), { blobs: 2, withoutBytes: 0 })
  t.is((await to.documents.get(papers, 'p-out'))?.inner.blob, 'outside/1')
})
