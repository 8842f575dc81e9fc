import test from 'ava'
import { AccessTrails, anonymous, DocumentStore, Unavailable } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { byCookie, signIn } from '../support/people.ts'
import { ok, upload } from '../support/scene.ts'
import { newDataset, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

interface Line {
  readonly type: string
  readonly actor: { readonly id: string } | null
  readonly user: { readonly id: string } | null
  readonly subject: { readonly kind: string; readonly id: string } | null
  readonly about: Readonly<Record<string, unknown>>
  readonly address: string | null
  readonly count: number
}

/** The number of reads that these lines represent. */
const readsIn = (lines: readonly Line[]): number => lines.reduce((sum, { count }) => sum + count, 0)

/** The right to view does not always include downloads: here only public files can be downloaded by all callers. */
const server = await bootForTest({ config: { access: { private: true } } })
test.after.always(() => server.stop())

const linesOn =
  (id: string, on: TestServer = server, type = 'access.download') =>
  async (): Promise<readonly Line[]> => {
    const lines = await ok<Line[]>(on.as(on.admin.key)(`/api/admin/audit?limit=500&type=${type}`))
    return lines.filter(({ subject }) => subject?.id === id).toReversed()
  }
const bytes = async (answer: Promise<Response>) => {
  const { status } = await answer
  return { status, text: await (await answer).text() }
}

test('a download of a private file is recorded with caller, address, key, status, range and outcome', async t => {
  const ann = await somebody(server, 'ann')
  const dataset = await newDataset(ann)
  const file = await upload(ann.call, dataset, '0123456789', 'secret-name.txt')
  t.is((await bytes(ann.call(`/api/files/${file}/blob?note=private-word`))).text, '0123456789')
  t.is((await bytes(ann.call(`/api/files/${file}/blob`, { headers: { range: 'bytes=2-4' } }))).status, 206)
  const lines = await until('two lines', linesOn(file), seen => seen.length === 2)
  t.deepEqual(
    lines.map(({ actor, address, about }) => [
      actor?.id,
      address,
      about['via'],
      about['status'],
      about['bytes'],
      about['range'],
      about['outcome'],
    ]),
    [
      [ann.id, '127.0.0.0/24', 'key', 200, 10, undefined, 'complete'],
      [ann.id, '127.0.0.0/24', 'key', 206, 3, 'bytes 2-4/10', 'complete'],
    ],
  )
  t.regex(String(lines[0]?.about['key']), /^[0-9a-f]{24}$/)
  const all = JSON.stringify(lines)
  for (const secret of [ann.key, ann.password, 'secret-name', 'private-word']) t.false(all.includes(secret))
})

test('reads that differ only in time are counted in one line, separately from other reads', async t => {
  // On a separate server: reading the log first writes pending lines.
  const quiet = await bootForTest({ t, config: { access: { private: true } } })
  const [ann, bob] = [await somebody(quiet, 'ann'), await somebody(quiet, 'bob')]
  const dataset = await newDataset(ann)
  const file = await upload(ann.call, dataset, '0123456789')
  const other = await upload(ann.call, dataset, '9876543210')
  const part = { headers: { range: 'bytes=2-4' } }
  const reads = Array.from({ length: 20 }, () => bytes(ann.call(`/api/files/${file}/blob`)))
  await Promise.all([...reads, bytes(ann.call(`/api/files/${file}/blob`, part)), bytes(ann.call(`/api/files/${other}/blob`))])
  t.is((await bytes(bob.call(`/api/files/${file}/blob`))).status, 404)
  const lines = await until('all reads', linesOn(file, quiet), seen => readsIn(seen) === 21)
  t.log(lines.map(({ count }) => count).join())
  t.true(lines.length < 21, JSON.stringify(lines))
  t.is(readsIn(lines.filter(({ about }) => about['range'] === undefined)), 20)
  t.is(readsIn(lines.filter(({ about }) => about['range'] === 'bytes 2-4/10')), 1)
  t.is(readsIn(await linesOn(other, quiet)()), 1)
  t.deepEqual([...new Set(lines.map(({ actor }) => actor?.id))], [ann.id])
})

test('a session is identified by its id, never by its cookie', async t => {
  const bob = await somebody(server, 'bob')
  const dataset = await newDataset(bob)
  const file = await upload(bob.call, dataset)
  const cookie = await signIn(server, bob.email, bob.password)
  const call = byCookie(server, cookie)
  await bytes(call(`/api/files/${file}/blob`))
  const [line] = await until('a line', linesOn(file), seen => seen.length === 1)
  const sessions = await ok<{ id: string }[]>(call('/api/sessions'))
  t.is(line?.about['session'], sessions[0]?.id)
  t.false(JSON.stringify(line).includes(cookie.split('=')[1] ?? '-'))
})

test('public downloads, descriptions and HEAD requests are not recorded by default', async t => {
  const ann = await somebody(server, 'ann')
  const [open, closed] = [await newDataset(ann, { name: 'Open' }), await newDataset(ann, { name: 'Closed' })]
  const [shown, hidden] = [await upload(ann.call, open), await upload(ann.call, closed)]
  await ok(ann.call(`/api/files/${hidden}/metadata`))
  await ann.call(`/api/files/${hidden}/blob`, { method: 'HEAD' })
  await bytes(ann.call(`/api/files/${hidden}/blob`))
  const lines = await until('a line', linesOn(hidden), seen => seen.length > 0)
  t.is(lines.length, 1)
  t.deepEqual(await linesOn(hidden, server, 'access.read')(), [])
  t.truthy(shown)
})

test('with `all`, reads of private resources are recorded too; with `off`, nothing is', async t => {
  for (const reads of ['all', 'off']) {
    const other = await bootForTest({ t, config: { access: { private: true }, resources: { audit: { reads } } } })
    const ann = await somebody(other, 'ann')
    const dataset = await newDataset(ann)
    const file = await upload(ann.call, dataset)
    await ok(ann.call(`/api/datasets/${dataset}`))
    await bytes(ann.call(`/api/files/${file}/blob`))
    if (reads === 'off') {
      t.deepEqual([...(await linesOn(dataset, other, 'access.read')()), ...(await linesOn(file, other)())], [])
      continue
    }
    const [line] = await until('a line', linesOn(dataset, other, 'access.read'), seen => seen.length > 0)
    t.like(line?.about, { operation: 'getDataset', status: 200 })
    t.is((await until('a line', linesOn(file, other), seen => seen.length > 0)).length, 1)
  }
})

test('creation and use of a download link are recorded, as is the download, without the token', async t => {
  const ann = await somebody(server, 'ann')
  const file = await upload(ann.call, await newDataset(ann), 'by link')
  const { link, id } = await ok<{ link: string; id: string }>(ann.call(`/files/${file}/links`, { method: 'POST' }))
  const token = link.split('/').at(-1) ?? ''
  t.is((await bytes(server.as()(`/files/links/${token}`))).text, 'by link')
  const [download] = await until('a line', linesOn(file), seen => seen.length === 1)
  t.like(download, { actor: null, about: { operation: 'getFileByLink', path: '/files/links/:link', bytes: 7 } })
  await server.drained()
  const [line] = await until('the use of the link', linesOn(file, server, 'file.link-used'), seen => seen.length > 0)
  t.like(line, { user: { id: ann.id }, address: '127.0.0.0/24', about: { link: id } })
  t.false(JSON.stringify(await ok(server.as(server.admin.key)('/api/admin/audit?limit=500'))).includes(token))
})

test('reads that fill the buffer several times a second are all recorded, and none is refused', async t => {
  const maxPendingReads = 2000
  const other = await bootForTest({ t, config: { resources: { audit: { maxPendingReads } } } })
  const documents = other.get(DocumentStore)
  const commitEach = documents.commitEach.bind(documents)
  let committing: Promise<unknown> | undefined
  documents.commitEach = (items => {
    const committed = commitEach(items)
    committing = committed
    return committed
  }) as typeof commitEach
  const [trail] = other.get(AccessTrails).all()
  const read = {
    ...{ caller: anonymous, requestId: 'r', method: 'GET', path: '/often', operation: 'readOften', subjects: [] },
    ...{ isDownload: true, address: '127.0.0.1' },
  }
  const reads = 3 * maxPendingReads
  for (let time = 0; time < reads; time += 1) {
    trail?.begin(read)({ status: 200, bytes: 1, isComplete: true })
    await new Promise(resolve => setImmediate(resolve))
    await committing
  }
  const lines = await ok<Line[]>(other.as(other.admin.key)('/api/admin/audit?limit=500&type=access.download'))
  t.is(readsIn(lines.filter(({ about }) => about['operation'] === 'readOften')), reads)
})

test('while the store is unavailable, downloads beyond the limit are refused or counted as lost, as configured', async t => {
  for (const whenReadsCannotBeRecorded of ['refuse', 'count']) {
    const audit = { maxPendingReads: 2, whenReadsCannotBeRecorded }
    const other = await bootForTest({ t, config: { access: { private: true }, resources: { audit } } })
    const ann = await somebody(other, 'ann')
    const file = await upload(ann.call, await newDataset(ann))
    const documents = other.get(DocumentStore)
    const commitEach = documents.commitEach.bind(documents)
    let isDown = true
    documents.commitEach = ((items: Parameters<typeof commitEach>[0]) =>
      isDown && items.some(({ change }) => 'into' in change && change.into.name === 'audit')
        ? Promise.reject(new Unavailable('The store takes nothing'))
        : commitEach(items)) as typeof commitEach
    const statuses: number[] = []
    for (let time = 0; time < 5; time++) statuses.push((await bytes(ann.call(`/api/files/${file}/blob?tracking=false`))).status)
    const later = whenReadsCannotBeRecorded === 'refuse' ? 503 : 200
    t.deepEqual(statuses, [200, 200, later, later, later])
    isDown = false
    t.is(readsIn(await until('a line', linesOn(file, other), seen => seen.length > 0)), 2)
    const lost = await ok<Line[]>(other.as(other.admin.key)('/api/admin/audit?type=access.lost'))
    t.deepEqual(
      lost.map(({ about }) => about['reads']),
      later === 503 ? [] : [3],
    )
    t.is((await bytes(ann.call(`/api/files/${file}/blob`))).status, 200)
    t.is(other.get(AccessTrails).all().length, 1)
  }
})
