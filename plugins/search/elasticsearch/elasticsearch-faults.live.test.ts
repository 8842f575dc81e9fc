import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { type SearchIndex, Unavailable } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { liveTests } from '../../../sdk/testing/live-server.ts'
import { found, put, request, searchDocument, streamOf, word } from '../../../sdk/testing/search-documents.ts'
import { flakyProxy } from '../../../test/support/flaky-proxy.ts'
import { until } from '../../../test/support/until.ts'
import { IndexNames } from './index-names.ts'
import { ownPrefix, startedIndex } from './test-index.ts'

const { test: live, url } = liveTests(test, 'ELASTICSEARCH')
/** The default settings. */
const limits = { searchTimeoutMs: 1800, writeTimeoutMs: 3000, refreshMs: 50 }

async function behindProxy(t: ExecutionContext) {
  const proxy = await flakyProxy(t, url('ELASTICSEARCH'), { slowMs: 4000 })
  const prefix = ownPrefix(t, url('ELASTICSEARCH'))
  const index = await startedIndex(t, proxy.urlFor(url('ELASTICSEARCH')), { index: prefix, ...limits })
  return { proxy, prefix, index }
}

/** The result of calls that may be delayed by other tests on the same server. */
const answered = <T>(work: () => Promise<T>): Promise<{ readonly value: T } | undefined> =>
  until('an answer from the server', () =>
    work().then(
      value => ({ value }),
      error => {
        if (error instanceof Unavailable) return undefined
        throw error
      },
    ),
  )

const idsIn = async (index: SearchIndex): Promise<unknown> => (await answered(() => found(index, { op: 'all' })))?.value

for (const mode of ['refuse', 'silent', 'slow', 'cut'] as const) {
  live(`with the proxy in mode ${mode}, searches and changes throw Unavailable; they succeed again once it passes requests`, async t => {
    const { proxy, index } = await behindProxy(t)
    await answered(() => index.apply([put(1, { name: 'before' })]))
    await proxy.become(mode)
    await t.throwsAsync(index.search(request(word('before'))), { instanceOf: Unavailable })
    await t.throwsAsync(index.apply([put(2, { name: 'meanwhile' })]), { instanceOf: Unavailable })
    await t.throwsAsync(index.health?.() ?? Promise.resolve(), { instanceOf: Unavailable })
    await t.throwsAsync(index.rebuild(streamOf([searchDocument(3)])), { instanceOf: Unavailable })
    await proxy.become('pass')
    await answered(() => index.apply([put(2, { name: 'meanwhile' })]))
    t.deepEqual(await idsIn(index), [1, 2])
  })
}

live('while the server is unavailable, all waiting callers are rejected, however many changes are pending', async t => {
  const { proxy, index } = await behindProxy(t)
  await proxy.become('silent')
  const tries = Array.from({ length: 40 }, (_, n) => index.apply(Array.from({ length: 100 }, (_, m) => put(100 * n + m + 1))))
  const outcomes = await Promise.allSettled(tries)
  t.true(outcomes.every(({ status }) => status === 'rejected'))
})

live('a server that is unavailable at startup does not abort it, and is used as soon as it is reachable', async t => {
  const proxy = await flakyProxy(t, url('ELASTICSEARCH'))
  const prefix = ownPrefix(t, url('ELASTICSEARCH'))
  await proxy.become('refuse')
  const warnings: string[] = []
  const log = { ...silent, warn: (message: string) => warnings.push(message) }
  const index = await startedIndex(t, proxy.urlFor(url('ELASTICSEARCH')), { index: prefix, ...limits }, log)
  t.regex(warnings[0] ?? '', /unavailable/)
  await t.throwsAsync(index.search(request({ op: 'all' })), { instanceOf: Unavailable })
  await proxy.become('pass')
  t.deepEqual(await idsIn(index), [])
  t.deepEqual(await answered(() => index.needsRebuild()), { value: true })
  await answered(() => index.apply([put(1)]))
  t.deepEqual(await idsIn(index), [1])
})

live('an index that was deleted on the server is recreated, empty, and requires a rebuild', async t => {
  const server = url('ELASTICSEARCH')
  const prefix = ownPrefix(t, server)
  const index = await startedIndex(t, server, { index: prefix })
  await index.rebuild(streamOf([searchDocument(1)]))
  t.false(await index.needsRebuild())
  const names = new IndexNames(prefix)
  const remove = async (): Promise<void> => {
    const held = Object.keys((await (await fetch(`${server}/_alias/${names.live}`)).json()) as object)
    await fetch(`${server}/${held.join(',')}`, { method: 'DELETE' })
  }
  await remove()
  await index.apply([put(2)])
  t.deepEqual(await found(index, { op: 'all' }), [2])
  await remove()
  t.deepEqual(await found(index, { op: 'all' }), [])
  t.true(await index.needsRebuild())
  await index.rebuild(streamOf([searchDocument(1)]))
  t.deepEqual(await found(index, { op: 'all' }), [1])
  const all = Object.keys((await (await fetch(`${server}/${names.all}`)).json()) as object)
  t.is(all.length, 1)
})

live('an index or alias of another program under the name of ours is Unavailable, with what to do, until it is deleted', async t => {
  const server = url('ELASTICSEARCH')
  const prefix = ownPrefix(t, server)
  const { live: alias } = new IndexNames(prefix)
  const call = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${server}/${path}`, { method, ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }) })
  const foreign = { mappings: { properties: { name: { type: 'long' } } } }
  const warned: unknown[] = []
  const log = { ...silent, warn: (_message: string, { error }: { readonly error?: unknown } = {}) => warned.push(error) }
  const refused = {
    instanceOf: Unavailable,
    message: /another program .*: delete it, or set search\.elasticsearch\.index to another prefix/,
  }
  await call('PUT', alias, foreign)
  const index = await startedIndex(t, server, { index: prefix, ...limits }, log)
  t.regex(String(warned[0]), refused.message)
  const refuses = async (): Promise<void> => {
    await t.throwsAsync(index.search(request(word('before'))), refused)
    await t.throwsAsync(index.search(request({ op: 'all' })), refused)
    await t.throwsAsync(index.health?.() ?? Promise.resolve(), refused)
    await t.throwsAsync(index.apply([put(1)]), refused)
    await t.throwsAsync(index.needsRebuild(), refused)
  }
  await refuses()
  await call('DELETE', alias)
  const other = `${prefix}.other`
  await call('PUT', other, { ...foreign, aliases: { [alias]: {} } })
  await refuses()
  await call('DELETE', other)
  await answered(() => index.apply([put(1)]))
  t.deepEqual(await idsIn(index), [1])
})

live('a read-only or closed index, and a taken name, are Unavailable with the reason of the server, until they are corrected', async t => {
  const server = url('ELASTICSEARCH')
  const prefix = ownPrefix(t, server)
  const { live: alias, first } = new IndexNames(prefix)
  const call = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${server}/${path}`, { method, ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }) })
  await call('PUT', alias)
  const index = await startedIndex(t, server, { index: prefix, ...limits })
  await t.throwsAsync(index.apply([put(1)]), { instanceOf: Unavailable, message: /an index of another program/ })
  await call('DELETE', alias)
  await answered(() => index.apply([put(1)]))

  await call('PUT', `${alias}/_settings`, { 'index.blocks.read_only_allow_delete': true })
  await t.throwsAsync(index.apply([put(2)]), { instanceOf: Unavailable, message: /cluster_block_exception.*read-only/ })
  await call('PUT', `${alias}/_settings`, { 'index.blocks.read_only_allow_delete': null })
  await answered(() => index.apply([put(2)]))

  await call('POST', `${first}/_close`)
  await t.throwsAsync(index.search(request({ op: 'all' })), { instanceOf: Unavailable, message: /closed/ })
  await call('POST', `${first}/_open`)
  t.deepEqual(await idsIn(index), [1, 2])
})

live('an index in an older format is kept while kernels write to it, and what they wrote leads to another rebuild', async t => {
  const server = url('ELASTICSEARCH')
  const prefix = ownPrefix(t, server)
  const older = `${server}/${prefix}.0.first`
  await fetch(older, { method: 'PUT' })
  const write = (id: number) =>
    fetch(`${older}/_doc/${id}`, { method: 'PUT', body: '{}', headers: { 'content-type': 'application/json' } }).then(({ ok }) =>
      t.true(ok),
    )
  await write(1)
  const index = await startedIndex(t, server, { index: prefix }, silent, 300)
  t.true(await index.needsRebuild())
  await index.rebuild(streamOf([searchDocument(1)]))
  t.false(await index.needsRebuild())
  await write(2)
  t.false(await index.needsRebuild(), 'it may be being written')
  t.true(await index.needsRebuild())
  await index.rebuild(streamOf([searchDocument(1), searchDocument(2)]))
  t.true((await fetch(older)).ok)
  await until('the older index to be deleted', async () => {
    t.false(await index.needsRebuild())
    return (await fetch(older)).status === 404
  })
  t.false(await index.needsRebuild())
  t.deepEqual(await found(index, { op: 'all' }), [1, 2])
})

/** A server that answers every request with the same status. */
async function answering(
  t: ExecutionContext,
  status: number,
  product = 'Elasticsearch',
  bodyOf = (_path: string) => '{"error":{"type":"made_up","reason":"as told"}}',
): Promise<string> {
  const server = createServer(({ url: path = '' }, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...(product === '' ? {} : { 'x-elastic-product': product }) })
    response.end(bodyOf(path))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that answers every search at once, behind a proxy. */
async function prompt(t: ExecutionContext) {
  const { live: alias, first } = new IndexNames('x')
  const found = '{"timed_out":false,"hits":{"total":{"value":0},"hits":[]}}'
  const aliases = JSON.stringify({ [first]: { aliases: { [alias]: {} } } })
  const server = await answering(t, 200, 'Elasticsearch', path => (path.startsWith('/_alias/') ? aliases : found))
  const proxy = await flakyProxy(t, server, { slowMs: 4000 })
  return { proxy, start: () => startedIndex(t, proxy.urlFor(server), { index: 'x', ...limits }) }
}

for (const mode of ['refuse', 'silent', 'slow', 'cut'] as const)
  test(`after proxy mode ${mode}, the next request is sent to the server again`, async t => {
    const { proxy, start } = await prompt(t)
    const index = await start()
    await index.health()
    for (let times = 0; times < 3; times += 1) {
      await proxy.become(mode)
      await t.throwsAsync(index.health(), { instanceOf: Unavailable })
      await proxy.become('pass')
      await t.notThrowsAsync(index.health())
    }
  })

test('the next request is sent to a server that was unavailable at startup', async t => {
  const { proxy, start } = await prompt(t)
  await proxy.become('refuse')
  const index = await start()
  await t.throwsAsync(index.health(), { instanceOf: Unavailable })
  await proxy.become('pass')
  await t.notThrowsAsync(index.health())
})

const wrong: readonly (readonly [title: string, status: number, product: string, message: RegExp])[] = [
  ['credentials', 401, 'Elasticsearch', /^search\.elasticsearch\.password: /],
  ['rights', 403, 'Elasticsearch', /^search\.elasticsearch\.username: .*as told/],
  ['server', 200, '', /^search\.elasticsearch\.nodes: /],
]
for (const [title, status, product, message] of wrong) {
  test(`startup is aborted for wrong ${title}, with an error that names the setting`, async t => {
    const server = await answering(t, status, product)
    await t.throwsAsync(startedIndex(t, server, { index: 'x', username: 'u', password: 'very secret' }), { message })
  })
}

test('startup is aborted for a missing CA file, with an error that names the setting', async t => {
  const start = startedIndex(t, 'https://127.0.0.1:1', { index: 'x', caFile: '/nowhere/ca.pem' })
  await t.throwsAsync(start, { message: /^search\.elasticsearch\.caFile: .*nowhere/ })
})

test('an overloaded server is reported as unavailable', async t => {
  const index = await startedIndex(t, await answering(t, 429), { index: 'x' })
  await t.throwsAsync(index.search(request({ op: 'all' })), { instanceOf: Unavailable })
  await t.throwsAsync(index.apply([put(1)]), { instanceOf: Unavailable })
})
