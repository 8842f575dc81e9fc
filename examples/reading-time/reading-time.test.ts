import { fileURLToPath } from 'node:url'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'

test('an uploaded text gets its reading time as metadata', async t => {
  const server = await bootForTest({ t, also: [fileURLToPath(new URL('.', import.meta.url))] })
  const me = server.as(server.admin.key)
  const made = await me('/api/datasets/createempty', { method: 'POST', json: { name: 'Texts', description: '' } })
  const dataset = ((await made.json()) as { readonly id: string }).id

  const body = new FormData()
  body.set('file', new Blob(['word '.repeat(450)], { type: 'text/plain' }), 'novel.txt')
  const { id } = (await (await me(`/api/uploadToDataset/${dataset}`, { method: 'POST', body })).json()) as { readonly id: string }

  const status = async () => (await (await me(`/api/extractions/${id}/status`)).json()) as Readonly<Record<string, string>>
  const limit = Date.now() + 60_000
  while ((await status())['Status'] !== 'Done' && Date.now() < limit) await new Promise(resolve => setTimeout(resolve, 50))
  t.is((await status())['example.reading-time'], 'DONE')

  const found = await (await me(`/api/files/${id}/metadata.jsonld?extractor=example.reading-time`)).json()
  t.like(found, [{ content: { minutes: 3 } }])
})
