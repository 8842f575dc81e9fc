import { fileURLToPath } from 'node:url'
import test from 'ava'
import { defineResource, event, ref } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { type Calls, callsOf, idOf, idsOf } from '../../test/support/calls.ts'
import { listen } from '../../test/support/live-events.ts'
import { browserTests } from '../../test/support/real-browsers.ts'
import { letIn, newDataset, newSpace, somebody } from '../../test/support/spaces-and-people.ts'
import { until } from '../../test/support/until.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { pageFindings, webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
const server = await bootForTest({ also: [fileURLToPath(new URL('.', import.meta.url))], config: { access: { private: true } } })
const admin = callsOf(server.as(server.admin.key))
const nobody = callsOf(server.as())
const [owner, editor, viewer, visitor, stranger] = [
  await somebody(server, 'owner'),
  await somebody(server, 'editor'),
  await somebody(server, 'viewer'),
  await somebody(server, 'visitor'),
  await somebody(server, 'stranger'),
]
await idOf(admin.post('/api/roles', { name: 'Visitor', permissions: ['ViewSpace', 'ViewDataset'] }))

/** A space of the owner with an editor, a viewer, and a visitor who may view the space but none of its instruments. */
const newLab = async (): Promise<string> => {
  const lab = await newSpace(owner)
  await letIn(owner, lab, 'Editor', editor)
  await letIn(owner, lab, 'Viewer', viewer)
  await letIn(owner, lab, 'Visitor', visitor)
  return lab
}
const newInstrument = (lab: string, name = 'spectrometer', by: Calls = editor): Promise<string> =>
  idOf(by.post(`/api/spaces/${lab}/instruments`, { name, description: 'in the cellar', model: 'XR-7' }))

const statuses = (send: (who: Calls) => Promise<{ readonly status: number }>) =>
  Promise.all([owner, editor, viewer, visitor, stranger, nobody].map(async who => (await send(who)).status))

const lab = await newLab()
const instrument = await newInstrument(lab)
test.before(webBuild)
test.after.always(() => server.stop())

inBrowser('a search hit leads to the page of the plugin, which shows the instrument', async t => {
  const open = await bootForTest({ t, also: [fileURLToPath(new URL('.', import.meta.url))] })
  const someone = await somebody(open)
  await newInstrument(await newSpace(someone), 'zirconium balance', someone)
  await open.drained()
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, open.url, open.admin)
  await page.goto('/search?query=zirconium')
  await page.getByRole('link', { name: 'zirconium balance' }).click()
  await page.getByRole('heading', { level: 1, name: 'Instrument' }).waitFor()
  await page.getByRole('heading', { level: 2, name: 'zirconium balance' }).waitFor()
  await page.getByText('XR-7').waitFor()
  t.is(await page.getByRole('link', { name: 'Instrument', exact: true }).count(), 0)
  t.deepEqual(await pageFindings(page), [])
  t.deepEqual(problems, [])
})

test('rights on an instrument are those of its space', async t => {
  const path = `/api/instruments/${instrument}`
  t.deepEqual(await statuses(({ get }) => get(path)), [200, 200, 200, 404, 404, 401])
  t.deepEqual(await statuses(({ get }) => get(`/api/spaces/${lab}/instruments`)), [200, 200, 200, 403, 404, 401])
  t.deepEqual(await statuses(({ put }) => put(path, { description: 'on the roof' })), [200, 200, 403, 404, 404, 401])
  const text = { name: 'balance', description: '', model: 'B1' }
  const other = await newLab()
  t.deepEqual(await statuses(({ post }) => post(`/api/spaces/${other}/instruments`, text)), [200, 200, 403, 403, 404, 401])
  const spare = await newInstrument(lab, 'spare')
  t.deepEqual(await statuses(async who => (who === owner || who === editor ? { status: 0 } : who.remove(`/api/instruments/${spare}`))), [
    ...[0, 0, 403, 404, 404, 401],
  ])
  t.is((await owner.remove(`/api/instruments/${spare}`)).status, 204)
  t.is((await owner.get(`/api/instruments/${spare}`)).status, 404)
  t.is((await owner.remove(`/api/instruments/${spare}`)).status, 404)
  t.is((await owner.get('/api/instruments/odd')).status, 404)
})

test('instruments of a public server can be read by everyone', async t => {
  const open = await bootForTest({ t, also: [fileURLToPath(new URL('.', import.meta.url))] })
  const someone = await somebody(open)
  const id = await newInstrument(await newSpace(someone), 'public spectrometer', someone)
  const anyone = callsOf(open.as())
  t.is((await anyone.get(`/api/instruments/${id}`)).status, 200)
  t.is((await anyone.put(`/api/instruments/${id}`, { name: 'mine' })).status, 401)
})

test('rights on instruments are checked and explained like all others', async t => {
  const requested = { resources: [{ type: 'instrument', id: instrument }], permissions: ['ViewInstrument', 'EditInstrument'] }
  const held = await Promise.all([editor, viewer, stranger].map(async who => (await who.post('/api/permissions/check', requested)).body))
  t.deepEqual(
    held.map(body => (body as { permissions: string[] }[])[0]?.permissions),
    [['ViewInstrument', 'EditInstrument'], ['ViewInstrument'], []],
  )
  const why = await viewer.get(`/api/permissions/explain?permission=EditInstrument&type=instrument&id=${instrument}`)
  t.regex(JSON.stringify(why.body), /"verdict":"no".*role Viewer in space \w+ .* does not grant EditInstrument/)
  t.is((await stranger.get(`/api/permissions/explain?permission=EditInstrument&type=instrument&id=${instrument}`)).status, 404)
})

test('the search finds instruments by their text and values, for those who may view them', async t => {
  const id = await newInstrument(lab, 'zirconium canary')
  await server.drained()
  const found = (who: Calls, query: string) => who.get(`/api/search?${query}`)
  const hits = async (who: Calls, query: string) =>
    idsOf(found(who, query).then(({ body, ...rest }) => ({ ...rest, body: (body as { results: object[] }).results })))
  for (const query of ['query=zirconium', 'query=zirconium&resource_type=instrument', `query=in:${lab} AND canary`])
    for (const who of [owner, editor, viewer]) t.deepEqual(await hits(who, query), [id], query)
  t.true((await hits(viewer, 'query=instrument.model:XR-7')).includes(id))
  for (const who of [visitor, stranger]) {
    t.deepEqual(await hits(who, 'query=zirconium'), [])
    t.notRegex(
      JSON.stringify([(await found(who, 'query=zirconium')).body, (await found(who, 'query=zirconium&view=full&facets=type')).body]),
      /canary|"value":"instrument"/,
    )
  }
  const { body } = await found(viewer, 'query=zirconium&view=full')
  t.like((body as { results: object[] }).results[0], { kind: 'instrument', name: 'zirconium canary', description: 'in the cellar' })
  t.deepEqual(
    (body as { results: { place: { id: string }[] }[] }).results[0]?.place.map(place => place.id),
    [lab],
  )
  t.is((await found(viewer, 'query=x&resource_type=instruments')).status, 400)

  t.is((await editor.put(`/api/instruments/${id}`, { name: 'hafnium canary' })).status, 200)
  await server.drained()
  t.deepEqual(await hits(viewer, 'query=hafnium'), [id])
  t.deepEqual(await hits(viewer, 'query=zirconium'), [])
  t.is((await editor.remove(`/api/instruments/${id}`)).status, 204)
  await server.drained()
  t.deepEqual(await hits(viewer, 'query=hafnium'), [])
})

test('the tree shows instruments below their space to those who may view them', async t => {
  const own = await newLab()
  const dataset = await newDataset(owner, { space: [own] })
  const ids = [await newInstrument(own, 'a'), await newInstrument(own, 'b')]
  await server.drained()
  const below = async (who: Calls, more = '') => who.get(`/api/tree/getChildrenOfNode?nodeType=space&nodeId=${own}${more}`)
  t.deepEqual(await idsOf(below(viewer)), [dataset, ...ids])
  t.deepEqual(await idsOf(below(visitor)), [dataset])
  t.is((await below(stranger)).status, 404)
  const first = await below(viewer, '&limit=2')
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
  t.deepEqual(await idsOf(viewer.get(next.replace(server.url, ''))), [ids[1]])
  t.like(((await below(viewer)).body as object[])[1], { name: 'a', type: 'instrument', children: false, authorId: editor.id })
})

test('the live stream and the feed report changes of instruments to those who may view them', async t => {
  const own = await newLab()
  await server.drained()
  const [seen, unseen, foreign] = [
    await listen(server.url, viewer.key, '?kind=instrument'),
    await listen(server.url, visitor.key),
    await listen(server.url, stranger.key),
  ]
  const id = await newInstrument(own, 'live canary')
  const isOf = (type: string) => (event: { readonly type: string; readonly subject: string }) =>
    event.type === type && event.subject === `instrument/${id}`
  t.like((await seen.first('instrument.created', isOf('instrument.created'))).data, { id, name: 'live canary' })
  t.is((await editor.put(`/api/instruments/${id}`, { model: 'XR-8' })).status, 200)
  t.deepEqual((await seen.first('instrument.updated', isOf('instrument.updated'))).data['fields'], ['model'])
  t.is((await editor.remove(`/api/instruments/${id}`)).status, 204)
  t.deepEqual((await seen.first('instrument.deleted', isOf('instrument.deleted'))).data, { id })
  // A later event has arrived, so no event about the instrument is pending.
  await owner.post(`/api/spaces/${own}/update`, { name: 'renamed', description: '', timetolive: '24', enabled: false, access: 'PRIVATE' })
  await unseen.first('space.updated', ({ type, subject }) => type === 'space.updated' && subject === `space/${own}`)
  await server.drained()
  for (const stream of [unseen, foreign]) t.notRegex(stream.text, /canary|instrument/)
  for (const stream of [seen, unseen, foreign]) stream.close()
  t.is((await viewer.get('/api/live?type=instrument.moved')).status, 400)

  const lines = async (who: Calls) => JSON.stringify((await who.get('/api/events?limit=100')).body)
  for (const who of [viewer, visitor, stranger]) await who.post(`/api/users/${editor.id}/follow`)
  t.regex(await lines(editor), /create_instrument/)
  t.regex(await lines(editor), /delete_instrument/)
  for (const who of [visitor, stranger]) t.notRegex(await lines(who), /canary/)
})

test('instruments are deleted with their space', async t => {
  const own = await newLab()
  const ids = [await newInstrument(own), await newInstrument(own)]
  await server.drained()
  t.is((await owner.remove(`/api/spaces/${own}`)).status, 200)
  for (const id of ids) t.is((await owner.get(`/api/instruments/${id}`)).status, 404, 'at once')
  await server.drained()
  const { body } = await owner.get(`/api/search?query=in:${own}`)
  t.deepEqual((body as { results: object[] }).results, [])
  await until('the last instrument to be gone', async () => (await editor.get(`/api/instruments/${ids[0]}`)).status === 404)
})

test('a misspelt kind, event or permission does not compile', t => {
  // @ts-expect-error: the kind is instrument
  ref('instrumnt', 'id')
  // @ts-expect-error: the event is instrument.created
  event('instrument.crated', { kind: 'instrument', id: instrument }, {})
  // @ts-expect-error: what is gone has a last name
  event('instrument.removed', { kind: 'instrument', id: instrument }, { within: [] })
  // @ts-expect-error: the permission is ViewInstrument
  t.truthy(defineResource({ kind: 'instrument', view: 'ViewInstrumnt', rightsSource: class {} as never }))
})
