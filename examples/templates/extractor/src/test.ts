import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bootForTest } from 'pounce/sdk/testing'
import { plugin } from './index.ts'

test('an uploaded text gets the number of its words as metadata', async t => {
  const server = await bootForTest({ t, also: [plugin] })
  const me = server.as(server.admin.key)
  const made = await me('/api/datasets/createempty', { method: 'POST', json: { name: 'Texts', description: '' } })
  const dataset = ((await made.json()) as { readonly id: string }).id

  const body = new FormData()
  body.set('file', new Blob(['one two\nthree\n'], { type: 'text/plain' }), 'words.txt')
  const { id } = (await (await me(`/api/uploadToDataset/${dataset}`, { method: 'POST', body })).json()) as { readonly id: string }

  const status = async () => (await (await me(`/api/extractions/${id}/status`)).json()) as Readonly<Record<string, string>>
  const limit = Date.now() + 60_000
  while ((await status())['Status'] !== 'Done' && Date.now() < limit) await new Promise(resolve => setTimeout(resolve, 50))
  assert.equal((await status())['example.template'], 'DONE')

  const answer = await me(`/api/files/${id}/metadata.jsonld?extractor=example.template`)
  const found = (await answer.json()) as readonly { readonly content: unknown }[]
  assert.deepEqual(
    found.map(({ content }) => content),
    [{ lines: 2, words: 3 }],
  )
})
