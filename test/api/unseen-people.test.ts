import test from 'ava'
import { anonymousUserId } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import type { Answer } from '../support/calls.ts'
import { newDataset, newSpace, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ config: { access: { private: true } } })
const unknownId = 'f'.repeat(24)
const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
test.after.always(() => server.stop())

/** The response without the request ID and the sent IDs. */
const plain = ({ status, body }: Answer, id: string): unknown => ({
  status,
  text: JSON.stringify({ ...(body as object), requestId: '' }).replaceAll(id, 'ID'),
})

test.serial('invisible accounts get the same response as missing ones from every route except updateUsers', async t => {
  const space = await newSpace(ann)
  t.is((await ann.get(`/api/users/${bob.id}`)).status, 404)
  const requested: readonly ((id: string) => Promise<Answer>)[] = [
    id => ann.get(`/api/users/${id}`),
    id => ann.get(`/api/users/${id}/links`),
    id => ann.put(`/api/users/${id}`, { firstName: 'A' }),
    id => ann.post(`/api/users/${id}/updateName?firstName=A&lastName=B`),
    id => ann.post(`/api/spaces/${space}/invite`, { userIds: [id] }),
    id => ann.put(`/api/spaces/${space}/members/${id}`, { role: 'Viewer' }),
    id => ann.remove(`/api/spaces/${space}/members/${id}`),
    id => ann.post(`/api/spaces/${space}/removeUser?removeUser=${id}`),
    id => ann.post(`/api/spaces/${space}/acceptRequest?user=${id}`),
    id => ann.post(`/api/spaces/${space}/rejectRequest?user=${id}`),
    id => ann.post(`/api/users/follow?followeeUUID=${id}`),
    id => ann.post(`/api/users/unfollow?followeeUUID=${id}`),
    id => ann.get(`/api/permissions/explain?permission=ViewUser&type=user&id=${id}`),
    id => ann.get(`/api/permissions/explain?permission=ViewUser&user=${id}`),
  ]
  for (const [at, ask] of requested.entries())
    t.deepEqual(plain(await ask(bob.id), bob.id), plain(await ask(unknownId), unknownId), `${at}`)
  t.is((await ann.get(`/api/users/${bob.id}`)).status, 404)
  t.false(JSON.stringify((await ann.get(`/api/spaces/${space}/members`)).body).includes(bob.id))
})

test.serial('an invisible address gets the same response as an unknown one from every route that takes an address', async t => {
  const space = await newSpace(ann)
  const info = { name: 'apart', version: '1', description: '', author: '', contexts: {}, repository: [] }
  const requested: readonly ((email: string) => Promise<Answer>)[] = [
    email => ann.get(`/api/users/email/${email}`),
    email => ann.post(`/api/spaces/${space}/invite`, { emails: [email] }),
    email => ann.post(`/api/extractors?extractor_key=secret&user=${email}`, info),
  ]
  const unknown = 'nobody-has-it@example.org'
  for (const [at, ask] of requested.entries())
    t.deepEqual(plain(await ask(bob.email), bob.email), plain(await ask(unknown), unknown), `${at}`)
})

test.serial('metadata with an invisible account as its agent is handled like that of an unknown person', async t => {
  const dataset = await newDataset(ann)
  const shownIn = async (place: string) => {
    const agent = { '@type': 'cat:user', name: 'Somebody', user_id: `${server.url}/api/users/${place}` }
    const { status, body } = await ann.post(`/api/datasets/${dataset}/metadata.jsonld`, { agent, content: { a: 1 } })
    const [document] = (await ann.get(`/api/datasets/${dataset}/metadata.jsonld`)).body as { agent: object }[]
    return { status, body, agent: document?.agent }
  }
  const unknown = await shownIn(unknownId)
  t.is(unknown.status, 200)
  t.deepEqual(unknown.agent, { '@type': 'cat:user', name: 'Somebody', user_id: `${server.url}/api/users/${anonymousUserId}` })
  for (const place of [bob.id, `email/${bob.email}`, 'email/nobody-has-it@example.org']) t.deepEqual(await shownIn(place), unknown, place)
})

test.serial('updateUsers adds users by id, including those that the owner of the space may not view', async t => {
  const [one, other] = [await newSpace(ann), await newSpace(ann)]
  const assign = async (id: string) => (await ann.post(`/api/spaces/${one}/updateUsers`, { rolesandusers: { Viewer: id } })).status
  t.is((await ann.get(`/api/users/${bob.id}`)).status, 404)
  t.is(await assign(unknownId), 400)
  t.is(await assign(bob.id), 200)
  t.is((await bob.get(`/api/spaces/${one}`)).status, 200)
  t.is((await ann.get(`/api/users/${bob.id}`)).status, 200)
  t.is((await ann.put(`/api/spaces/${other}/members/${bob.id}`, { role: 'Editor' })).status, 200)
  for (const each of [one, other]) t.is((await ann.remove(`/api/spaces/${each}/members/${bob.id}`)).status, 200)
})

test.serial('adding invisible users counts towards the limit of invitations', async t => {
  const [eve, fay] = [await somebody(server, 'eve'), await somebody(server, 'fay')]
  const space = await newSpace(eve)
  const assign = async (...ids: string[]) =>
    (await eve.post(`/api/spaces/${space}/updateUsers`, { rolesandusers: { Viewer: ids.join() } })).status
  const emails = Array.from({ length: 99 }, (_, n) => `guest${n}@elsewhere.example`)
  t.is((await eve.post(`/api/spaces/${space}/invite`, { emails })).status, 200)
  for (const _ of [1, 2]) t.is(await assign(fay.id), 200)
  t.is(await assign(fay.id, bob.id), 429)
  t.is(await assign(fay.id), 200)
})
