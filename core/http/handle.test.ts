import test from 'ava'
import { type Log, port, routesFor, s } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { Container } from '../kernel/container.ts'
import { serve } from './testing/serve.ts'

const route = routesFor('things', {})
const responses = { 200: s.Array(s.String()) }

test('a handler finds its own request in the scope, and the kernel behind it', async t => {
  const routes = {
    look: route({
      method: 'GET',
      path: '/api/look',
      summary: 'x',
      permission: 'anyone',
      responses,
      async handle(request) {
        const known = [request.resolve(port<string>('requestId')), request.resolve(port<{ via: string }>('caller')).via]
        return { status: 200, body: [...known, request.resolve(port<string>('clock'))] }
      },
    }),
  }
  const kernel = new Container(new Map([['clock', 'the clock']]), [])
  const { url } = await serve(t, routes, { options: { openScope: values => kernel.requestScope(values) } })
  const answer = await fetch(`${url}/api/look`)
  t.deepEqual(await answer.json(), [answer.headers.get('x-request-id'), 'nothing', 'the clock'])
})

test('what a handler logs carries the id of its request', async t => {
  const lines: unknown[] = []
  const log: Log = { ...silent, info: (message, fields) => lines.push([message, fields]) }
  const routes = {
    say: route({
      method: 'GET',
      path: '/api/say',
      summary: 'x',
      permission: 'anyone',
      responses,
      async handle(request) {
        request.log.info('said', { more: 1 })
        return { status: 200, body: [] }
      },
    }),
  }
  const { url } = await serve(t, routes, { options: { log } })
  const answer = await fetch(`${url}/api/say`)
  t.deepEqual(
    lines.filter(line => Array.isArray(line) && line[0] === 'said'),
    [['said', { requestId: answer.headers.get('x-request-id'), more: 1 }]],
  )
})
