import { Readable } from 'node:stream'
import test from 'ava'
import { Fetch, Unreachable } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { type Calls, callsOf } from '../support/calls.ts'
import { unknownId, upload } from '../support/scene.ts'
import { letIn, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

interface Definition {
  readonly id: string
  readonly spaceId?: string
  readonly json: {
    readonly label: string
    readonly uri: string
    readonly type: string
    readonly description?: string
    readonly definitions_url?: string
  }
}

const requested: { readonly url: string; readonly headers: Readonly<Record<string, string>> | undefined }[] = []
const words: Readonly<Record<string, readonly [status: number, text: string]>> = {
  'https://words.example.org/api/good': [200, '["rain", "snow"]'],
  'https://words.example.org/api/html': [200, '<html>'],
  'https://words.example.org/api/gone': [404, '{}'],
}
const fetch: Fetch = {
  async get(url, { headers }) {
    requested.push({ url, headers })
    const [status, text] = words[url] ?? [200, '[]']
    if (url.endsWith('away')) throw new Unreachable('it is unavailable')
    return { status, contentType: 'application/json', body: Readable.from([Buffer.from(text)]), url }
  },
  async below() {
    throw new Unreachable('nobody asks there')
  },
  check() {
    throw new Unreachable('nobody asks there')
  },
  async post() {
    throw new Unreachable('nobody asks there')
  },
}

let server: TestServer
let hidden: TestServer
let admin: Calls
let ann: Somebody
let bob: Somebody

test.before(async () => {
  const resources = { 'metadata-definitions': { fetchFrom: ['https://words.example.org/api/'] } }
  server = await bootForTest({ config: { resources }, overrides: { [Fetch]: fetch } })
  hidden = await bootForTest({ config: { access: { private: true } } })
  admin = callsOf(server.as(server.admin.key))
  ann = await somebody(server, 'ann')
  bob = await somebody(server, 'bob')
})
test.after.always(() => Promise.all([server?.stop(), hidden?.stop()]))

const listed = async (calls: Pick<Calls, 'get'>, path: string): Promise<readonly Definition[]> => {
  const { status, body } = await calls.get(path)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as readonly Definition[]
}
const labels = async (calls: Pick<Calls, 'get'>, path: string): Promise<readonly string[]> =>
  (await listed(calls, path)).map(({ json }) => json.label)
const labelled = async (calls: Pick<Calls, 'get'>, path: string, label: string): Promise<Definition> => {
  const found = (await listed(calls, path)).find(({ json }) => json.label === label)
  if (!found) throw new Error(`${path} has no ${label}`)
  return found
}
const everywhere = '/api/metadata/definitions'
const inSpace = (space: string): string => `/api/spaces/${space}/metadata`

test.serial('a new installation has eighteen definitions, by label', async t => {
  const first = await labels(ann, everywhere)
  t.is(first.length, 18)
  t.deepEqual(first, [...first].sort())
  for (const label of ['Audience', 'References', 'Date and Time', 'GeoJSON', 'ODM2 Variable Name']) t.true(first.includes(label), label)
  t.deepEqual(await labels(callsOf(server.as()), everywhere), first)
})

test.serial('a definition of the installation is created by a server admin and copied to every space', async t => {
  const space = await newSpace(ann)
  const definition = { label: 'water level', type: 'number', description: 'in metres', definitions_url: '', query_parameter: 'q' }
  t.is((await ann.post(everywhere, definition)).status, 403)
  t.is((await callsOf(server.as()).post(everywhere, definition)).status, 401)
  const { status, body } = await admin.post(everywhere, definition)
  t.deepEqual([status, body], [200, { status: 'ok' }])
  const made = await labelled(ann, everywhere, 'water level')
  t.false('spaceId' in made)
  const { uri, ...json } = made.json
  t.deepEqual(json as object, { label: 'water level', type: 'number', description: 'in metres', query_parameter: 'q' })
  t.regex(uri, /\/metadata#WaterLevel$/)
  await server.drained()
  const copy = await labelled(ann, inSpace(space), 'water level')
  t.deepEqual([copy.spaceId, copy.json], [space, made.json])
  t.not(copy.id, made.id)
  await admin.remove(`/admin/metadata/definitions/${made.id}`)
  t.true((await labels(ann, inSpace(space))).includes('water level'), 'copies stay')
})

test.serial('a new definition of the installation leaves the others available in every space', async t => {
  const [bare, own] = [await newSpace(ann), await newSpace(ann)]
  await ann.post(inSpace(own), { label: 'own only', type: 'string' })
  const pathOf = async (space: string) => `/api/datasets/${await newDataset(ann, { space })}/metadata`
  const [inBare, inOwn] = [await pathOf(bare), await pathOf(own)]
  const before = await labels(ann, inBare)
  t.true(before.includes('Audience'))
  for (const label of ['zenith', 'zone']) {
    await admin.post(everywhere, { label, type: 'number' })
    await server.drained()
  }
  t.deepEqual(await labels(ann, inBare), [...before, 'zenith', 'zone'])
  t.deepEqual(await labels(ann, inOwn), ['own only', 'zenith', 'zone'])
  const { id } = await labelled(ann, inSpace(bare), 'Audience')
  await ann.remove(`${everywhere}/${id}`)
  await admin.post(everywhere, { label: 'zoom', type: 'number' })
  await server.drained()
  t.deepEqual(await labels(ann, inBare), [...before.filter(label => label !== 'Audience'), 'zenith', 'zone', 'zoom'])
})

test('a definition of a space is created by its admins, and deleted with it', async t => {
  const space = await newSpace(ann)
  const definition = { label: 'soil  type', type: 'list', uri: '' }
  t.is((await bob.post(inSpace(space), definition)).status, 403)
  t.is((await ann.post(inSpace(unknownId), definition)).status, 404)
  const { status, body } = await ann.post(inSpace(space), definition)
  t.deepEqual([status, body], [200, { status: 'ok' }])
  const [made, ...more] = await listed(bob, inSpace(space))
  t.deepEqual(more, [])
  t.true(made?.json.uri.endsWith(`/metadata/${space}#SoilType`), made?.json.uri)
  await ann.remove(`/api/spaces/${space}`)
  await server.drained()
  t.is((await ann.get(`/api/metadata/definition/${made?.id}`)).status, 404)
})

test('null in a definition counts as absent, but a change requires a URI', async t => {
  const space = await newSpace(ann)
  const absent = { uri: null, description: null, definitions_url: null, query_parameter: null }
  t.is((await ann.post(inSpace(space), { label: 'pH', type: 'number', ...absent })).status, 200)
  const { id, json } = await labelled(ann, inSpace(space), 'pH')
  t.deepEqual(Object.keys(json), ['label', 'uri', 'type'])
  t.is((await ann.put(`${everywhere}/${id}`, { label: 'pH', type: 'number', ...absent, uri: json.uri })).status, 200)
  t.is((await ann.put(`${everywhere}/${id}`, { label: 'pH', type: 'number', ...absent })).status, 400)
})

test('an existing URI is ignored when adding a definition and refused when changing one', async t => {
  const space = await newSpace(ann)
  const uri = 'http://example.org/terms/depth'
  await ann.post(inSpace(space), { label: 'depth', type: 'number', uri })
  t.deepEqual((await ann.post(inSpace(space), { label: 'depth again', type: 'string', uri })).body, { status: 'ok' })
  t.deepEqual(await labels(ann, inSpace(space)), ['depth'])
  await ann.post(inSpace(space), { label: 'width', type: 'number', uri: 'http://example.org/terms/width' })
  const { id } = await labelled(ann, inSpace(space), 'width')
  const change = { label: 'width', type: 'number', uri }
  const refused = await ann.put(`${everywhere}/${id}`, change)
  t.is(refused.status, 400)
  t.is((refused.body as { message: string }).message, 'Metadata definition with same uri exists.')
  const other = await newSpace(ann)
  t.is((await ann.post(inSpace(other), { label: 'depth', type: 'number', uri })).status, 200)
  t.deepEqual(await labels(ann, inSpace(other)), ['depth'])
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, n) => ann.post(inSpace(other), { label: `l${n}`, type: 'x', uri: 'urn:one' })),
  )
  t.true(outcomes.every(({ status }) => status === 200))
  t.is((await listed(ann, inSpace(other))).length, 2)
})

test('a definition is changed and deleted by callers with rights on its space, or by a server admin', async t => {
  const space = await newSpace(ann)
  await ann.post(inSpace(space), { label: 'colour', type: 'string', description: 'seen' })
  const { id, json } = await labelled(ann, inSpace(space), 'colour')
  const change = { label: 'colour seen', type: 'string', uri: json.uri }
  await letIn(ann, space, 'Editor', bob)
  for (const by of [bob, await somebody(server)]) {
    t.is((await by.put(`${everywhere}/${id}`, change)).status, 403)
    t.is((await by.remove(`/admin/metadata/definitions/${id}`)).status, 403)
  }
  t.is((await callsOf(server.as()).remove(`/admin/metadata/definitions/${id}`)).status, 401)
  t.deepEqual((await ann.put(`${everywhere}/${id}?spaceId=${space}`, change)).body, { status: 'ok' })
  t.deepEqual((await ann.get(`/api/metadata/definition/${id}`)).body, { id, spaceId: space, json: change })
  t.is((await ann.put(`${everywhere}/${id}?spaceId=${await newSpace(ann)}`, change)).status, 404)
  t.is((await ann.put(`${everywhere}/${id}`, { label: 'a', type: 'b' })).status, 400)
  t.deepEqual((await ann.remove(`/admin/metadata/definitions/${id}`)).body, { status: 'ok' })
  for (const again of [
    ann.remove(`${everywhere}/${id}`),
    ann.put(`${everywhere}/${id}`, change),
    ann.get(`/api/metadata/definition/${id}`),
  ])
    t.is((await again).status, 404)
  const { id: global, json: of } = await labelled(ann, everywhere, 'Audience')
  t.is((await ann.put(`${everywhere}/${global}`, of)).status, 403)
  t.is((await ann.remove(`${everywhere}/${global}`)).status, 403)
  t.is((await admin.put(`${everywhere}/${global}`, { ...of, description: 'for whom' })).status, 200)
  t.is((await labelled(ann, everywhere, 'Audience')).json.description, 'for whom')
})

test.serial('creating, changing and deleting definitions is recorded in the feed', async t => {
  const carl = await somebody(server, 'carl')
  const space = await newSpace(carl)
  await carl.post(inSpace(space), { label: 'a', type: 'string' })
  const { id, json } = await labelled(carl, inSpace(space), 'a')
  await carl.put(`${everywhere}/${id}`, json)
  await carl.remove(`${everywhere}/${id}`)
  await admin.post(everywhere, { label: 'told', type: 'string' })
  await server.drained()
  const types = async (by: Calls) => ((await by.get('/api/events?limit=100')).body as { event_type: string }[]).map(line => line.event_type)
  const own = await types(carl)
  for (const type of ['added_metadata_space', 'edit_metadata_space', 'delete_metadata_space']) t.true(own.includes(type), type)
  t.true((await types(admin)).includes('added_metadata_instance'))
  t.false(own.includes('added_metadata_instance'))
})

test('files and datasets use the definitions of their spaces, or else those of the installation', async t => {
  const [one, two] = [await newSpace(ann), await newSpace(ann)]
  await ann.post(inSpace(one), { label: 'of one', type: 'string' })
  await ann.post(inSpace(two), { label: 'of two', type: 'string' })
  const [both, none] = [await newDataset(ann, { space: [one, two] }), await newDataset(ann)]
  const [file, alone] = [await upload(ann.call, both), await upload(ann.call, none)]
  for (const [path, bare] of [
    [`/api/files/${file}/metadataDefinitions`, `/api/files/${alone}/metadataDefinitions`],
    [`/api/datasets/${both}/metadata`, `/api/datasets/${none}/metadata`],
  ] as const) {
    t.deepEqual(
      (await labels(ann, path)).filter(label => label.startsWith('of ')),
      ['of one', 'of two'],
    )
    t.deepEqual(
      (await labels(ann, `${path}?space=${two}`)).filter(label => label.startsWith('of ')),
      ['of two'],
    )
    t.true((await labels(ann, bare)).includes('Audience'))
    t.is((await bob.get(path)).status, 403)
    t.is((await ann.get(`${path}?space=${unknownId}`)).status, 404)
    t.is((await ann.get(path.replace(/[0-9a-f]{24}/, unknownId))).status, 404)
  }
  t.is((await ann.get(`/api/datasets/${unknownId}/metadata`)).status, 404)
})

test('distinct definitions are those of the installation and of the caller’s spaces, each once', async t => {
  const dora = await somebody(server, 'dora')
  const [one, two] = [await newSpace(dora), await newSpace(dora)]
  for (const space of [one, two]) await dora.post(inSpace(space), { label: 'same', type: 'string', uri: 'urn:same' })
  await dora.post(inSpace(two), { label: 'same', type: 'number', uri: 'urn:other' })
  const mine = await listed(dora, '/api/metadata/distinctdefinitions')
  t.deepEqual(
    mine
      .filter(({ json }) => json.label === 'same')
      .map(({ json }) => json.type)
      .sort(),
    ['number', 'string'],
  )
  const texts = mine.map(({ json }) => JSON.stringify(json))
  t.is(new Set(texts).size, texts.length)
  t.false((await labels(bob, '/api/metadata/distinctdefinitions')).includes('same'))
})

test('labels are suggested as field names, those of spaces to their members only', async t => {
  const space = await newSpace(ann)
  await ann.post(inSpace(space), { label: 'Audible range', type: 'number' })
  const names = async (by: Pick<Calls, 'get'>, filter: string) => (await by.get(`/api/metadata/autocompletenames?filter=${filter}`)).body
  t.deepEqual(await names(ann, 'aud'), ['metadata.Audible range', 'metadata.Audience'])
  t.deepEqual(await names(ann, 'metadata.Aud'), ['metadata.Audible range', 'metadata.Audience'])
  t.deepEqual(await names(bob, 'aud'), ['metadata.Audience'])
  t.deepEqual(await names(callsOf(server.as()), 'zzz'), [])
})

test('terms of a list are fetched from this server or an allowed URL, without the caller’s cookies and keys', async t => {
  const space = await newSpace(ann)
  const vocabulary = ((await ann.post('/api/standardvocab', ['oak', 'ash'])).body as { url: string }).url
  const urls: Readonly<Record<string, string>> = {
    local: vocabulary,
    gone: `/api/standardvocab/${unknownId}/terms`,
    good: 'https://words.example.org/api/good',
    html: 'https://words.example.org/api/html',
    lost: 'https://words.example.org/api/gone',
    away: 'https://words.example.org/api/away',
    above: 'https://words.example.org/api/../private',
    other: 'https://words.example.org.evil.example/api/good',
    none: '',
  }
  for (const [label, definitions_url] of Object.entries(urls)) await ann.post(inSpace(space), { label, type: 'list', definitions_url })
  const fetched = async (label: string) => ann.get(`${everywhere}/${(await labelled(ann, inSpace(space), label)).id}`)
  t.deepEqual((await fetched('local')).body, ['oak', 'ash'])
  t.deepEqual((await fetched('good')).body, ['rain', 'snow'])
  t.deepEqual((await fetched('good')).body, ['rain', 'snow'])
  t.is(requested.filter(({ url }) => url.endsWith('/good')).length, 1, 'the terms are cached')
  for (const { headers } of requested) t.deepEqual(Object.keys(headers ?? {}), ['accept'])
  const statuses: Readonly<Record<string, number>> = { gone: 400, none: 400, above: 403, other: 403, html: 422, lost: 422, away: 422 }
  for (const [label, status] of Object.entries(statuses)) t.is((await fetched(label)).status, status, label)
  t.false(requested.some(({ url }) => url.includes('private') || url.includes('evil')))
  t.is((await ann.get(`${everywhere}/${unknownId}`)).status, 404)
  t.is((await callsOf(server.as()).get(`${everywhere}/${(await labelled(ann, inSpace(space), 'good')).id}`)).status, 401)
})

test('invalid and hostile definitions are refused, and valid URIs are accepted', async t => {
  const space = await newSpace(ann)
  const right = { label: 'a', type: 'string' }
  const wrong = [
    {},
    { label: 'a' },
    { type: 'string' },
    { ...right, label: '' },
    { ...right, label: 'a\nb' },
    { ...right, label: 'x'.repeat(501) },
    { ...right, uri: 'javascript:alert(1)' },
    { ...right, uri: 'JavaScript:alert(1)' },
    { ...right, uri: 'data:text/html,<script>' },
    { ...right, uri: 'http://a b' },
    { ...right, uri: 7 },
    { ...right, definitions_url: 'file:///etc/passwd' },
    { ...right, definitions_url: '/api/users' },
    { ...right, definitions_url: 'javascript:alert(1)' },
  ]
  for (const body of wrong) {
    t.is((await ann.post(inSpace(space), body)).status, 400, JSON.stringify(body).slice(0, 80))
    t.is((await admin.post(everywhere, body)).status, 400, JSON.stringify(body).slice(0, 80))
  }
  for (const [n, uri] of ['http://purl.org/dc/terms/date', 'dc:title', 'urn:isbn:1', 'doi:10.1/x', '#x'].entries())
    t.is((await ann.post(inSpace(space), { ...right, label: `l${n}`, uri })).status, 200, uri)
  t.is((await listed(ann, inSpace(space))).length, 5)
})

test('on a private server, definitions of a space are visible to its members only', async t => {
  const [cleo, dan] = [await somebody(hidden, 'cleo'), await somebody(hidden, 'dan')]
  const space = await newSpace(cleo)
  await cleo.post(inSpace(space), { label: 'secret', type: 'string' })
  const { id, json } = await labelled(cleo, inSpace(space), 'secret')
  t.is((await dan.get(inSpace(space))).status, 404)
  t.is((await dan.get(`/api/metadata/definition/${id}`)).status, 404)
  t.is((await dan.get(`${everywhere}/${id}`)).status, 404)
  t.is((await dan.put(`${everywhere}/${id}`, json)).status, 404)
  t.is((await dan.remove(`${everywhere}/${id}`)).status, 404)
  t.false(JSON.stringify((await dan.get('/api/metadata/distinctdefinitions')).body).includes('secret'))
  for (const path of [everywhere, '/api/metadata/distinctdefinitions', '/api/metadata/autocompletenames'])
    t.is((await callsOf(hidden.as()).get(path)).status, 401, path)
})
