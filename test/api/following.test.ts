import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { formWith, ok } from '../support/scene.ts'
import { meet, newCollection, newDataset, newSpace, recordPlugins, type Somebody, somebody } from '../support/spaces-and-people.ts'

const options = { plugins: [...recordPlugins, 'resources.following'] }
const server = await bootForTest({ ...options, config: { access: { private: true } } })
test.after.always(() => server.stop())
const unknownId = 'f'.repeat(24)

type Recommended = { readonly status: string; readonly recommendations?: readonly { id: string; name: string; objectType: string }[] }
const follow = async (person: Somebody, path: string): Promise<Recommended> => {
  const { status, body } = await person.post(path)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as Recommended
}
const newFile = async ({ call }: Somebody): Promise<string> =>
  (await ok<{ id: string }>(call('/api/files', { method: 'POST', body: formWith('words', 'words.txt') }))).id

test('following a resource recommends the visible ones that its other followers follow most', async t => {
  const [ann, bob, cat, dan] = [await somebody(server), await somebody(server), await somebody(server), await somebody(server, 'Dan')]
  const space = await newSpace(ann)
  await meet(server, ann, bob, cat, dan)
  const members = [bob, cat, dan].map(({ id }) => id).join(',')
  await ann.post(`/api/spaces/${space}/updateUsers`, { rolesandusers: { Viewer: members } })
  const dataset = await newDataset(ann, { name: 'popular', space: [space] })
  const collection = await newCollection(ann, { name: 'less so', space })
  const trashed = await newDataset(ann, { name: 'gone', space: [space] })
  const hidden = await newDataset(bob, { name: 'of bob alone' })
  const file = await newFile(bob)
  t.deepEqual(await follow(ann, `/api/spaces/${space}/follow`), { status: 'success' })
  await follow(bob, `/api/datasets/${hidden}/follow`)
  await follow(bob, `/api/files/${file}/follow`)
  for (const person of [bob, cat]) await follow(person, `/api/datasets/${dataset}/follow`)
  for (const person of [bob, cat]) await follow(person, `/api/datasets/${trashed}/follow`)
  await follow(bob, `/api/collections/${collection}/follow`)
  await follow(bob, `/api/users/follow?followeeUUID=${ann.id}`)
  for (const person of [bob, cat]) await follow(person, `/api/spaces/${space}/follow`)
  await ann.remove(`/api/datasets/${trashed}`)
  const { recommendations } = await follow(dan, `/api/spaces/${space}/follow`)
  t.deepEqual(recommendations?.[0], { id: dataset, name: 'popular', objectType: 'dataset' })
  t.deepEqual(recommendations?.map(({ id }) => id).sort(), [dataset, collection, ann.id].sort())
  t.is(recommendations?.find(({ id }) => id === ann.id)?.objectType, 'user')
  const after = await follow(dan, `/api/datasets/${dataset}/follow`)
  t.false(after.recommendations?.some(({ id }) => id === dataset || id === space))
})

test('at most ten resources are recommended, excluding followed ones and the caller', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  await meet(server, ann, bob)
  await ann.post(`/api/spaces/${space}/updateUsers`, { rolesandusers: { Viewer: bob.id } })
  const sets: string[] = []
  for (let n = 0; n < 12; n++) sets.push(await newDataset(ann, { name: `set ${n}`, space: [space] }))
  for (const id of sets) await follow(ann, `/api/datasets/${id}/follow`)
  await follow(ann, `/api/users/follow?followeeUUID=${bob.id}`)
  await follow(ann, `/api/spaces/${space}/follow`)
  await follow(bob, `/api/datasets/${sets[0]}/follow`)
  const { recommendations = [] } = await follow(bob, `/api/spaces/${space}/follow`)
  t.is(recommendations.length, 10)
  t.true(recommendations.every(({ id }) => id !== sets[0] && id !== bob.id && id !== space))
})

test('following an invisible or missing resource, or anonymously, is refused', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const dataset = await newDataset(ann)
  for (const id of [dataset, unknownId, 'nonsense']) t.is((await bob.post(`/api/datasets/${id}/follow`)).status, 404)
  const nobody = callsOf(server.as())
  for (const kind of ['datasets', 'spaces', 'collections', 'files']) {
    t.is((await nobody.post(`/api/${kind}/${dataset}/follow`)).status, 401)
    t.is((await ann.post(`/api/${kind}/${unknownId}/follow`)).status, 404)
  }
  t.is((await ann.post(`/api/users/follow?followeeUUID=${unknownId}`)).status, 404)
  t.is((await ann.post(`/api/users/follow?followeeUUID=${ann.id}`)).status, 400)
})
