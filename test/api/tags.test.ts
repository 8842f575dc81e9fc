import test from 'ava'
import { Files } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { sectionOf } from '../support/derived.ts'
import { newKey } from '../support/people.ts'
import { unknownId, upload } from '../support/scene.ts'
import { newCollection, newDataset, type Somebody, somebody } from '../support/spaces-and-people.ts'

interface Added {
  readonly status: string
  readonly tags: readonly { readonly id: string; readonly name: string }[]
}

const serviceKey = 'a service key of this test alone'
const server = await bootForTest({ config: { resources: { users: { commKey: serviceKey } } } })
const ann = await somebody(server, 'ann')
const bob = await somebody(server, 'bob')
test.after.always(() => server.stop())

const plural = { file: 'files', dataset: 'datasets', collection: 'collections', section: 'sections' } as const
type Carrier = keyof typeof plural
const pathOf = async (kind: Carrier): Promise<string> => {
  if (kind === 'collection') return `/api/collections/${await newCollection(ann)}`
  const dataset = await newDataset(ann)
  if (kind === 'dataset') return `/api/datasets/${dataset}`
  const file = await upload(ann.call, dataset)
  return kind === 'file' ? `/api/files/${file}` : `/api/sections/${await sectionOf(ann, file)}`
}
const put = async (who: Pick<Somebody, 'post'>, path: string, tags: unknown, more: object = {}): Promise<Added> => {
  const { status, body } = await who.post(`${path}/tags`, { tags, ...more })
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as Added
}
const namesOn = async (path: string): Promise<readonly string[]> => ((await bob.get(`${path}/tags`)).body as { tags: string[] }).tags

for (const kind of ['file', 'dataset', 'collection', 'section'] as const) {
  test(`tags on a ${kind} are added as a list or comma-separated, and returned with their ids`, async t => {
    const path = await pathOf(kind)
    const { status, tags } = await put(ann, path, [' red   leaf ', 'a, b'])
    t.is(status, 'success')
    t.deepEqual(
      tags.map(({ name }) => name),
      ['red leaf', 'a, b'],
    )
    t.deepEqual(
      (await put(ann, path, 'oak, beech ,red leaf')).tags.map(({ name }) => name),
      ['oak', 'beech'],
    )
    const { body } = await bob.get(`${path}/tags`)
    t.deepEqual((body as { tags: string[] }).tags, ['red leaf', 'a, b', 'oak', 'beech'])
    t.deepEqual((body as { items: Added['tags'] }).items.slice(0, 2), [...tags])
    for (const wrong of ['', ' ', 'a,,b', 'a,', [], [''], ['ok', ' \t '], ['a\u0000b'], 5, [5], null, undefined])
      t.is((await ann.post(`${path}/tags`, { tags: wrong })).status, 400, JSON.stringify(wrong))
    // Reference, extraction §8: extractors name themselves, whatever their key.
    const byExtractor = { extractor_id: 'https://example.org/extractors/trees' }
    for (const empty of ['', ',', [], [''], [' \t ', '']])
      t.deepEqual((await put(ann, path, empty, byExtractor)).tags, [], JSON.stringify(empty))
    t.is((await namesOn(path)).length, 4)
    t.deepEqual(
      (await put(ann, path, ['', 'elm', ' '], byExtractor)).tags.map(({ name }) => name),
      ['elm'],
    )
    t.is((await bob.post(`${path}/tags`, { tags: ['mine'] })).status, 403)
    t.is((await server.as()(`${path}/tags`, { method: 'POST', json: { tags: ['x'] } })).status, 401)
    t.is((await ann.get(`/api/${plural[kind]}/${unknownId}/tags`)).status, 404)
    t.is((await ann.post(`/api/${plural[kind]}/${unknownId}/tags`, { tags: ['x'] })).status, 404)
  })

  test(`tags are removed from a ${kind}, regardless of who added them`, async t => {
    const path = await pathOf(kind)
    const { tags } = await put(ann, path, ['one', 'two', 'three', 'four'])
    // Of sections also by id, as in Clowder 1.x.
    const named = (...names: string[]) => (kind === 'section' ? tags.filter(tag => names.includes(tag.name)).map(tag => tag.id) : names)
    const off = (method: string, route: string, json?: object) => ann.call(`${path}/tags${route}`, { method, ...(json ? { json } : {}) })
    t.is((await off('DELETE', '', { tags: named('one') })).status, 200)
    t.is((await off('POST', '/remove', { tags: [...named('two'), unknownId, 'never there'] })).status, 200)
    t.deepEqual(await namesOn(path), ['three', 'four'])
    t.is((await off('DELETE', '', {})).status, 400)
    t.is((await off('DELETE', '')).status, 400)
    t.is((await bob.call(`${path}/tags`, { method: 'DELETE', json: { tags: named('three') } })).status, 403)
    t.is((await bob.post(`${path}/tags/remove_all`)).status, 403)
    t.is((await off('POST', '/remove_all')).status, 200)
    t.deepEqual(await namesOn(path), [])
  })

  test(`the same tag added concurrently to a ${kind} is stored once`, async t => {
    const path = await pathOf(kind)
    const answers = await Promise.all(Array.from({ length: 20 }, () => put(ann, path, ['same'])))
    t.is(answers.flatMap(({ tags }) => tags).length, 1)
    t.deepEqual(await namesOn(path), ['same'])
  })
}

test('a tag is removed from a dataset by id; an unknown id is no error', async t => {
  const path = await pathOf('dataset')
  const { tags } = await put(ann, path, ['one', 'two'])
  t.like(await ann.post(`${path}/removeTag`, { tagId: tags[0]?.id }), { status: 200, body: '' })
  t.like(await ann.post(`${path}/removeTag`, { tagId: 'nonsense' }), { status: 200, body: '' })
  t.is((await ann.post(`${path}/removeTag`, {})).status, 400)
  t.is((await bob.post(`${path}/removeTag`, { tagId: tags[1]?.id })).status, 403)
  t.deepEqual(await namesOn(path), ['two'])
})

test('a long or unusual tag is removed by the name under which it is listed', async t => {
  const path = await pathOf('file')
  const cut = 'x'.repeat(99)
  const { tags } = await put(ann, path, [`${cut} yz`, `a \u0085 b`, `${'é'.repeat(98)}e\u0301 f`, ' red   leaf '])
  const names = tags.map(({ name }) => name)
  t.deepEqual(names, [cut, 'a b', 'é'.repeat(99), 'red leaf'])
  const remove = async (name: string) => {
    t.is((await ann.call(`${path}/tags`, { method: 'DELETE', json: { tags: [name] } })).status, 200)
    return namesOn(path)
  }
  for (const [at, name] of names.entries()) t.deepEqual(await remove(name), names.slice(at + 1))
  await put(ann, path, [cut])
  const id = path.split('/').at(-1) ?? ''
  const [stored] = (await server.get(Files).get(id))?.tags ?? []
  await server.get(Files).change(id, { set: { tags: [{ ...stored, name: `${cut} ` }] } }, [])
  t.deepEqual(await remove(`${cut} `), [], 'as stored by earlier versions')
})

test('equal tags of different users and extractors are separate', async t => {
  const path = await pathOf('file')
  await put(ann, path, ['oak'], { extractor_id: 'has no effect' })
  for (const ignored of [null, '', 5, 'x'.repeat(501)])
    t.deepEqual((await put(ann, path, ['oak'], { extractor_id: ignored })).tags, [], JSON.stringify(ignored))
  const extraction = callsOf(server.as(await newKey(server, ann.email, ann.password, 'name=extractor&scope=extraction')))
  t.is((await put(extraction, path, ['oak'], { extractor_id: 'acme.trees' })).tags.length, 1)
  t.is((await put(extraction, path, ['oak'], { extractor_id: 'acme.trees' })).tags.length, 0)
  const service = callsOf(server.as(serviceKey))
  const missing = await service.post(`${path}/tags`, { tags: ['oak'] })
  t.is(missing.status, 400)
  t.regex(JSON.stringify(missing.body), /extractor_id/)
  for (const wrong of [null, '', 5, 'x'.repeat(501)])
    t.is((await service.post(`${path}/tags`, { tags: ['oak'], extractor_id: wrong })).status, 400, JSON.stringify(wrong))
  t.is((await put(service, path, ['oak'], { extractor_id: 'acme.trees' })).tags.length, 1, 'a tag without a user is not that of Ann')
  t.deepEqual(await namesOn(path), ['oak', 'oak', 'oak'])
  const { tags } = (await ann.get(`${path}/extracted_metadata`)).body as { tags: { extractor_id?: string; userId?: string }[] }
  t.deepEqual(
    tags.map(({ extractor_id, userId }) => extractor_id ?? userId),
    [ann.id, 'acme.trees'],
  )
  t.is((await extraction.post(`${path}/tags/remove_all`)).status, 403, 'an extraction key cannot remove tags')
})

test('a resource has at most 1,000 tags', async t => {
  const path = await pathOf('dataset')
  await put(
    ann,
    path,
    Array.from({ length: 1000 }, (_, n) => `tag ${n}`),
  )
  t.is((await ann.post(`${path}/tags`, { tags: ['one more'] })).status, 400)
  t.is((await put(ann, path, ['tag 7'])).tags.length, 0)
})

test('tags in use are listed with the number of visible resources that have them', async t => {
  const closed = await bootForTest({ t, config: { access: { private: true } } })
  const [owner, stranger] = [await somebody(closed, 'owner'), await somebody(closed, 'stranger')]
  const hidden = await newDataset(owner)
  const shown = await newDataset(owner)
  await owner.put(`/api/datasets/${shown}/access?access=PUBLIC`)
  const file = await upload(owner.call, shown)
  const collection = await newCollection(owner)
  const tag = (path: string, tags: unknown) => owner.post(`${path}/tags`, { tags })
  await tag(`/api/datasets/${hidden}`, 'linnet,merlin')
  await tag(`/api/datasets/${shown}`, 'linnet')
  await tag(`/api/files/${file}`, 'linnet')
  await tag(`/api/sections/${await sectionOf(owner, file)}`, 'lark')
  await tag(`/api/collections/${collection}`, 'linnet')
  await closed.drained(60_000)
  t.deepEqual((await owner.get('/api/tags?prefix=l')).body, [
    { name: 'linnet', count: 4 },
    { name: 'lark', count: 1 },
  ])
  t.deepEqual((await stranger.get('/api/tags')).body, [
    { name: 'linnet', count: 2 },
    { name: 'lark', count: 1 },
  ])
  t.is(((await owner.get('/api/tags?limit=1')).body as unknown[]).length, 1)
  const ofKind = async (kind: string) => (await owner.get(`/api/tags?prefix=linnet&kind=${kind}`)).body
  t.deepEqual(await ofKind('dataset'), [{ name: 'linnet', count: 2 }])
  t.deepEqual(await ofKind('collection'), [{ name: 'linnet', count: 1 }])
  t.is((await owner.get('/api/tags?kind=planet')).status, 400)
})

test('adding and removing tags of a dataset appears in the feed', async t => {
  const path = await pathOf('dataset')
  await put(ann, path, ['told'])
  await ann.call(`${path}/tags`, { method: 'DELETE', json: { tags: ['told'] } })
  await ann.call(`${path}/tags`, { method: 'DELETE', json: { tags: ['told'] } })
  await server.drained(60_000)
  const lines = (await ann.get('/api/events?limit=200')).body as { event_type: string; object_id: string }[]
  const said = lines.filter(({ object_id }) => path.endsWith(object_id)).map(({ event_type }) => event_type)
  t.deepEqual(said, ['remove_tags_dataset', 'add_tags_dataset', 'create_dataset'])
})
