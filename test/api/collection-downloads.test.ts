import test from 'ava'
import { Datasets } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { downloaded, newFolder, unzip, uploadBytes } from '../support/archives.ts'
import { letIn, newCollection, newDataset, newSpace, recordPlugins, type Somebody, somebody } from '../support/spaces-and-people.ts'

/** On a private server callers see only what they have rights to. */
const server = await bootForTest({ plugins: recordPlugins, env: { POUNCE_ACCESS__PRIVATE: 'true' } })
test.after.always(() => server.stop())
const unknownId = 'f'.repeat(24)

/** A dataset in these collections, with one file named after it. */
const datasetIn = async (owner: Somebody, name: string, collections: readonly string[], more: object = {}): Promise<string> => {
  const dataset = await newDataset(owner, { name, collection: collections, ...more })
  await uploadBytes(owner, dataset, `${name}.txt`, name)
  return dataset
}
const pathsOf = async (person: Somebody, collection: string) => [
  ...(await unzip(await downloaded(person, `/api/collections/${collection}/download`))).keys(),
]

test('the archive of a collection has a folder for each dataset and each subcollection', async t => {
  const ann = await somebody(server)
  const [top, inner] = [await newCollection(ann, { name: 'Top' }), await newCollection(ann, { name: 'Inner' })]
  t.is((await ann.post(`/api/collections/${top}/addSubCollection/${inner}`)).status, 200)
  const soil = await datasetIn(ann, 'soil', [top, inner])
  await uploadBytes(ann, soil, 'deep.txt', 'deep', { folder: await newFolder(ann, soil, 'layer') })
  const twins = [await datasetIn(ann, 'twin', [top]), await datasetIn(ann, 'twin', [top])]
  await newDataset(ann, { name: 'empty', collection: [top] })
  const gone = await datasetIn(ann, 'gone', [top])
  t.is((await ann.remove(`/api/datasets/${gone}`)).status, 200)
  const response = await ann.call(`/api/collections/${top}/download`)
  t.regex(response.headers.get('content-disposition') ?? '', /filename="Top\.zip"/)
  const archive = Buffer.from(await response.arrayBuffer())
  t.is(Number(response.headers.get('content-length')), archive.length)
  t.deepEqual(
    [...(await unzip(archive)).keys()].toSorted(),
    [
      'Inner/soil/layer/deep.txt',
      'Inner/soil/soil.txt',
      'soil/layer/deep.txt',
      'soil/soil.txt',
      ...twins.map(id => `twin_${id}/twin.txt`),
    ].toSorted(),
  )
})

test('a subcollection with several parents is included once', async t => {
  const ann = await somebody(server)
  const [top, left, right, shared] = await Promise.all(['top', 'left', 'right', 'shared'].map(name => newCollection(ann, { name })))
  for (const [parent, child] of [
    [top, left],
    [top, right],
    [left, shared],
    [right, shared],
  ]) {
    t.is((await ann.post(`/api/collections/${parent}/addSubCollection/${child}`)).status, 200)
  }
  await datasetIn(ann, 'once', [shared ?? ''])
  const paths = await pathsOf(ann, top ?? '')
  t.is(paths.length, 1)
  t.regex(paths[0] ?? '', /^(left|right)\/shared\/once\/once\.txt$/)
})

test('datasets that the caller may view but not download are named; inaccessible ones are not', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [open, closed] = [await newSpace(ann), await newSpace(ann)]
  const collection = await newCollection(ann, { space: open })
  const mayHave = await datasetIn(ann, 'may-have', [collection], { space: [open] })
  const maySee = await datasetIn(ann, 'may-see', [collection], { access: 'PRIVATE' })
  await datasetIn(ann, 'may-not-see', [collection], { space: [closed], access: 'PRIVATE' })
  await letIn(ann, open, 'Editor', bob)
  const viewed = await newSpace(ann)
  t.is((await ann.post(`/api/spaces/${viewed}/addDatasetToSpace/${maySee}`)).status, 200)
  await letIn(ann, viewed, 'Viewer', bob)
  await server.drained()
  t.truthy(await server.get(Datasets).get(mayHave))
  const found = await unzip(await downloaded(bob, `/api/collections/${collection}/download`))
  t.deepEqual([...found.keys()], ['_left_out.txt', 'may-have/may-have.txt'])
  const note = String(found.get('_left_out.txt'))
  t.true(note.includes(`${maySee}  may-see`))
  t.false(note.includes('may-not-see'))
  t.is((await pathsOf(ann, collection)).length, 3)
  const bag = await unzip(await downloaded(bob, `/api/collections/${collection}/download?bagit=true`))
  t.is(String(bag.get('metadata/left-out.txt')), note)
  t.false([...bag.values()].some(bytes => bytes.includes('may-not-see')))
})

test('downloading a collection requires permission to download', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  const collection = await newCollection(ann, { space })
  await datasetIn(ann, 'some', [collection], { space: [space] })
  await letIn(ann, space, 'Viewer', bob)
  t.is((await bob.get(`/api/collections/${collection}/download`)).status, 403)
  for (const id of [unknownId, 'nonsense']) t.is((await ann.get(`/api/collections/${id}/download`)).status, 404)
  const alone = await newCollection(ann)
  t.deepEqual(await pathsOf(ann, alone), [])
})
