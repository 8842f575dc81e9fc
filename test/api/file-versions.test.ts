import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, newFolder, ok, unknownId, upload } from '../support/scene.ts'

let server: TestServer
let ann: Person
let bob: Person
test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
})
test.after.always(() => server?.stop())

test('versions of a file are the files with its name in its folder, newest first, for callers who may view it', async t => {
  const dataset = await newDataset(ann.call)
  const folder = await newFolder(ann.call, dataset, 'a')
  const first = await upload(ann.call, dataset, 'one', 'x.csv')
  const second = await upload(ann.call, dataset, 'longer', 'x.csv')
  await upload(ann.call, dataset, 'else', 'y.csv')
  const inFolder = await upload(ann.call, dataset, 'three', 'x.csv', { query: `folder_id=${folder}` })
  const of = (id: string) => ok<{ id: string; sizeBytes: number; author: { id: string } }[]>(ann.call(`/api/files/${id}/versions`))
  const versions = await of(first)
  t.deepEqual(
    versions.map(({ id, sizeBytes, author }) => [id, sizeBytes, author.id]),
    [
      [second, 6, ann.id],
      [first, 3, ann.id],
    ],
  )
  t.deepEqual(
    (await of(inFolder)).map(({ id }) => id),
    [inFolder],
  )
  t.is((await bob.call(`/api/files/${first}/versions`)).status, 404)
  t.is((await ann.call(`/api/files/${unknownId}/versions`)).status, 404)
  t.is((await server.as()(`/api/files/${first}/versions`)).status, 401)
})
