import test, { type ExecutionContext } from 'ava'
import { bootForTest, liveTests, type TestServer } from 'pounce/sdk/testing'
import { flakyProxy } from '../../../test/support/flaky-proxy.ts'
import { newPerson, type Person } from '../../../test/support/people.ts'
import { newDataset, ok, upload } from '../../../test/support/scene.ts'
import { until } from '../../../test/support/until.ts'
import { ownPrefix } from './test-index.ts'

const { test: live, url } = liveTests(test, 'ELASTICSEARCH')

interface Result {
  readonly results: readonly { readonly id: string; readonly name: string }[]
  readonly total_size: number
}

async function boot(
  t: ExecutionContext,
  nodes = url('ELASTICSEARCH'),
  searchTimeoutMs = 10_000,
): Promise<{ readonly server: TestServer; readonly ann: Person }> {
  const env = {
    POUNCE_REPLACE_PLUGINS: 'search.elasticsearch',
    POUNCE_SEARCH__ELASTICSEARCH__NODES: nodes,
    POUNCE_SEARCH__ELASTICSEARCH__SEARCH_TIMEOUT_MS: String(searchTimeoutMs),
    POUNCE_SEARCH__ELASTICSEARCH__INDEX: ownPrefix(t, url('ELASTICSEARCH')),
  }
  const server = await bootForTest({ t, env })
  return { server, ann: await newPerson(server, 'ann') }
}

const search = (person: Person, query: string): Promise<Response> => person.call(`/api/search?query=${encodeURIComponent(query)}&size=1000`)
const names = async (person: Person, query: string): Promise<string[]> =>
  (await ok<Result>(search(person, query))).results.map(({ name }) => name).sort()

live('an uploaded file is found by name and metadata, except while it is in the trash', async t => {
  const { server, ann } = await boot(t)
  const dataset = await newDataset(ann.call, { name: 'Quercus survey' })
  const file = await upload(ann.call, dataset, 'x', 'plot-seventeen.txt')
  const agent = { '@type': 'cat:user', user_id: 'https://example.org/u', name: 'U' }
  const json = { agent, content: { instrument: { maker: 'Lichtblick' }, depth: 42.5, taken: '2021-04-19' } }
  await ok(ann.call(`/api/files/${file}/metadata.jsonld`, { method: 'POST', json }))
  await server.drained()
  t.deepEqual(await names(ann, 'quercus'), ['Quercus survey'])
  for (const query of ['seventeen', 'plot-sev', 'maker:licht*', 'depth>42', 'taken<2022-01-01 depth:42.5', `in:${dataset}`])
    t.deepEqual(await names(ann, query), ['plot-seventeen.txt'], query)
  t.is((await search(ann, 'depth>')).status, 400)
  await ok(ann.call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  await server.drained()
  t.deepEqual([...(await names(ann, 'quercus')), ...(await names(ann, 'seventeen'))], [])
  await ok(ann.call(`/api/datasets/restore/${dataset}`, { method: 'PUT' }))
  await server.drained()
  t.deepEqual(await names(ann, 'quercus OR seventeen'), ['Quercus survey', 'plot-seventeen.txt'])
  const status = await ok<{ plugins: Record<string, Record<string, unknown>> }>(server.as(server.admin.key)('/api/status'))
  t.like(status.plugins['elasticsearch'], { status: 'connected', server: url('ELASTICSEARCH') })
})

live('a reindex during concurrent uploads loses nothing', async t => {
  const { server, ann } = await boot(t)
  const dataset = await newDataset(ann.call, { name: 'busy' })
  const admin = server.as(server.admin.key)
  const uploaded = new Set<string>()
  for (let round = 0; round < 4; round += 1) {
    await ok(admin('/api/reindex', { method: 'POST' }))
    for (let n = 0; n < 8; n += 1) {
      const name = `report${round}x${n}.txt`
      await upload(ann.call, dataset, name, name)
      uploaded.add(name)
    }
  }
  await server.drained()
  await until(
    'every upload to be found',
    () => names(ann, 'report*'),
    found => found.length === uploaded.size,
  )
  t.deepEqual(await names(ann, 'report*'), [...uploaded].sort())
  await until(
    'the rebuild to end',
    async () => (await admin('/api/deleteindex', { method: 'POST' })).status,
    status => status === 200,
  )
  await until(
    'the index to be empty',
    () => names(ann, 'report*'),
    found => found.length === 0,
  )
  await ok(admin('/api/reindex', { method: 'POST' }))
  await until(
    'all uploads to be found again',
    () => names(ann, 'report*'),
    found => found.length === uploaded.size,
  )
})

for (const mode of ['refuse', 'silent'] as const) {
  live(`while the search server is unavailable (${mode}), uploads continue, and are found once it is back`, async t => {
    const proxy = await flakyProxy(t, url('ELASTICSEARCH'))
    const { server, ann } = await boot(t, proxy.urlFor(url('ELASTICSEARCH')), 1800)
    const dataset = await newDataset(ann.call, { name: 'outage' })
    await server.drained()
    await proxy.become(mode)
    const refused = await search(ann, 'outage')
    t.is(refused.status, 503)
    t.truthy(refused.headers.get('retry-after'))
    for (let n = 0; n < 5; n += 1) await upload(ann.call, dataset, `${n}`, `meanwhile${n}.txt`)
    const status = await ok<{ plugins: Record<string, Record<string, unknown>> }>(server.as(server.admin.key)('/api/status'))
    t.is(status.plugins['elasticsearch']?.['status'], 'disconnected')
    await proxy.become('pass')
    await until(
      'the search to succeed',
      async () => (await search(ann, 'outage')).status,
      status => status === 200,
    )
    await until(
      'the uploads to be found',
      () => names(ann, 'meanwhile*'),
      found => found.length === 5,
      60_000,
    )
  })
}
