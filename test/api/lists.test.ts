import test from 'ava'
import { DocumentStore, Ids } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { datasets } from '../../plugins/resources/datasets/collection.ts'
import { allIds, callsOf, idsOf } from '../support/calls.ts'
import { letIn, newCollection, newDataset, newSpace, recordPlugins, type Somebody, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ plugins: recordPlugins, config: { access: { private: true } } })
test.after.always(() => server.stop())
const nobody = callsOf(server.as())
const encoded = encodeURIComponent

/** Copies of a dataset in the same spaces, with the names and creation times from `about`. */
const copies = async (of: string, count: number, about: (n: number) => { readonly name?: string; readonly created?: string }) => {
  const documents = server.get(DocumentStore)
  const { revision: _, id: _of, ...record } = (await documents.get(datasets, of)) ?? {}
  const ids = Array.from({ length: count }, () => server.get(Ids).next())
  for (let at = 0; at < count; at += 500) {
    const items = ids.slice(at, at + 500).map((id, n) => ({ change: { insert: { ...record, ...about(at + n), id }, into: datasets } }))
    for (const each of await documents.commitEach(items as never)) if (!each.ok) throw each.error
  }
  return ids
}

/** The lists with a title filter, for a person who may view and edit everything in `world`. */
const world = async (names: readonly string[]) => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const outer = await newCollection(ann, { name: 'a place to put things', space })
  const dataset = await newDataset(ann, { name: 'moving', space: [space] })
  const sets: string[] = []
  const groups: string[] = []
  const spaces: string[] = []
  for (const name of names) {
    sets.push(await newDataset(ann, { name, space: [space] }))
    groups.push(await newCollection(ann, { name, space }))
    spaces.push(await newSpace(ann, name))
  }
  const lists: readonly (readonly [path: string, made: readonly string[], takesExact: boolean])[] = [
    ['/api/datasets', sets, true],
    ['/api/datasets/canEdit', sets, true],
    [`/api/datasets/listOutsideCollection/${outer}`, sets, true],
    ['/api/collections', groups, true],
    ['/api/collections/list', groups, true],
    ['/api/collections/canEdit', groups, true],
    [`/api/collections/possibleParents?currentCollectionId=${outer}`, groups, true],
    [`/api/collections/datasetPossibleParents/${dataset}`, groups, true],
    ['/api/spaces', spaces, false],
    ['/api/spaces/canEdit', spaces, false],
  ]
  return { ann, space, lists }
}
const and = (path: string, query: string): string => `${path}${path.includes('?') ? '&' : '?'}${query}`

test('a title matches text anywhere in the name, ignoring case, and is not a pattern', async t => {
  const names = ['Forest (plot 3) äÖ', 'forest [a-z]*', '^For.st$', 'rainforest', 'öz', '100%_done']
  const { ann, lists } = await world(names)
  const wanted: readonly (readonly [title: string, found: readonly number[]])[] = [
    ['FOREST', [3, 1, 0]],
    ['.*', []],
    ['for.st', [2]],
    ['(plot', [0]],
    ['[a-z]*', [1]],
    ['ÄÖ', [0]],
    ['ö', [4, 0]],
    ['%_', [5]],
    ['rest p', []],
    ['nothing has this', []],
    ['x'.repeat(500), []],
  ]
  for (const [path, made] of lists) {
    for (const [title, found] of wanted) {
      const expected = found.map(at => made[at])
      t.deepEqual(await idsOf(ann.get(and(path, `title=${encoded(title)}`))), expected, `${path} ${title}`)
    }
    t.deepEqual(await idsOf(ann.get(and(path, `title=forest&limit=2`))), [made[3], made[1]])
    t.deepEqual(await allIds(ann.get, and(path, `title=forest&limit=1`)), [made[3], made[1], made[0]])
    t.is((await ann.get(and(path, `title=${'x'.repeat(501)}`))).status, 400)
  }
})

test('an exact title matches the whole name, including its case', async t => {
  const { ann, lists } = await world(['Ice', 'ice', 'Ice core', 'Ice'])
  for (const [path, made, takesExact] of lists) {
    if (!takesExact) continue
    t.deepEqual(await idsOf(ann.get(and(path, 'title=Ice&exact=true'))), [made[3], made[0]], path)
    t.deepEqual(await idsOf(ann.get(and(path, 'title=Ic&exact=true'))), [])
  }
})

test('renamed resources are found by their new name only, trashed ones not at all', async t => {
  const { ann, lists } = await world(['before'])
  const rename = async (path: string, id: string) =>
    path.startsWith('/api/spaces')
      ? ann.post(`/api/spaces/${id}/update`, { name: 'afterwards', description: '', timetolive: '1', enabled: false })
      : ann.put(`/api/${path.split('/')[2]}/${id}/title`, { name: 'afterwards' })
  for (const [path, [id = '']] of lists) {
    t.is((await rename(path, id)).status, 200)
    t.deepEqual(await idsOf(ann.get(and(path, 'title=before'))), [])
    t.deepEqual(await idsOf(ann.get(and(path, 'title=wards'))), [id])
  }
  for (const [path, [id]] of lists) {
    if (!path.startsWith('/api/spaces')) await ann.remove(`/api/${path.split('/')[2]}/${id}`)
  }
  for (const [path] of lists) {
    if (!path.startsWith('/api/spaces')) t.deepEqual(await idsOf(ann.get(and(path, 'title=wards'))), [], path)
  }
})

test('an invalid date is refused by every list, with and without a limit', async t => {
  const { ann, lists } = await world([])
  for (const [path] of lists) {
    for (const date of ['yesterday', '2018-06-31', '2018-06-20T', '']) {
      for (const limit of [12, 0]) t.is((await ann.get(and(path, `date=${date}&limit=${limit}`))).status, 400, `${path} ${date}`)
    }
    for (const limit of ['-1', 'many', '1.5']) t.is((await ann.get(and(path, `limit=${limit}`))).status, 400)
    t.is((await ann.get(and(path, 'after=nonsense'))).status, 400)
  }
})

const seenBy = async (person: Somebody, owner: Somebody, space: string) => letIn(owner, space, 'Viewer', person)

test('pages of resources created at the same time neither skip nor repeat any, in both directions', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  await seenBy(bob, ann, space)
  const first = await newDataset(ann, { name: 'same moment', space: [space] })
  const ids = await copies(first, 60, () => ({ name: 'same moment' }))
  const all = [first, ...ids].sort()
  t.deepEqual([...(await allIds(bob.get, '/api/datasets?limit=7'))].sort(), all)
  t.deepEqual([...(await allIds(bob.get, '/api/datasets?limit=7&title=moment'))].sort(), all)
  const newer = await allIds(bob.get, '/api/datasets?limit=7&when=b&date=2000-01-01T00:00:00Z')
  t.deepEqual([...newer].sort(), all)
})

test('limit=0 returns everything, newest first, and respects dates', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  await seenBy(bob, ann, space)
  const first = await newDataset(ann, { name: 'one of many', space: [space] })
  const at = (n: number) => new Date(Date.parse('2020-01-01T00:00:00.000Z') + n * 1000).toISOString()
  const ids = await copies(first, 1300, n => ({ created: at(n), name: n % 2 === 0 ? 'even' : 'odd' }))
  const newestFirst = ids.toReversed()
  t.deepEqual(await idsOf(bob.get('/api/datasets?limit=0')), [first, ...newestFirst])
  t.deepEqual(await idsOf(bob.get(`/api/spaces/${space}/datasets`)), [first, ...newestFirst])
  t.deepEqual(await idsOf(bob.get(`/api/datasets?limit=0&date=${at(700)}`)), newestFirst.slice(-700))
  t.deepEqual(await idsOf(bob.get(`/api/datasets?limit=0&when=b&date=${at(700)}`)), [first, ...newestFirst.slice(0, 599)])
  t.deepEqual(
    await idsOf(bob.get('/api/datasets?limit=0&title=even')),
    newestFirst.filter((_, n) => n % 2 === 1),
  )
  t.is((await idsOf(bob.get('/api/datasets?limit=5000'))).length, 1000)
  t.deepEqual(await allIds(bob.get, '/api/datasets?limit=1000'), [first, ...newestFirst])
  t.is((await bob.call('/api/datasets?limit=0', { method: 'HEAD' })).status, 200)
})

test('a collection is offered neither itself nor its ancestors or descendants as a parent', async t => {
  const ann = await somebody(server)
  const inside = async (parent: string, name: string) =>
    ((await ann.post('/api/collections/newCollectionWithParent', { name, parentId: parent })).body as { id: string }).id
  const top = await newCollection(ann, { name: 'top' })
  const middle = await inside(top, 'middle')
  const bottom = await inside(middle, 'bottom')
  const deeper = await inside(bottom, 'deeper')
  const aside = await newCollection(ann, { name: 'aside' })
  const offered = (id: string) => idsOf(ann.get(`/api/collections/possibleParents?currentCollectionId=${id}&limit=0`))
  t.deepEqual(await offered(middle), [aside])
  t.deepEqual(await offered(aside), [deeper, bottom, middle, top])
  t.deepEqual(await offered(deeper), [aside])
  t.is((await nobody.get(`/api/collections/possibleParents?currentCollectionId=${middle}`)).status, 401)
})
