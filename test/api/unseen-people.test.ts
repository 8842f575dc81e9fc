import test from 'ava'
import { anonymousUserId } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { type Answer, callsOf } from '../support/calls.ts'
import { newDataset, newSpace, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ config: { access: { private: true } } })
const unknownId = 'f'.repeat(24)
const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
const admin = callsOf(server.as(server.admin.key))
test.after.always(() => server.stop())

/** What came back, but for the id of the request and the ids that were sent. */
const plain = ({ status, body }: Answer, id: string): unknown => ({
  status,
  text: JSON.stringify({ ...(body as object), requestId: '' }).replaceAll(id, 'ID'),
})

test.serial('who may not be seen is answered like who does not exist, by every route that takes the id of a person', async t => {
  const space = await newSpace(ann)
  t.is((await ann.get(`/api/users/${bob.id}`)).status, 404)
  const asked: readonly ((id: string) => Promise<Answer>)[] = [
    id => ann.get(`/api/users/${id}`),
    id => ann.get(`/api/users/${id}/links`),
    id => ann.put(`/api/users/${id}`, { firstName: 'A' }),
    id => ann.post(`/api/users/${id}/updateName?firstName=A&lastName=B`),
    id => ann.post(`/api/spaces/${space}/invite`, { userIds: [id] }),
    id => ann.post(`/api/spaces/${space}/updateUsers`, { rolesandusers: { Viewer: id } }),
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
  for (const [at, ask] of asked.entries()) t.deepEqual(plain(await ask(bob.id), bob.id), plain(await ask(unknownId), unknownId), `${at}`)
  t.is((await ann.get(`/api/users/${bob.id}`)).status, 404)
  t.false(JSON.stringify((await ann.get(`/api/spaces/${space}/members`)).body).includes(bob.id))
})

test.serial('whose address may not be seen is answered like an address that nobody has, by every route that takes one', async t => {
  const space = await newSpace(ann)
  const info = { name: 'apart', version: '1', description: '', author: '', contexts: {}, repository: [] }
  const asked: readonly ((email: string) => Promise<Answer>)[] = [
    email => ann.get(`/api/users/email/${email}`),
    email => ann.post(`/api/spaces/${space}/invite`, { emails: [email] }),
    email => ann.post(`/api/extractors?extractor_key=secret&user=${email}`, info),
  ]
  const unknown = 'nobody-has-it@example.org'
  for (const [at, ask] of asked.entries()) t.deepEqual(plain(await ask(bob.email), bob.email), plain(await ask(unknown), unknown), `${at}`)
})

test.serial('metadata that names who may not be seen as its agent is taken like that of an unknown person', async t => {
  const dataset = await newDataset(ann)
  const told = async (place: string) => {
    const agent = { '@type': 'cat:user', name: 'Somebody', user_id: `${server.url}/api/users/${place}` }
    const { status, body } = await ann.post(`/api/datasets/${dataset}/metadata.jsonld`, { agent, content: { a: 1 } })
    const [document] = (await ann.get(`/api/datasets/${dataset}/metadata.jsonld`)).body as { agent: object }[]
    return { status, body, agent: document?.agent }
  }
  const unknown = await told(unknownId)
  t.is(unknown.status, 200)
  t.deepEqual(unknown.agent, { '@type': 'cat:user', name: 'Somebody', user_id: `${server.url}/api/users/${anonymousUserId}` })
  for (const place of [bob.id, `email/${bob.email}`, 'email/nobody-has-it@example.org']) t.deepEqual(await told(place), unknown, place)
})

test.serial('visible people are added by id, and members stay', async t => {
  const [space, other] = [await newSpace(ann), await newSpace(ann)]
  const path = `/api/spaces/${space}/members/${bob.id}?superAdmin=true`
  t.is((await admin.put(path, { role: 'Viewer' })).status, 200)
  t.is((await ann.get(`/api/users/${bob.id}`)).status, 200)
  t.is((await ann.put(`/api/spaces/${other}/members/${bob.id}`, { role: 'Editor' })).status, 200)
  t.is((await ann.post(`/api/spaces/${space}/updateUsers`, { rolesandusers: { Editor: bob.id } })).status, 200)
  for (const each of [space, other]) t.is((await ann.remove(`/api/spaces/${each}/members/${bob.id}`)).status, 200)
})
