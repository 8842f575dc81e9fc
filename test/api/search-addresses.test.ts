import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { ok, refusal } from '../support/scene.ts'
import { letIn, newDataset, newSpace, publish, type Somebody, somebody } from '../support/spaces-and-people.ts'

interface Result {
  readonly results: readonly { readonly id: string }[]
  readonly total_size: number
}

let server: TestServer
/** Has a public dataset, visible to all callers, and a space with bob. */
let ann: Somebody
let bob: Somebody
let eve: Somebody

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  ann = await somebody(server, 'ann')
  bob = await somebody(server, 'bob')
  eve = await somebody(server, 'eve')
  const [open, own] = [await newSpace(ann), await newSpace(ann)]
  await publish(server, ann, open)
  await newDataset(ann, { name: 'marsh', space: [open] })
  await letIn(ann, own, 'Viewer', bob)
  await server.drained()
})
test.after.always(() => server?.stop())

const total = async (query: string, person: Somebody): Promise<number> =>
  (await ok<Result>(person.call(`/api/search?query=${encodeURIComponent(query)}`))).total_size

test('on a private server, an email address finds resources of visible accounts and reveals nothing about others', async t => {
  t.is(await total('marsh', eve), 1)
  for (const query of [
    `email:${ann.email}`,
    `email=="${ann.email}"`,
    `email:"${ann.email}"`,
    `marsh AND email:${ann.email.toUpperCase()}`,
  ]) {
    t.is(await total(query, ann), 1, query)
    t.is(await total(query, bob), 1, query)
    t.is(await total(query, eve), 0, query)
  }
  t.is(await total(`marsh NOT email:${ann.email}`, eve), 1)
  t.is(await total(`marsh NOT email:${ann.email}`, bob), 0)
  t.is(await total('email:nobody@example.org', eve), 0)
  t.is((await eve.get(`/api/users/${ann.id}`)).status, 404)
})

test('prefixes and patterns of addresses are refused, because they would reveal addresses', async t => {
  for (const query of ['email:a*', 'email:*', 'email:/a.*/', 'email!=a@b.org', 'marsh AND (lake OR NOT email:?nn*)']) {
    const { status, message } = await refusal(eve.call(`/api/search?query=${encodeURIComponent(query)}`))
    t.deepEqual([status, message], [400, 'email must be a full address on this server: email:ada@example.org'], query)
  }
  const many = Array.from({ length: 21 }, (_, n) => `email:p${n}@example.org`).join(' OR ')
  t.is((await eve.call(`/api/search?query=${encodeURIComponent(many)}`)).status, 400)
})

test('a server admin may search for patterns of addresses', async t => {
  const admin = server.as(server.admin.key)
  const { total_size } = await ok<Result>(admin(`/api/search?superAdmin=true&query=${encodeURIComponent('email:ann*')}`))
  t.is(total_size, 1)
})
