import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, newFolder, ok, refusal, upload } from '../support/scene.ts'
import { meet } from '../support/spaces-and-people.ts'

interface Hit {
  readonly kind: string
  readonly id: string
  readonly name: string
  readonly description: string
  readonly author: { readonly id: string; readonly name: string }
  readonly created: string
  readonly place: readonly { readonly kind: string; readonly id: string; readonly name: string }[]
  readonly type?: string
  readonly size?: number
  readonly tags: readonly string[]
  readonly matched: readonly { readonly field: string; readonly text: string; readonly marks: readonly { start: number; end: number }[] }[]
}

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

const search = async (query: string, person = ann, more = ''): Promise<readonly Hit[]> => {
  await server.drained()
  const path = `/api/search?view=full&query=${encodeURIComponent(query)}${more}`
  return (await ok<{ results: readonly Hit[] }>(person.call(path))).results
}

const newSpace = async (name: string): Promise<string> =>
  (await ok<{ id: string }>(ann.call('/api/spaces', { method: 'POST', json: { name, description: '' } }))).id

const letIn = (space: string, person: Person) =>
  ok(ann.call(`/api/spaces/${space}/updateUsers`, { method: 'POST', json: { rolesandusers: { Viewer: person.id } } }))

const marked = ({ matched }: Hit): readonly (readonly string[])[] =>
  matched.map(({ field, text, marks }) => [field, ...marks.map(({ start, end }) => text.slice(start, end))])

test('a hit for a file shows its location, author, type, size, tags and matches', async t => {
  const space = await newSpace('Hilltop station')
  const dataset = await newDataset(ann.call, { name: 'Kestrel nests', space: [space] })
  const outer = await newFolder(ann.call, dataset, 'spring')
  const inner = await newFolder(ann.call, dataset, 'raw', outer)
  const file = await upload(ann.call, dataset, '12345', 'kestrel-count.csv', {
    type: 'text/csv',
    query: `extract=false&folder_id=${inner}`,
  })
  await ok(ann.call(`/api/files/${file}/tags`, { method: 'POST', json: { tags: ['falcon'] } }))
  const [hit] = await search('kestrel resource_type:file')
  t.like(hit, { kind: 'file', id: file, name: 'kestrel-count.csv', type: 'text/csv', size: 5, tags: ['falcon'], description: '' })
  t.deepEqual(hit?.author, { id: ann.id, name: hit?.author.name })
  t.regex(hit?.author.name ?? '', /ann/i)
  t.regex(hit?.created ?? '', /^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/)
  t.deepEqual(hit?.place, [
    { kind: 'space', id: space, name: 'Hilltop station' },
    { kind: 'dataset', id: dataset, name: 'Kestrel nests' },
    { kind: 'folder', id: outer, name: 'spring' },
    { kind: 'folder', id: inner, name: 'raw' },
  ])
  t.deepEqual(hit && marked(hit), [['name', 'kestrel']])
})

test('hits for datasets and collections show the space or collection that they are in', async t => {
  const space = await newSpace('Moorland')
  const { id: collection } = await ok<{ id: string }>(
    ann.call('/api/collections', { method: 'POST', json: { name: 'Curlew years', description: 'c'.repeat(400), space } }),
  )
  const dataset = await newDataset(ann.call, { name: 'Curlew 2021', description: 'counted <b>daily</b>' })
  await ok(ann.call(`/api/collections/${collection}/datasets/${dataset}`, { method: 'POST', json: {} }))
  const hits = new Map((await search('curlew')).map(hit => [hit.kind, hit]))
  t.deepEqual(hits.get('collection')?.place, [{ kind: 'space', id: space, name: 'Moorland' }])
  t.is(hits.get('collection')?.description.length, 300)
  t.is(hits.get('dataset')?.description, 'counted <b>daily</b>')
  t.deepEqual(hits.get('dataset')?.place, [{ kind: 'collection', id: collection, name: 'Curlew years' }])
})

test('matches in metadata and comments are quoted for callers who may view them', async t => {
  const dataset = await newDataset(ann.call, { name: 'Bittern', description: 'reeds' })
  const metadata = {
    agent: { '@type': 'cat:user', user_id: 'https://example.org/u', name: 'U' },
    content: { depth: 42.5, maker: 'Lichtblick' },
  }
  await ok(ann.call(`/api/datasets/${dataset}/metadata.jsonld`, { method: 'POST', json: metadata }))
  await ann.call(`/api/datasets/${dataset}/comment`, { method: 'POST', json: { text: 'remeasure on Thursday' } })
  const first = async (query: string) => (await search(query)).map(marked)[0]
  t.deepEqual(await first('lichtblick bittern'), [
    ['name', 'Bittern'],
    ['metadata.maker', 'Lichtblick'],
  ])
  t.deepEqual(await first('depth>40'), [['metadata.depth', '42.5']])
  t.deepEqual(await first('thursday reeds'), [
    ['description', 'reeds'],
    ['comment', 'Thursday'],
  ])
  t.deepEqual(await first('bittern NOT walnut'), [['name', 'Bittern']])
})

test('matches in comments and metadata are quoted however many precede them', async t => {
  const dataset = await newDataset(ann.call, { name: 'Redshank' })
  const comment = (text: string) => ann.call(`/api/datasets/${dataset}/comment`, { method: 'POST', json: { text } })
  const describe = (content: object) =>
    ok(
      ann.call(`/api/datasets/${dataset}/metadata.jsonld`, {
        method: 'POST',
        json: { agent: { '@type': 'cat:user', user_id: 'https://example.org/u', name: 'U' }, content },
      }),
    )
  await describe({ maker: 'Erstbeschreibung' })
  for (let n = 0; n < 60; n += 1) await Promise.all([comment(`note ${n}`), describe({ count: n })])
  await comment('the Schlusswort')
  const first = async (query: string) => (await search(query)).map(marked)[0]
  t.deepEqual(await first('schlusswort'), [['comment', 'Schlusswort']])
  t.deepEqual(await first('erstbeschreibung'), [['metadata.maker', 'Erstbeschreibung']])
})

test('a role without permission to view metadata, comments and sections does not find by them', async t => {
  const role = await ok<{ id?: string }>(
    server.as(server.admin.key)('/api/roles', {
      method: 'POST',
      json: { name: 'Onlooker', description: '', permissions: ['ViewSpace', 'ViewDataset', 'ViewFile'] },
    }),
  ).catch(() => undefined)
  t.truthy(role)
  const space = await newSpace('Shore')
  const dataset = await newDataset(ann.call, { name: 'Plover', space: [space] })
  const metadata = { agent: { '@type': 'cat:user', user_id: 'https://example.org/u', name: 'U' }, content: { ring: 'Zwischenhalt' } }
  await ok(ann.call(`/api/datasets/${dataset}/metadata.jsonld`, { method: 'POST', json: metadata }))
  await ok(ann.call(`/api/spaces/${space}/updateUsers`, { method: 'POST', json: { rolesandusers: { Onlooker: eve.id } } }))
  t.deepEqual((await search('zwischenhalt')).map(marked), [[['metadata.ring', 'Zwischenhalt']]])
  const file = await upload(ann.call, dataset, 'x', 'plover.txt')
  await ok(
    ann.call('/api/sections', { method: 'POST', json: { file_id: file, startTime: 1, endTime: 2 } }).then(async made => {
      const { id } = (await made.json()) as { id: string }
      return ann.call(`/api/sections/${id}/tags`, { method: 'POST', json: { tags: ['Abschnitt'] } })
    }),
  )
  await ann.call(`/api/datasets/${dataset}/comment`, { method: 'POST', json: { text: 'Anmerkung' } })
  await ok(ann.call(`/api/datasets/${dataset}/tags`, { method: 'POST', json: { tags: ['shorebird'] } }))
  const own = await newDataset(eve.call, { name: 'Sanderling' })
  await ok(eve.call(`/api/datasets/${own}/metadata.jsonld`, { method: 'POST', json: { ...metadata, content: { ring: 'Zugvogel' } } }))
  const names = async (query: string, person = eve) => (await search(query, person)).map(({ name }) => name).sort()
  const hidden = ['zwischenhalt', 'ring:zwischenhalt', 'anmerkung', 'comment:anmerkung', 'abschnitt', 'tag:abschnitt', '/zwischen.*/']
  for (const query of hidden) {
    t.not((await search(query)).length, 0, query)
    t.deepEqual(await names(query), [], query)
  }
  t.deepEqual(await names('exists:ring'), ['Sanderling'])
  t.deepEqual(await names('zugvogel'), ['Sanderling'])
  t.deepEqual(await names('plover'), ['Plover', 'plover.txt'])
  t.deepEqual(await names('plover NOT zwischenhalt'), ['Plover', 'plover.txt'])
  t.deepEqual(await names('shorebird'), ['Plover'])
  t.deepEqual(await names('"plover" OR zwischenhalt'), ['Plover', 'plover.txt'])
  const suggested = (path: string) => ok<readonly object[]>(eve.call(path))
  t.deepEqual(await suggested('/api/search/values?field=ring'), [{ value: 'Zugvogel', count: 1 }])
  t.deepEqual(await suggested('/api/search/fields?prefix=ring'), [{ field: 'ring', count: 1 }])
  t.deepEqual(await suggested('/api/tags?prefix=abs'), [])
  t.deepEqual(await suggested('/api/tags?prefix=sho&kind=dataset'), [{ name: 'shorebird', count: 1 }])
})

test('a role without permission to view one kind of annotation finds by the others', async t => {
  const space = await newSpace('Estuary')
  const dataset = await newDataset(ann.call, { name: 'Brachvogel', space: [space] })
  const metadata = {
    agent: { '@type': 'cat:user', user_id: 'https://example.org/u', name: 'U' },
    content: { beak: 'Krummschnabel', millimetres: 120 },
  }
  await ok(ann.call(`/api/datasets/${dataset}/metadata.jsonld`, { method: 'POST', json: metadata }))
  await ann.call(`/api/datasets/${dataset}/comment`, { method: 'POST', json: { text: 'Randnotiz' } })
  const file = await upload(ann.call, dataset, 'x', 'brachvogel.txt')
  const section = { file_id: file, startTime: 1, endTime: 2 }
  const { id } = await ok<{ id: string }>(ann.call('/api/sections', { method: 'POST', json: section }))
  await ok(ann.call(`/api/sections/${id}/tags`, { method: 'POST', json: { tags: ['Teilstück'] } }))
  const found = {
    ViewMetadata: ['beak:krummschnabel', 'exists:beak'],
    ViewComments: ['randnotiz', 'comment:randnotiz', '/randnot.*/'],
    ViewSection: ['teilstück', 'tag:teilstück', '"teilstück"'],
  }
  const rights = Object.keys(found)
  for (const withheld of rights) {
    const person = await newPerson(server, `without-${withheld}`)
    const role = { name: `Without ${withheld}`, description: '' }
    const permissions = ['ViewSpace', 'ViewDataset', 'ViewFile', ...rights.filter(right => right !== withheld)]
    await ok(server.as(server.admin.key)('/api/roles', { method: 'POST', json: { ...role, permissions } }))
    await ok(ann.call(`/api/spaces/${space}/updateUsers`, { method: 'POST', json: { rolesandusers: { [role.name]: person.id } } }))
    for (const [right, queries] of Object.entries(found))
      for (const query of queries) {
        t.is((await search(query, person)).length, right === withheld ? 0 : 1, `${query} without ${withheld}`)
        // Only what has visible metadata can be sorted by it.
        const isSorted = right !== withheld && withheld !== 'ViewMetadata'
        t.is((await search(query, person, '&sort=millimetres')).length, isSorted ? 1 : 0, `${query} without ${withheld}, sorted`)
      }
    const others = await search('brachvogel NOT comment:randnotiz', person)
    t.deepEqual(others.map(({ name }) => name).sort(), withheld === 'ViewComments' ? ['Brachvogel', 'brachvogel.txt'] : ['brachvogel.txt'])
    const values = await ok<readonly object[]>(person.call('/api/search/values?field=beak'))
    t.is(values.length, withheld === 'ViewMetadata' ? 0 : 1)
    const tags = await ok<readonly object[]>(person.call('/api/tags?prefix=teil&kind=file'))
    t.is(tags.length, withheld === 'ViewSection' ? 0 : 1)
  }
  const both = await newPerson(server, 'without-one-of-each')
  for (const [place, role] of [
    [space, 'Without ViewComments'],
    [await newSpace('Lagoon'), 'Without ViewMetadata'],
  ])
    await ok(ann.call(`/api/spaces/${place}/updateUsers`, { method: 'POST', json: { rolesandusers: { [`${role}`]: both.id } } }))
  t.deepEqual(await search('comment:randnotiz', both, '&sort=millimetres'), [])
  t.is((await search('beak:krummschnabel', both, '&sort=millimetres')).length, 1)
})

test('what a role in one space shows is found by comments that a role in another space shows', async t => {
  const spaces = [await newSpace('Saltmarsh'), await newSpace('Mudflat')]
  const dataset = await newDataset(ann.call, { name: 'Rotschenkel', space: spaces })
  await ann.call(`/api/datasets/${dataset}/comment`, { method: 'POST', json: { text: 'Nachtrag' } })
  const person = await newPerson(server, 'in-two-spaces')
  const permissions = [
    ['ViewSpace', 'ViewDataset'],
    ['ViewSpace', 'ViewComments'],
  ]
  for (const [at, space] of spaces.entries()) {
    const role = { name: `Only ${permissions[at]?.[1]}`, description: '', permissions: permissions[at] ?? [] }
    await ok(server.as(server.admin.key)('/api/roles', { method: 'POST', json: role }))
    t.deepEqual(await search('nachtrag', person), [])
    await ok(ann.call(`/api/spaces/${space}/updateUsers`, { method: 'POST', json: { rolesandusers: { [role.name]: person.id } } }))
  }
  t.deepEqual(
    (await search('nachtrag', person)).map(({ name }) => name),
    ['Rotschenkel'],
  )
})

test('a parent that the caller may not view is omitted from the location', async t => {
  const [hidden, open] = [await newSpace('Hidden hollow'), await newSpace('Open meadow')]
  const dataset = await newDataset(ann.call, { name: 'Lapwing', space: [hidden, open] })
  await upload(ann.call, dataset, 'x', 'lapwing.txt')
  await letIn(open, eve)
  const places = (await search('lapwing', eve)).map(({ place }) => place.map(({ name }) => name)).sort()
  t.deepEqual(places, [['Open meadow'], ['Open meadow', 'Lapwing']])
  t.deepEqual((await search('lapwing', await newPerson(server, 'nobody'))).length, 0)
})

test('without the view parameter hits have no matches, and an unknown view is refused with 400', async t => {
  const dataset = await newDataset(ann.call, { name: 'Whimbrel' })
  await server.drained()
  const { results } = await ok<{ results: readonly object[] }>(ann.call('/api/search?query=whimbrel'))
  t.deepEqual(Object.keys(results[0] ?? {}).includes('matched'), false)
  t.like(results[0], { id: dataset, resource_type: 'dataset' })
  t.is((await refusal(ann.call('/api/search?query=whimbrel&view=half'))).status, 400)
})

test('every hit of a long page shows its location', async t => {
  const dataset = await newDataset(ann.call, { name: 'Dunlin flock' })
  for (let n = 0; n < 12; n += 1) await upload(ann.call, dataset, 'x', `dunlin-${n}.txt`)
  const hits = await search('dunlin resource_type:file', ann, '&size=10')
  t.is(hits.length, 10)
  t.true(hits.every(({ place }) => place.at(-1)?.name === 'Dunlin flock'))
})

test('a long name of a field of metadata or of a sensor is cut between characters', async t => {
  const name = `${'k'.repeat(199)}😀`
  const dataset = await newDataset(ann.call, { name: 'Herons' })
  const agent = { '@type': 'cat:user', user_id: `${server.url}/api/users/${ann.id}` }
  const document = { '@context': {}, agent, content: { [name]: 'dabchick' } }
  await ok(ann.call(`/api/datasets/${dataset}/metadata.jsonld`, { method: 'POST', json: document }))
  const geometry = { type: 'Point', coordinates: [7, 50, 0] }
  const sensor = { name: 'Heronry', type: 'Feature', geometry, properties: { [name]: 'dabchick' } }
  await ok(ann.call('/api/geostreams/sensors', { method: 'POST', json: sensor }))
  const fields = (await search('dabchick')).flatMap(({ matched }) => matched.map(({ field }) => field))
  t.is(fields.length, 2)
  for (const field of fields) t.true(field.isWellFormed(), field)
})
