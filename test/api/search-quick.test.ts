import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, ok, refusal, upload } from '../support/scene.ts'
import { meet } from '../support/spaces-and-people.ts'

type Kind = 'spaces' | 'collections' | 'datasets' | 'files' | 'people'
type Answer = Readonly<Record<Kind, readonly { readonly id: string; readonly name: string }[]>>

let server: TestServer
let ann: Person
let eve: Person

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  ann = await newPerson(server, 'ann')
  eve = await newPerson(server, 'eve')
  await meet(server, ann, eve)
})
test.after.always(() => server?.stop())

const quick = async (prefix: string, person: Person = ann): Promise<Answer> => {
  await server.drained()
  return ok<Answer>(person.call(`/api/search/quick?prefix=${encodeURIComponent(prefix)}`))
}
const none: Answer = { spaces: [], collections: [], datasets: [], files: [], people: [] }

const newSpace = async (name: string): Promise<string> =>
  (await ok<{ id: string }>(ann.call('/api/spaces', { method: 'POST', json: { name, description: '' } }))).id

test('resources of each kind are found by prefixes of the words in their names', async t => {
  const space = await newSpace('Saltmarsh station')
  const json = { name: 'Old saltmarsh records', description: '' }
  const { id: collection } = await ok<{ id: string }>(ann.call('/api/collections', { method: 'POST', json }))
  const dataset = await newDataset(ann.call, { name: 'Saltmarsh 2021', description: 'tidal' })
  const file = await upload(ann.call, dataset, 'x', 'saltmarsh-cover.csv')
  const expected = {
    spaces: [{ id: space, name: 'Saltmarsh station' }],
    collections: [{ id: collection, name: 'Old saltmarsh records' }],
    datasets: [{ id: dataset, name: 'Saltmarsh 2021' }],
    files: [{ id: file, name: 'saltmarsh-cover.csv' }],
    people: [],
  }
  for (const prefix of ['salt', 'SALTMARSH', 'sal']) t.deepEqual(await quick(prefix), expected, prefix)
  t.deepEqual(await quick('salt stat'), { ...none, spaces: expected.spaces })
  for (const prefix of ['tidal', 'marsh', 'zzzz', '"', ' * ']) t.deepEqual(await quick(prefix), none, prefix)
})

test('invisible resources are not returned', async t => {
  await newSpace('Grebe lake')
  await upload(ann.call, await newDataset(ann.call, { name: 'Grebe nests' }), 'x', 'grebe.txt')
  t.is((await quick('grebe')).files.length, 1)
  t.deepEqual(await quick('grebe', eve), none)
})

test('at most five of each kind are returned, names that start with the prefix first, and none from the trash', async t => {
  const ids = []
  for (const name of ['Avocet', 'One avocet', 'Two avocets', 'Three avocets', 'Four avocets', 'Five avocets', 'Six avocets'])
    ids.push(await newDataset(ann.call, { name }))
  const { datasets } = await quick('avocet')
  t.deepEqual(
    datasets.map(({ name }) => name),
    ['Avocet', 'Six avocets', 'Five avocets', 'Four avocets', 'Three avocets'],
  )
  await ok(ann.call(`/api/datasets/${ids[0]}`, { method: 'DELETE' }))
  t.is((await quick('avocet')).datasets[0]?.name, 'Six avocets')
})

test('names of people are shown to callers who may view their accounts', async t => {
  const { people } = await quick('eve')
  t.deepEqual(
    people.map(({ id }) => id),
    [eve.id],
  )
  const stranger = await newPerson(server, 'stranger')
  t.deepEqual((await quick('eve', stranger)).people, [])
})

test('a prefix is required, and on a private server an account', async t => {
  t.is((await refusal(ann.call('/api/search/quick'))).status, 400)
  t.is((await refusal(ann.call('/api/search/quick?prefix='))).status, 400)
  t.is((await refusal(ann.call(`/api/search/quick?prefix=${'x'.repeat(201)}`))).status, 400)
  t.is((await refusal(server.as()('/api/search/quick?prefix=a'))).status, 401)
})

test('on a public server, anonymous callers find public resources, and no people', async t => {
  const open = await bootForTest({ t })
  const bob = await newPerson(open, 'bob')
  await newDataset(bob.call, { name: 'Open data' })
  await open.drained()
  const answer = await ok<Answer>(open.as()('/api/search/quick?prefix=open'))
  t.is(answer.datasets[0]?.name, 'Open data')
  t.deepEqual((await ok<Answer>(open.as()('/api/search/quick?prefix=bob'))).people, [])
})
