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
