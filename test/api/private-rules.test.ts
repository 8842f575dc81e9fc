import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { accessPlugins } from '../support/access-world.ts'
import { downloaded, unzip } from '../support/archives.ts'
import { type Calls, callsOf, idsOf } from '../support/calls.ts'
import { formWith, newFolder, upload } from '../support/scene.ts'
import { letIn, newCollection, newDataset, newSpace, publish, type Somebody, somebody } from '../support/spaces-and-people.ts'

const boot = (isPrivate: boolean): Promise<TestServer> =>
  bootForTest({ plugins: [...accessPlugins, 'resources.relations'], config: { access: { private: isPrivate } } })
const [shut, open] = await Promise.all([boot(true), boot(false)])
const nobody = callsOf(shut.as())
const ann = await somebody(shut, 'ann')
const stranger = await somebody(shut, 'stranger')
test.after.always(() => Promise.all([shut, open].map(server => server.stop())))

const status = async (by: Calls, path: string): Promise<number> => (await by.get(path)).status
const toAccess = async (by: Calls, dataset: string, access: string): Promise<void> => {
  const answer = await by.put(`/api/datasets/${dataset}/access?access=${access}`)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
}

/** A dataset with a file in a folder, and an attached resource of each kind; paths by kind. */
const furnished = async (by: Somebody, more: object) => {
  const dataset = await newDataset(by, more)
  const folder = await newFolder(by.call, dataset, 'folder')
  const file = await upload(by.call, dataset, 'hello', 'hello.txt', { query: `extract=false&folder_id=${folder}` })
  const idOf = async (answer: Promise<{ body: unknown }>) => String(((await answer).body as { id: unknown }).id)
  const section = await idOf(by.post('/api/sections', { file_id: file, description: 'part' }))
  const sent = async (path: string) => {
    const answer = await by.call(path, { method: 'POST', body: formWith('picture', 'picture.png', 'image/png') })
    return ((await answer.json()) as { id: string }).id
  }
  const [preview, thumbnail] = [await sent('/api/previews'), await sent('/api/fileThumbnail')]
  await by.post(`/api/files/${file}/previews/${preview}`, { extractor_id: 'x' })
  await by.post(`/api/files/${file}/thumbnails/${thumbnail}`)
  const looks = {
    dataset: `/api/datasets/${dataset}`,
    files: `/api/datasets/${dataset}/files`,
    file: `/api/files/${file}/metadata`,
    tags: `/api/files/${file}/tags`,
    metadata: `/api/files/${file}/metadata.jsonld`,
    section: `/api/sections/${section}`,
    preview: `/api/previews/${preview}`,
    thumbnail: `/api/thumbnails/${thumbnail}`,
  }
  return { dataset, file, looks: Object.entries(looks), download: `/api/files/${file}` }
}

test('on a private server anonymous callers see only public resources and what is attached to them', async t => {
  const shown = await furnished(ann, {})
  await toAccess(ann, shown.dataset, 'PUBLIC')
  const hidden = await furnished(ann, {})
  for (const [kind, path] of shown.looks) t.is(await status(nobody, path), 200, kind)
  for (const [kind, path] of hidden.looks) t.is(await status(nobody, path), 401, kind)
  for (const [kind, path] of hidden.looks) t.is(await status(stranger, path), 404, kind)
  t.is(await status(nobody, shown.download), 401)
  t.is(await status(stranger, shown.download), 403)
  await toAccess(ann, shown.dataset, 'PRIVATE')
  for (const [kind, path] of shown.looks) t.is(await status(nobody, path), 401, kind)
})

test('a dataset with default access and a collection are as public as their spaces', async t => {
  const [space, other] = [await newSpace(ann), await newSpace(ann)]
  const [usual, shutOff] = [await newDataset(ann, { name: 'whimbrel', space: [space, other] }), await newDataset(ann, { space: [space] })]
  await toAccess(ann, shutOff, 'PRIVATE')
  const collection = await newCollection(ann, { space })
  const seen = async () => [await status(nobody, `/api/datasets/${usual}`), await status(nobody, `/api/collections/${collection}`)]
  t.deepEqual(await seen(), [401, 401])
  await publish(shut, ann, space)
  t.deepEqual(await seen(), [200, 200])
  t.is(await status(nobody, `/api/datasets/${shutOff}`), 401)
  t.deepEqual(await idsOf(stranger.get('/api/datasets?limit=0&title=whimbrel')), [usual])
  await publish(shut, ann, space, 'PRIVATE')
  t.deepEqual(await seen(), [401, 401])
  await publish(shut, ann, space)
  await ann.post(`/api/spaces/${space}/removeDataset/${usual}`)
  await ann.post(`/api/spaces/${space}/removeCollection/${collection}?removeDatasets=false`)
  await shut.drained()
  t.deepEqual(await seen(), [401, 401])
  t.is(await status(nobody, `/api/spaces/${space}`), 200)
})

test('owners can remove a dataset from spaces and collections, and a collection from spaces, that are hidden from them', async t => {
  const owner = await somebody(shut, 'owner')
  const [space, other] = [await newSpace(ann), await newSpace(ann)]
  for (const each of [space, other]) await letIn(ann, each, 'Editor', owner)
  const [parent, elsewhere] = [await newCollection(ann, { space }), await newCollection(ann, { space })]
  const dataset = await newDataset(owner, { space: [space], collection: [parent] })
  const collection = await newCollection(owner, { space })
  for (const each of [space, other]) await ann.remove(`/api/spaces/${each}/members/${owner.id}`)
  for (const path of [`/api/spaces/${space}`, `/api/collections/${parent}`]) t.is(await status(owner, path), 404)
  const remove = async (by: Calls, { from, above }: { from: string; above: string }) => [
    (await by.remove(`/api/collections/${above}/datasets/${dataset}`)).status,
    (await by.post(`/api/spaces/${from}/removeDataset/${dataset}`)).status,
    (await by.post(`/api/spaces/${from}/removeCollection/${collection}?removeDatasets=false`)).status,
  ]
  const [here, unknown] = [{ from: space, above: parent }, 'f'.repeat(24)]
  const hidden = [404, 404, 404]
  t.deepEqual(await remove(nobody, here), [401, 401, 401])
  t.deepEqual(await remove(stranger, here), hidden)
  t.deepEqual(await remove(owner, { from: other, above: elsewhere }), hidden)
  t.deepEqual(await remove(owner, { from: unknown, above: unknown }), hidden)
  await ann.remove(`/api/collections/${parent}`)
  t.deepEqual(await remove(owner, { from: other, above: parent }), hidden)
  await ann.put(`/api/collections/restore/${parent}`)
  t.deepEqual(await remove(owner, here), [200, 200, 200])
  t.deepEqual(await remove(owner, here), hidden)
  for (const path of [`/api/spaces/${space}/datasets`, `/api/collections/${parent}/getChildCollections`])
    t.deepEqual(await idsOf(ann.get(path)), [])
})

test('a space on trial is private, even if it contains a public dataset', async t => {
  const trial = await newSpace(ann)
  const dataset = await newDataset(ann, { space: [trial] })
  const { body } = await callsOf(shut.as(shut.admin.key)).get(`/api/spaces/${trial}?superAdmin=true`)
  t.is((body as { id: string }).id, trial)
  for (const path of [`/api/spaces/${trial}`, `/api/datasets/${dataset}`]) t.is(await status(nobody, path), 401)
  await toAccess(ann, dataset, 'PUBLIC')
  t.is(await status(nobody, `/api/datasets/${dataset}`), 200)
  t.is(await status(nobody, `/api/spaces/${trial}`), 401)
  t.is(await status(stranger, `/api/spaces/${trial}`), 404)
})

test('in the trash a role grants only restoring and deleting; the author can still view', async t => {
  const bob = await somebody(shut, 'bob')
  const space = await newSpace(ann)
  await letIn(ann, space, 'Admin', bob)
  const { dataset, file } = await furnished(ann, { space: [space] })
  t.is(await status(bob, `/api/datasets/${dataset}`), 200)
  await ann.remove(`/api/datasets/${dataset}`)
  t.is(await status(bob, `/api/datasets/${dataset}`), 404)
  t.is(await status(bob, `/api/files/${file}/metadata`), 404)
  t.is((await bob.put(`/api/datasets/${dataset}/title`, { name: 'x' })).status, 404)
  t.is(await status(ann, `/api/datasets/${dataset}`), 200)
  t.is((await bob.put(`/api/datasets/restore/${dataset}`)).status, 200)
  t.is(await status(bob, `/api/datasets/${dataset}`), 200)
  await ann.remove(`/api/datasets/${dataset}`)
  t.is((await bob.remove(`/api/datasets/${dataset}`)).status, 200)
  t.is(await status(ann, `/api/datasets/${dataset}`), 404)
})

test('the address and picture of the author of a collection are shown to callers who may view the account', async t => {
  const [author, reader] = [await somebody(shut, 'author'), await somebody(shut, 'reader')]
  const space = await newSpace(author)
  await publish(shut, author, space)
  const collection = await newCollection(author, { name: 'godwit', space })
  await author.post('/api/collections/newCollectionWithParent', { name: 'below', parentId: collection })
  const lists = [`${collection}/getChildCollections`, 'topLevelCollections', 'rootCollections', 'allCollections?showAll=true']
  const authorsFor = async (by: Calls) => {
    const answers = await Promise.all([collection, ...lists].map(path => by.get(`/api/collections/${path}`)))
    const shown = answers.flatMap(({ body }) => body as { author: string }[]).map(({ author: text }) => text)
    return [...new Set(shown.filter(text => text?.includes(author.id)))]
  }
  for (const by of [nobody, reader]) {
    const [text = '', ...others] = await authorsFor(by)
    t.deepEqual(others, [])
    t.regex(text, new RegExp(`^MiniUser\\(${author.id},author Number \\d+,http[^,]*/api/avatars/-\\d+,None\\)$`))
  }
  await letIn(author, space, 'Viewer', reader)
  for (const by of [author, reader]) {
    const [text = ''] = await authorsFor(by)
    t.true(text.endsWith(`,Some(${author.email.toLowerCase()}))`), text)
  }
})

test('a bag contains only email addresses of accounts that the downloader may view', async t => {
  const [author, reader] = [await somebody(shut, 'author'), await somebody(shut, 'reader')]
  const space = await newSpace(author)
  await letIn(author, space, 'Admin', author, reader)
  const dataset = await newDataset(author, { space: [space] })
  await upload(author.call, dataset, 'hello', 'hello.txt')
  const namesAuthor = async () => {
    const files = await unzip(await downloaded(reader, `/api/datasets/${dataset}/download?bagit=true`))
    return [...files].filter(([, bytes]) => bytes.includes(author.email.toLowerCase())).map(([path]) => path)
  }
  t.deepEqual(await namesAuthor(), ['data/_info.json', 'data/hello.txt_info.json', 'bag-info.txt', 'metadata/clowder.xml'])
  t.is((await reader.post(`/api/spaces/${space}/removeUser?removeUser=${author.id}`)).status, 200)
  t.is(await status(reader, `/api/users/${author.id}`), 404)
  t.deepEqual(await namesAuthor(), [])
})

test('a file in no dataset is visible to its owner only, even on a public server', async t => {
  for (const server of [shut, open]) {
    const [owner, other] = [await somebody(server), await somebody(server)]
    const answer = await owner.call('/api/files?extract=false', { method: 'POST', body: formWith('alone', 'alone.txt') })
    const { id } = (await answer.json()) as { id: string }
    t.is(await status(owner, `/api/files/${id}/metadata`), 200)
    t.is(await status(other, `/api/files/${id}/metadata`), 404)
    t.is(await status(callsOf(server.as(server.admin.key)), `/api/files/${id}/metadata`), 404)
    t.is(await status(callsOf(server.as()), `/api/files/${id}/metadata`), server === shut ? 401 : 404)
  }
})

test('a file is accessible through each dataset that contains it', async t => {
  const [one, other] = [await furnished(ann, {}), await newDataset(ann)]
  t.is((await ann.post('/api/datasets/attachmultiple', { datasetid: other, existingfiles: one.file })).status, 200)
  await toAccess(ann, other, 'PUBLIC')
  t.is(await status(nobody, `/api/files/${one.file}/metadata`), 200)
  t.is(await status(nobody, `/api/datasets/${one.dataset}`), 401)
  await toAccess(ann, other, 'PRIVATE')
  t.is(await status(nobody, `/api/files/${one.file}/metadata`), 401)
})

test('an account is visible to members of the same space and to server admins', async t => {
  const [bob, cid] = [await somebody(shut, 'bob'), await somebody(shut, 'cid')]
  const space = await newSpace(ann)
  const path = `/api/users/${bob.id}`
  t.deepEqual([await status(ann, path), await status(cid, path), await status(nobody, path)], [404, 404, 401])
  await letIn(ann, space, 'Viewer', bob)
  t.deepEqual([await status(ann, path), await status(cid, path), await status(bob, path)], [200, 404, 200])
  t.is(await status(callsOf(shut.as(shut.admin.key)), path), 200)
  // v1 let anyone change the account of anyone who is Admin of any space.
  const renamed = `/api/users/${ann.id}/updateName?firstName=x&lastName=y`
  t.is((await bob.post(renamed)).status, 403)
  t.is((await cid.post(renamed)).status, 404)
})

test('on a public server all callers can read; anonymous callers cannot change anything', async t => {
  const owner = await somebody(open)
  const visitor = callsOf(open.as())
  const { dataset, looks, download } = await furnished(owner, {})
  for (const [kind, path] of looks) t.is(await status(visitor, path), 200, kind)
  t.is(await status(visitor, download), 401)
  t.is((await visitor.put(`/api/datasets/${dataset}/title`, { name: 'x' })).status, 401)
  t.is((await visitor.post('/api/datasets/createempty', { name: 'x' })).status, 401)
  t.is((await (await somebody(open)).put(`/api/datasets/${dataset}/title`, { name: 'x' })).status, 403)
})
