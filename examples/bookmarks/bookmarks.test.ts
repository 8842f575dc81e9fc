import { fileURLToPath } from 'node:url'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'

const server = await bootForTest({
  also: [fileURLToPath(new URL('.', import.meta.url))],
  config: { example: { bookmarks: { most: 2 } } },
})
test.after.always(() => server.stop())
const me = server.as(server.admin.key)

const newFile = async (): Promise<string> => {
  const body = new FormData()
  body.set('file', new Blob(['some text']), 'notes.txt')
  const answer = await me('/api/files', { method: 'POST', body })
  return ((await answer.json()) as { readonly id: string }).id
}

const marked = async (): Promise<unknown> => (await me('/api/bookmarks')).json()

test('a bookmark is kept once, and is deleted with its file', async t => {
  const [first, second, third] = [await newFile(), await newFile(), await newFile()]
  for (const file of [first, second, first]) t.is((await me(`/api/files/${file}/bookmark`, { method: 'POST' })).status, 200)
  t.deepEqual(await marked(), [{ id: first }, { id: second }])

  t.is((await me(`/api/files/${third}/bookmark`, { method: 'POST' })).status, 400, 'the maximum is two')
  t.is((await me(`/api/files/${'f'.repeat(24)}/bookmark`, { method: 'POST' })).status, 404)
  t.is((await server.as()('/api/bookmarks')).status, 401)

  await me(`/api/files/${first}`, { method: 'DELETE' })
  await server.drained()
  t.deepEqual(await marked(), [{ id: second }])
})
