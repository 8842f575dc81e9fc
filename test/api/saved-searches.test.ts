import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { ok, refusal, unknownId } from '../support/scene.ts'

interface Saved {
  readonly id: string
  readonly name: string
  readonly query: string
  readonly created: string
}

let server: TestServer
test.before(async () => {
  server = await bootForTest({})
})
test.after.always(() => server?.stop())

const list = (person: Person) => ok<readonly Saved[]>(person.call('/api/me/searches'))
const post = (person: Person, name: unknown, query: unknown) => person.call('/api/me/searches', { method: 'POST', json: { name, query } })
const save = (person: Person, name: string, query: string) => ok<Saved>(post(person, name, query))
const remove = (person: Person, id: string) => person.call(`/api/me/searches/${id}`, { method: 'DELETE' })

test('a saved search is listed until it is deleted, for its owner only', async t => {
  const [ann, eve] = [await newPerson(server, 'ann'), await newPerson(server, 'eve')]
  t.deepEqual(await list(ann), [])
  const first = await save(ann, 'Wet soil', 'soil moisture>40 tag:"red oak"')
  t.like(first, { name: 'Wet soil', query: 'soil moisture>40 tag:"red oak"' })
  t.regex(first.created, /^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/)
  const second = await save(ann, 'Everything', '')
  t.deepEqual(await list(ann), [first, second])
  t.deepEqual(await list(eve), [])
  t.is((await refusal(remove(eve, first.id))).status, 404)
  t.is((await remove(ann, first.id)).status, 200)
  t.deepEqual(await list(ann), [second])
  for (const id of [first.id, unknownId, 'nonsense']) t.is((await refusal(remove(ann, id))).status, 404, id)
})

test('a duplicate name gets 409, and an invalid query 400 with its position', async t => {
  const bob = await newPerson(server, 'bob')
  await save(bob, 'Mine', 'soil')
  t.is((await refusal(post(bob, 'Mine', 'sand'))).status, 409)
  const { status, message } = await refusal(post(bob, 'Broken', '(soil'))
  t.is(status, 400)
  t.regex(message, /\d/)
  for (const [name, query] of [
    ['', 'soil'],
    ['x'.repeat(201), 'soil'],
    ['Two\nlines', 'soil'],
    ['Long', 'x'.repeat(10_001)],
    ['None', undefined],
    [7, 'soil'],
  ] as const)
    t.is((await refusal(post(bob, name, query))).status, 400, String(name).slice(0, 20))
  t.is((await list(bob)).length, 1)
})

test('a user can save at most 100 searches, even concurrently', async t => {
  const cal = await newPerson(server, 'cal')
  for (let n = 0; n < 98; n += 1) await save(cal, `Search ${n}`, 'soil')
  const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => post(cal, `Late ${n}`, 'soil')))
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 409, 409, 409, 409])
  t.is((await list(cal)).length, 100)
})

test('signed-out callers and limited keys are refused', async t => {
  t.is((await refusal(server.as()('/api/me/searches'))).status, 401)
  const dan = await newPerson(server, 'dan')
  const { key } = await ok<{ key: string }>(dan.call('/api/users/keys?name=reader&verbs=read', { method: 'POST' }))
  t.is((await refusal(server.as(key)('/api/me/searches'))).status, 403)
})
