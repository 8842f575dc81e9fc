import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { ok, upload } from '../support/scene.ts'
import { newCollection, newDataset, somebody } from '../support/spaces-and-people.ts'

test('all of several hundred comments and metadata documents are found, even with a large document among them', async t => {
  const server = await bootForTest({ t })
  const ann = await somebody(server, 'ann')
  const file = await upload(ann.call, await newDataset(ann), 'x', 'annotated.txt')
  const agent = { '@type': 'cat:user', user_id: 'https://example.org/u', name: 'U' }
  const post = async (path: string, json: object) => t.is((await ann.post(`/api/files/${file}/${path}`, json)).status, 200)
  const annotate = (content: unknown) => post('metadata.jsonld', { agent, content })
  const comment = (text: string) => post('comment', { text })
  const found = async (query: string): Promise<number> =>
    (await ok<{ count: number }>(ann.call(`/api/search?query=${encodeURIComponent(query)}`))).count
  await annotate({ oldest: 1 })
  for (let done = 0; done < 200; done += 50)
    await Promise.all(Array.from({ length: 50 }, (_, n) => [comment(`remark${done + n}`), annotate({ reading: done + n })]).flat())
  await comment('afterthought')
  await annotate({ newest: 2 })
  await server.drained()
  const queries = ['afterthought', 'comment:afterthought', 'comment:remark0', 'oldest==1', 'newest==2', 'reading==0', 'reading==199']
  for (const query of queries) t.is(await found(query), 1, query)
  await annotate({ long: 'x'.repeat(5_000_000), spectrum: Array.from({ length: 30_000 }, (_, n) => n) })
  await server.drained()
  for (const query of [...queries, 'spectrum==7']) t.is(await found(query), 1, query)
})

test('files that are indexed together have their own metadata, comments and tags of sections', async t => {
  const server = await bootForTest({ t })
  const ann = await somebody(server, 'ann')
  const dataset = await newDataset(ann)
  const post = async (path: string, json: object) => t.is((await ann.post(path, json)).status, 200, path)
  const files = await Promise.all(Array.from({ length: 7 }, (_, n) => upload(ann.call, dataset, 'x', `together${n}.txt`)))
  for (const [n, file] of files.entries()) {
    const spectrum = n === 3 ? Array.from({ length: 30_000 }, (_, at) => at) : []
    const long = n === 3 ? 'x'.repeat(5_000_000) : ''
    await post(`/api/files/${file}/metadata`, { serial: n, long, spectrum })
    await post(`/api/files/${file}/metadata`, { second: n })
    await post(`/api/files/${file}/comment`, { text: `remark${n}` })
    const { id } = (await ann.post('/api/sections', { file_id: file, area: { x: 1, y: 1, w: 2, h: 2 } })).body as { id: string }
    await post(`/api/sections/${id}/tags`, { tags: [`part${n}`] })
  }
  await server.drained()
  // Every file of the dataset is indexed again.
  await post(`/api/collections/${await newCollection(ann)}/datasets/${dataset}`, {})
  await server.drained()
  for (const [n, file] of files.entries())
    for (const query of [`serial==${n}`, `second==${n}`, `comment:remark${n}`, `tag:part${n}`]) {
      const { results } = await ok<{ results: readonly { id: string }[] }>(ann.call(`/api/search?query=${encodeURIComponent(query)}`))
      t.deepEqual(
        results.map(({ id }) => id),
        [file],
        query,
      )
    }
})
