import test from 'ava'
import { DocumentStore, Users } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { users } from '../../plugins/resources/users/collections.ts'
import { up } from '../../plugins/resources/users/migrations/0002-names-to-find-by.ts'
import { type Answer, type Calls, callsOf, nextOf } from '../support/calls.ts'
import { meet, newDataset, newSpace, recordPlugins, type Somebody, somebody } from '../support/spaces-and-people.ts'

const plugins = [...recordPlugins, 'resources.following']
const server = await bootForTest({ plugins, config: { access: { private: true } } })
test.after.always(() => server.stop())

const named = async (firstName: string, lastName: string): Promise<Somebody> => {
  const person = await somebody(server)
  const { status } = await person.put(`/api/users/${person.id}`, { firstName, lastName })
  if (status !== 200) throw new Error(`${status}`)
  return person
}

/** Full names from all pages. */
const found = async (get: Calls['get'], prefix: string, limit = '200'): Promise<readonly string[]> => {
  const names: string[] = []
  for (let next: string | undefined = `/api/people?${new URLSearchParams({ prefix, limit })}`; next !== undefined; ) {
    const answer: Answer = await get(next)
    if (answer.status !== 200) throw new Error(`${answer.status}`)
    names.push(...(answer.body as readonly { fullName: string }[]).map(({ fullName }) => fullName))
    next = nextOf(answer)
  }
  return names
}

test('people are found by the beginning of their names and addresses, ignoring case and accents', async t => {
  const [ann, zoe, other, max] = [
    await named('Ann', 'Ahrens'),
    await named('Zoë', 'Quandt'),
    await named('Quentin', 'Zorn'),
    await named('Max', 'Quast'),
  ]
  await meet(server, ann, zoe, other, max)
  t.deepEqual(await found(ann.get, 'zoe'), ['Zoë Quandt'])
  t.deepEqual(await found(ann.get, 'ZOË q'), ['Zoë Quandt'])
  t.deepEqual(await found(ann.get, 'qu'), ['Quentin Zorn', 'Zoë Quandt', 'Max Quast'])
  t.deepEqual(await found(ann.get, 'qu', '1'), ['Quentin Zorn', 'Zoë Quandt', 'Max Quast'])
  t.deepEqual(await found(ann.get, zoe.email.toUpperCase()), ['Zoë Quandt'])
  t.deepEqual(await found(ann.get, ''), ['Ann Ahrens', 'Max Quast', 'Quentin Zorn', 'Zoë Quandt'])
  t.deepEqual(await found(ann.get, '', '1'), ['Ann Ahrens', 'Max Quast', 'Quentin Zorn', 'Zoë Quandt'])
  for (const nobody of ['.*', '%', 'zoeq']) t.deepEqual(await found(ann.get, nobody), [])
  const [shown] = (await ann.get('/api/people?prefix=zoe')).body as readonly Record<string, unknown>[]
  t.like(shown, { id: zoe.id, fullName: 'Zoë Quandt', email: zoe.email })
  await zoe.put(`/api/users/${zoe.id}`, { lastName: 'Yared' })
  t.deepEqual(await found(ann.get, 'qua'), ['Max Quast'])
  t.deepEqual(await found(ann.get, 'yar'), ['Zoë Yared'])
})

test('only people whom the caller may view are found; anonymous callers get 401', async t => {
  const [ann, stranger] = [await named('Wanda', 'Seen'), await named('Wanda', 'Unseen')]
  t.deepEqual(await found(ann.get, 'wanda'), ['Wanda Seen'])
  t.deepEqual(await found(ann.get, stranger.email), [])
  await meet(server, ann, stranger)
  t.deepEqual(await found(ann.get, 'wanda'), ['Wanda Seen', 'Wanda Unseen'])
  await server.get(Users).change(stranger.id, { set: { status: 'Inactive' } }, [])
  t.deepEqual(await found(ann.get, 'wanda'), ['Wanda Seen'])
  t.is((await callsOf(server.as()).get('/api/people')).status, 401)
  for (const query of ['limit=0', 'limit=201', 'after=nonsense', `prefix=${'x'.repeat(201)}`])
    t.is((await ann.get(`/api/people?${query}`)).status, 400, query)
})

test('a page ends after scanning many accounts without a match, and links to the next one', async t => {
  const ann = await named('Vera', 'Zz')
  const documents = server.get(DocumentStore)
  const record = await server.get(Users).get(ann.id)
  if (!record) throw new Error('gone')
  for (let from = 0; from < 2000; from += 500) {
    const strangers = Array.from({ length: 500 }, (_, at) => {
      const id = (0xabc_0000 + from + at).toString(16).padStart(24, '0')
      const insert = {
        ...record,
        id,
        email: `v${from + at}@example.com`,
        firstName: 'Vera',
        lastName: 'Aa',
        sortFirst: 'vera aa',
        sortLast: 'aa vera',
      }
      return { change: { insert, into: users } }
    })
    for (const each of await documents.commitEach(strangers)) if (!each.ok) throw each.error
  }
  const first = await ann.get('/api/people?prefix=vera')
  t.deepEqual(first.body, [])
  t.truthy(nextOf(first))
  t.deepEqual(await found(ann.get, 'vera'), ['Vera Zz'])
})

test('the migration makes older accounts searchable, and running it again changes nothing', async t => {
  const person = await named('Ursula', 'Before')
  const documents = server.get(DocumentStore)
  await documents.commit({ update: person.id, in: users, unset: ['sortFirst', 'sortLast'] })
  t.deepEqual(await found(person.get, 'ursula'), [])
  await up(documents)
  t.deepEqual(await found(person.get, 'before u'), ['Ursula Before'])
  const revision = (await documents.get(users, person.id))?.revision
  await up(documents)
  t.is((await documents.get(users, person.id))?.revision, revision)
})

test('users list the resources that they follow and may view, in pages', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  t.deepEqual((await ann.get('/api/me/following')).body, [])
  const [space, dataset] = [await newSpace(ann, 'Lab'), await newDataset(ann, { name: 'Leaves' })]
  await meet(server, ann, bob)
  t.is((await ann.post(`/api/spaces/${space}/follow`)).status, 200)
  t.is((await ann.post(`/api/datasets/${dataset}/follow`)).status, 200)
  t.is((await ann.post(`/api/users/follow?followeeUUID=${bob.id}`)).status, 200)
  const fullName = ((await ann.get(`/api/users/${bob.id}`)).body as { fullName: string }).fullName
  const all = [
    { type: 'dataset', id: dataset, name: 'Leaves' },
    { type: 'space', id: space, name: 'Lab' },
    { type: 'user', id: bob.id, name: fullName },
  ]
  t.deepEqual((await ann.get('/api/me/following')).body, all)
  const first = await ann.get('/api/me/following?limit=2')
  t.deepEqual(first.body, all.slice(0, 2))
  t.deepEqual((await ann.get(nextOf(first) ?? '')).body, all.slice(2))
  await server.get(Users).change(bob.id, { set: { memberships: [] } }, [])
  t.deepEqual((await ann.get('/api/me/following')).body, all.slice(0, 2))
  t.deepEqual((await bob.get('/api/me/following')).body, [])
  t.is((await callsOf(server.as()).get('/api/me/following')).status, 401)
})
