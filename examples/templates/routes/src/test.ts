import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bootForTest } from 'pounce/sdk/testing'
import { plugin } from './index.ts'

test('people see their own notes, oldest first', async t => {
  const server = await bootForTest({ t, also: [plugin], config: { example: { template: { most: 2 } } } })
  const me = server.as(server.admin.key)
  const add = (text: string) => me('/api/template/notes', { method: 'POST', json: { text } })

  for (const text of ['first', 'second']) assert.equal((await add(text)).status, 200)
  const found = (await (await me('/api/template/notes')).json()) as readonly { readonly text: string }[]
  assert.deepEqual(
    found.map(({ text }) => text),
    ['first', 'second'],
  )
  assert.equal((await add('third')).status, 400, 'the maximum is two')
  assert.equal((await add('')).status, 400, 'a note has a text')
  assert.equal((await server.as()('/api/template/notes')).status, 401, 'without signing in')
})
