import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { SearchableFiles } from '../../plugins/resources/files/searchable-files.ts'
import { newPerson } from '../support/people.ts'
import { newDataset, ok, upload } from '../support/scene.ts'

const described: string[] = []

test('a file is described for the index once after its upload and once after a change of its tags', async t => {
  const { describe } = SearchableFiles.prototype
  SearchableFiles.prototype.describe = function (ids) {
    described.push(...ids)
    return describe.call(this, ids)
  }
  t.teardown(() => {
    SearchableFiles.prototype.describe = describe
  })
  const server = await bootForTest({ t })
  const ann = await newPerson(server, 'ann')
  const file = await upload(ann.call, await newDataset(ann.call), 'x', 'leaf.bin')
  await server.drained()
  t.deepEqual(described.splice(0), [file])
  await ok(ann.call(`/api/files/${file}/tags`, { method: 'POST', json: { tags: ['oak'] } }))
  await server.drained()
  t.deepEqual(described, [file])
})
