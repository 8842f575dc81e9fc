import { access } from 'node:fs/promises'
import test from 'ava'
import { definePlugin, routesFor, s } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { memoryStore } from '../../test/support/memory-documents.ts'

const route = routesFor('greetings', {})
const routes = {
  greet: route({
    method: 'GET',
    path: '/api/greetings/:name',
    summary: 'A greeting',
    permission: 'anyone',
    params: s.Object({ name: s.line(50) }),
    responses: { 200: s.Object({ text: s.String() }) },
    async handle({ params }) {
      return { status: 200, body: { text: `Hello ${params.name}` } }
    },
  }),
}
const greetings = definePlugin({ id: 'test.greetings', summary: 'Greets.', routes })

test('a booted server answers, and stopping it removes its folder', async t => {
  const server = await bootForTest({ t, plugins: [memoryStore, greetings] })
  const answer = await server.as()('/api/greetings/Ada')
  t.deepEqual([answer.status, await answer.json()], [200, { text: 'Hello Ada' }])
  await server.drained()
  await server.stop()
  await t.throwsAsync(fetch(`${server.url}/healthz`))
  await t.throwsAsync(access(server.folder), { code: 'ENOENT' })
})

test('a restarted server runs on the same folder', async t => {
  const server = await bootForTest({ t, plugins: [memoryStore, greetings] })
  await server.restart()
  t.is((await server.as()('/healthz')).status, 200)
  t.is((await server.as()('/readyz')).status, 200)
})

test('without accounts there is no admin, and requesting one throws', async t => {
  const server = await bootForTest({ t, plugins: [greetings] })
  t.throws(() => server.admin, { message: /no plugin that runs here keeps accounts/ })
})

test('a failed boot names the invalid setting with its value, and the missing plugin', async t => {
  const config = s.Object({ most: s.Integer({ default: 1, description: 'For the test' }) })
  const plugin = definePlugin({ id: 'test.limited', summary: 'For the test.', config })
  const boot = (most: number) => bootForTest({ t, plugins: [plugin], config: { test: { limited: { most } } } })
  await t.throwsAsync(boot(Number.POSITIVE_INFINITY), { message: /test\.limited\.most must be a whole number \(is Infinity\)/ })
  await t.throwsAsync(boot(1.5), { message: /test\.limited\.most must be a whole number \(is 1\.5\)/ })
  await t.throwsAsync(bootForTest({ t, plugins: [plugin], without: ['blobs.dsk'] }), { message: /without: blobs\.dsk: no plugin/ })
})
