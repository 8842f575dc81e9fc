import test from 'ava'
import { routesFor, s } from 'pounce/sdk'
import { serve } from './testing/serve.ts'

const route = routesFor('waiting', {})

test('a request to a removed route is closed after the time limit, and its handler is aborted', async t => {
  const entered = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  const wait = route({
    method: 'GET',
    path: '/api/wait',
    summary: 'Wait',
    permission: 'anyone',
    responses: { 200: s.text() },
    async handle({ signal }) {
      entered.resolve()
      await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
      aborted.resolve()
      return { status: 200, body: 'too late' }
    },
  })
  const { url, http } = await serve(t, { wait })
  const refused = t.throwsAsync(fetch(`${url}/api/wait`))
  await entered.promise
  const replaced = http.replaceRoutes('resources.test', [], 20)
  t.is((await fetch(`${url}/api/wait`)).status, 404)
  await replaced
  await aborted.promise
  await refused
})

test('a removed root page is replaced by the redirect', async t => {
  const page = route({
    method: 'GET',
    path: '/',
    summary: 'Open the page',
    permission: 'anyone',
    responses: { 200: s.text() },
    handle: async () => ({ status: 200, body: 'page' }),
  })
  const { url, http } = await serve(t, { page })
  t.is(await (await fetch(`${url}/`)).text(), 'page')
  await http.replaceRoutes('resources.test', [], 0)
  const answer = await fetch(`${url}/`, { redirect: 'manual' })
  t.deepEqual([answer.status, answer.headers.get('location')], [302, 'docs'])
})

test('a removed route is 404, even if another plugin has its path with another method', async t => {
  const at = (method: 'GET' | 'PUT') =>
    route({
      method,
      path: '/api/wait',
      summary: 'Wait',
      permission: 'anyone',
      responses: { 200: s.text() },
      handle: async () => ({ status: 200, body: method }),
    })
  const { url, http } = await serve(t, { wait: at('GET') })
  const other = { plugin: 'resources.other', name: 'delay', route: at('PUT'), needs: {} }
  await http.replaceRoutes('resources.other', [other], 0)
  const ask = async (method: string) => {
    const answer = await fetch(`${url}/api/wait`, { method })
    return [answer.status, ((await answer.json().catch(() => ({}))) as { code?: string }).code]
  }
  t.deepEqual(await ask('PUT'), [200, undefined])
  await http.replaceRoutes('resources.other', [], 0)
  t.deepEqual(await ask('PUT'), [404, 'no-such-address'])
  t.deepEqual(await ask('DELETE'), [405, 'method-not-allowed'])
  await http.replaceRoutes('resources.other', [other], 0)
  t.deepEqual(await ask('PUT'), [200, undefined])
})
