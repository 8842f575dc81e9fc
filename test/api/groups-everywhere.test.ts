import test from 'ava'
import { Users } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { type Calls, callsOf, idOf, idsOf } from '../support/calls.ts'
import { upload } from '../support/scene.ts'
import { newCollection, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let admin: Calls
let ann: Somebody
let bob: Somebody
let cid: Somebody
let [space, group, dataset, collection, file] = ['', '', '', '', '']

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  admin = callsOf(server.as(server.admin.key))
  ;[ann, bob, cid] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await somebody(server, 'cid')]
  space = await newSpace(ann, 'Of a group')
  group = await idOf(admin.post('/api/groups', { name: 'readers' }))
  await admin.put(`/api/spaces/${space}/groups/${group}?superAdmin=true`, { role: 'Viewer' })
  await admin.post(`/api/groups/${group}/members`, { users: [bob.id] })
  dataset = await newDataset(ann, { name: 'zephyrous dataset', space: [space] })
  collection = await newCollection(ann, { space })
  file = await upload(ann.call, dataset, 'zephyrous words', 'words.txt')
  await server.drained()
})
test.after.always(() => server?.stop())

test('lists, tree and search show what a group may view to its members only', async t => {
  for (const [who, seen] of [
    [bob, true],
    [cid, false],
  ] as const) {
    t.is((await idsOf(who.get('/api/spaces'))).includes(space), seen)
    t.is((await idsOf(who.get('/api/datasets'))).includes(dataset), seen)
    t.is((await idsOf(who.get('/api/collections'))).includes(collection), seen)
    t.is((await idsOf(who.get('/api/collections/allCollections'))).includes(collection), seen)
    t.is((await who.get(`/api/files/${file}/metadata`)).status, seen ? 200 : 404)
    t.is(JSON.stringify((await who.get('/api/search?query=zephyrous')).body).includes(dataset), seen)
    t.is(JSON.stringify((await who.get('/api/tree/getChildrenOfNode?nodeType=root')).body).includes(space), seen)
    t.is((await who.get(`/api/users/${ann.id}`)).status, seen ? 200 : 404)
  }
})

test('the users of a file, of a space and in reports include members of groups', async t => {
  t.deepEqual([...(await idsOf(ann.get(`/api/files/${file}/users`)))].sort(), [ann.id, bob.id].sort())
  const { items } = await server.get(Users).peopleOf(space, { limit: 10 })
  t.deepEqual(items.map(({ id }) => id).sort(), [ann.id, bob.id].sort())
  t.is(await server.get(Users).countPeople(space, 10), 2)
  t.is(await server.get(Users).countPeople(space, 1), 1)
  const report = String((await admin.get('/api/reports/metrics/spaces')).body)
  const line = report.split('\n').find(each => each.includes(space))
  t.regex(line ?? '', /,"?2"?\s*$/)
})

test('a member both directly and through a group is listed once', async t => {
  await ann.put(`/api/spaces/${space}/members/${bob.id}`, { role: 'Editor' })
  const { items } = await server.get(Users).peopleOf(space, { limit: 10 })
  t.deepEqual(items.map(({ id }) => id).sort(), [ann.id, bob.id].sort())
  const pages: string[] = []
  for (let after: string | undefined; ; ) {
    const page = await server.get(Users).peopleOf(space, { limit: 1, ...(after === undefined ? {} : { after: [after] }) })
    pages.push(...page.items.map(({ id }) => id))
    if (page.next === undefined) break
    after = String(page.next.at(-1))
  }
  t.deepEqual(
    pages,
    items.map(({ id }) => id),
  )
  t.is((await bob.put(`/api/datasets/${dataset}/title`, { name: 'zephyrous still' })).status, 200)
  const { memberships } = (await server.get(Users).callerOf((await server.get(Users).get(bob.id))!)).user!
  t.deepEqual(
    memberships.map(({ roleName, group: by }) => [roleName, by]),
    [
      ['Editor', undefined],
      ['Viewer', group],
    ],
  )
})
