import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bootForTest } from 'pounce/sdk/testing'
import { plugin } from './index.ts'

test('the web interface offers the viewer, and gets its module', async t => {
  const server = await bootForTest({ t, also: [plugin] })
  const me = server.as(server.admin.key)
  const all = (await (await me('/api/web/contributions')).json()) as readonly { readonly id: string; readonly module: string }[]
  const viewer = all.find(({ id }) => id === 'example.template.table')
  assert.ok(viewer)
  const module = await me(viewer.module)
  assert.equal(module.headers.get('content-type')?.split(';')[0], 'text/javascript')
  assert.match(await module.text(), /export const mount/)
})
