import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, ok, refusal, upload } from '../support/scene.ts'
import { meet } from '../support/spaces-and-people.ts'

interface Value {
  readonly value: string
  readonly name?: string
  readonly count: number
}
type Facets = Readonly<Record<string, readonly Value[]>> & { readonly exact: boolean }

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

const all = 'type,media_type,tag,space,creator,year'
const count = async (query: string, person: Person = ann, facets = all, more = ''): Promise<Facets> => {
  await server.drained()
  const path = `/api/search?query=${encodeURIComponent(query)}&facets=${facets}${more}`
  return (await ok<{ facets: Facets }>(person.call(path))).facets
}

const newSpace = async (name: string): Promise<string> =>
  (await ok<{ id: string }>(ann.call('/api/spaces', { method: 'POST', json: { name, description: '' } }))).id

const share = (space: string, person: Person, role = 'Viewer') =>
  ok(ann.call(`/api/spaces/${space}/updateUsers`, { method: 'POST', json: { rolesandusers: { [role]: person.id } } }))

const tag = (person: Person, file: string, ...tags: readonly string[]) =>
  ok(person.call(`/api/files/${file}/tags`, { method: 'POST', json: { tags } }))

test('hits are counted by type, media type, tag, space, creator and year', async t => {
  const space = await newSpace('Heath')
  await share(space, eve, 'Editor')
  const dataset = await newDataset(ann.call, { name: 'Nightjar survey', space: [space] })
  const first = await upload(ann.call, dataset, 'a,b', 'nightjar-1.csv', { type: 'text/csv' })
  const second = await upload(eve.call, dataset, 'x', 'nightjar-2.txt')
  await tag(ann, first, 'churring', 'dusk')
  await tag(ann, second, 'churring')
  const { exact, creator, ...others } = await count('nightjar')
  t.true(exact)
  t.deepEqual(others, {
    type: [
      { value: 'file', count: 2 },
      { value: 'dataset', count: 1 },
    ],
    media_type: [
      { value: 'text/csv', count: 1 },
      { value: 'text/plain', count: 1 },
    ],
    tag: [
      { value: 'churring', count: 2 },
      { value: 'dusk', count: 1 },
    ],
    space: [{ value: space, name: 'Heath', count: 3 }],
    year: [{ value: String(new Date().getUTCFullYear()), count: 3 }],
  })
  t.deepEqual(
    creator?.map(({ value, count }) => [value, count]),
    [
      [ann.id, 2],
      [eve.id, 1],
    ],
  )
  t.regex(creator?.[0]?.name ?? '', /ann/i)
  t.deepEqual(await count('nightjar tag:dusk', ann, 'tag', '&size=0'), {
    exact: true,
    tag: [
      { value: 'churring', count: 1 },
      { value: 'dusk', count: 1 },
    ],
  } as unknown as Facets)
  t.deepEqual((await count('nightjar', ann, 'type', `&datasetid=${dataset}`))['type'], [{ value: 'file', count: 2 }])
})

test('only resources that the caller may view are counted, and spaces they may not view are not named', async t => {
  const [hidden, open] = [await newSpace('Hidden marsh'), await newSpace('Open marsh')]
  await share(open, eve)
  await upload(ann.call, await newDataset(ann.call, { name: 'Ruff', space: [hidden, open] }), 'x', 'ruff.txt')
  await upload(ann.call, await newDataset(ann.call, { name: 'Ruff', space: [hidden] }), 'x', 'ruff.txt')
  const own = await count('ruff', ann, 'type,space')
  t.deepEqual(
    own['type']?.map(({ count }) => count),
    [2, 2],
  )
  t.deepEqual(own['space']?.map(({ name, count }) => [name, count]).sort(), [
    ['Hidden marsh', 4],
    ['Open marsh', 2],
  ])
  const seen = await count('ruff', eve, 'type,space,creator')
  t.deepEqual(
    seen['type']?.map(({ count }) => count),
    [1, 1],
  )
  t.deepEqual(
    seen['space']?.map(({ name, count }) => [name, count]),
    [['Open marsh', 2]],
  )
  t.deepEqual(await count('ruff', await newPerson(server, 'stranger')), {
    ...Object.fromEntries(all.split(',').map(facet => [facet, []])),
    exact: true,
  } as unknown as Facets)
})

test('an unknown facet is refused, and without the parameter the response has no facets', async t => {
  const { status, message } = await refusal(ann.call('/api/search?query=&facets=type,colour'))
  t.is(status, 400)
  t.regex(message, /colour.*media_type/)
  const answer = await ok<object>(ann.call('/api/search?query=nightjar'))
  t.false('facets' in answer)
  t.is((await refusal(server.as()('/api/search?query=&facets=type'))).status, 401)
})

test('filtering by the value of a facet finds its hits', async t => {
  const dataset = await newDataset(ann.call, { name: 'Siskin' })
  await upload(ann.call, dataset, 'x', 'siskin.txt')
  const { media_type: [type] = [], creator: [creator] = [], year: [year] = [] } = await count('siskin')
  for (const query of [`content_type=="${type?.value}"`, `creator==${creator?.value}`, `created:${year?.value}`, 'resource_type:file']) {
    const { results } = await ok<{ results: readonly object[] }>(
      ann.call(`/api/search?query=${encodeURIComponent(`siskin resource_type:file ${query}`)}`),
    )
    t.is(results.length, 1, query)
  }
})
