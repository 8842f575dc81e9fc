import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { callsOf, idOf, idsOf } from '../support/calls.ts'
import { unknownId } from '../support/scene.ts'
import { letIn, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let hidden: TestServer
let ann: Somebody
let bob: Somebody

test.before(async () => {
  server = await bootForTest()
  hidden = await bootForTest({ config: { access: { private: true } } })
  ann = await somebody(server, 'ann')
  bob = await somebody(server, 'bob')
})
test.after.always(() => Promise.all([server?.stop(), hidden?.stop()]))

const words = {
  name: 'soil',
  description: 'What is in the ground',
  keys: 'pH, moisture ,',
  tags: 'ground,earth',
  terms: [
    { key: 'pH', units: '', default_value: '7', description: 'acidity' },
    { key: 'moisture', units: '%' },
  ],
}
const made = (by: Somebody, more: object = {}, query = ''): Promise<string> =>
  idOf(by.post(`/api/vocabularies/createVocabularyFromJson${query}`, { ...words, ...more }))

test('a standard vocabulary keeps the order of its terms and contains their URL', async t => {
  const { status, body } = await ann.post('/api/standardvocab', [' oak', 'ash ', '', 'elm'])
  t.is(status, 200)
  const list = body as { id: string; url: string; terms: string[]; created: string; lastModified: string }
  t.deepEqual(Object.keys(list).sort(), ['created', 'id', 'lastModified', 'terms', 'url'])
  t.deepEqual(list.terms, ['oak', 'ash', 'elm'])
  t.is(list.url, `/api/standardvocab/${list.id}/terms`)
  t.regex(list.created, /^\w{3} \w{3} \d\d \d\d:\d\d:\d\d UTC \d{4}$/)
  t.deepEqual((await bob.get(list.url)).body, ['oak', 'ash', 'elm'])
  t.deepEqual((await bob.get(`/api/standardvocab/${list.id}`)).body, list)
  t.true((await idsOf(bob.get('/api/standardvocab'))).includes(list.id))
})

test('a standard vocabulary is replaced as a whole, and returned when it is deleted', async t => {
  const id = await idOf(ann.post('/api/standardvocab', ['a']))
  t.like((await ann.put(`/api/standardvocab/${id}`, ['b', 'c'])).body, { id, terms: ['b', 'c'] })
  t.like((await ann.remove(`/api/standardvocab/${id}`)).body, { id, terms: ['b', 'c'] })
  for (const answer of [
    ann.get(`/api/standardvocab/${id}`),
    ann.get(`/api/standardvocab/${id}/terms`),
    ann.remove(`/api/standardvocab/${id}`),
  ])
    t.is((await answer).status, 404)
  t.is((await ann.put(`/api/standardvocab/${unknownId}`, ['b'])).status, 404)
})

test('an empty list of terms, and anything but a list of terms, is rejected with 400', async t => {
  for (const wrong of [[], ['', '  '], {}, 'a', [1], [null], ['x'.repeat(1001)], Array(10_001).fill('x')])
    t.is((await ann.post('/api/standardvocab', wrong)).status, 400, JSON.stringify(wrong).slice(0, 40))
  t.regex(JSON.stringify((await ann.post('/api/standardvocab', [])).body), /Empty terms list is not allowed/)
})

test('anonymous callers neither see nor create standard vocabularies', async t => {
  const nobody = callsOf(server.as())
  const id = await idOf(ann.post('/api/standardvocab', ['a']))
  for (const answer of [nobody.get('/api/standardvocab'), nobody.get(`/api/standardvocab/${id}`), nobody.post('/api/standardvocab', ['a'])])
    t.is((await answer).status, 401)
  for (const answer of [nobody.put(`/api/standardvocab/${id}`, ['a']), nobody.remove(`/api/standardvocab/${id}`)])
    t.is((await answer).status, 401)
})

test('a vocabulary is returned with its terms, and with lists as text', async t => {
  const id = await made(ann)
  const { body } = await ann.get(`/api/vocabularies/${id}`)
  const { terms, ...rest } = body as { terms: Record<string, string>[] }
  t.deepEqual(rest as object, {
    ...{ id, author: ann.id, name: 'soil', keys: 'pH,moisture', tags: 'ground,earth' },
    ...{ description: 'What is in the ground', isPublic: 'false', spaces: '' },
  })
  t.deepEqual(
    terms.map(({ vocab_term_id: _id, ...term }) => term),
    [
      { key: 'pH', units: '', default_value: '7', description: 'acidity' },
      { key: 'moisture', units: '%', default_value: '', description: '' },
    ],
  )
  const [term] = terms
  t.deepEqual((await ann.get(`/api/vocabterms/${term?.['vocab_term_id']}`)).body, { id: term?.['vocab_term_id'], key: 'pH' })
  t.true(Array.isArray((await ann.get('/api/vocabterms/list')).body))
  t.is((await ann.get(`/api/vocabterms/${unknownId}`)).status, 404)
  t.is((await ann.get(`/api/vocabularies/${unknownId}`)).status, 404)
})

test("lists contain the caller's own vocabularies, in both formats, and can be limited to a name", async t => {
  const carl = await somebody(server, 'carl')
  const [first, second] = [await made(carl), await made(carl, { name: 'a/b c' })]
  await made(bob)
  t.deepEqual(await idsOf(carl.get('/api/vocabularies/list')), [first, second])
  t.deepEqual(((await carl.get('/api/vocabularies/getByAuthor')).body as unknown[])[0], {
    ...{ id: first, author: carl.id, name: 'soil', keys: ['pH', 'moisture'] },
    ...{ description: 'What is in the ground', spaces: [] },
  })
  t.deepEqual(await idsOf(carl.get('/api/vocabularies/a%2Fb%20c/getByNameAuthor')), [second])
  t.deepEqual(await idsOf(bob.get('/api/vocabularies/a%2Fb%20c/getByNameAuthor')), [])
  for (const path of ['list', 'getByAuthor', 'soil/getByNameAuthor'])
    t.is((await callsOf(server.as()).get(`/api/vocabularies/${path}`)).status, 401, path)
})

test('a form creates a vocabulary without terms', async t => {
  const form = new FormData()
  form.append('name', 'from a form')
  form.append('keys', 'a,b')
  form.append('description', 'said')
  form.append('picture', new Blob(['bytes']), 'p.png')
  const answer = await ann.call('/api/vocabularies/createVocabulary', { method: 'POST', body: form })
  t.is(answer.status, 200)
  const { id } = (await answer.json()) as { id: string }
  t.like((await ann.get(`/api/vocabularies/${id}`)).body, { name: 'from a form', keys: 'a,b', description: 'said', isPublic: 'false' })
  t.is((await ann.call('/api/vocabularies/createVocabulary', { method: 'POST', body: new FormData() })).status, 400)
})

test('editing adds terms and clears the omitted description and tags; it requires permission to edit', async t => {
  const id = await made(ann)
  t.is((await bob.put(`/api/editVocabulary/${id}`, { name: 'mine now' })).status, 403)
  t.is((await callsOf(server.as()).put(`/api/editVocabulary/${id}`, {})).status, 401)
  const { status, headers } = await ann.put(`/api/editVocabulary/${id}`, { keys: 'x', terms: [{ key: 'salt' }] })
  t.is(status, 200)
  t.regex(headers.get('content-type') ?? '', /^text\/plain/)
  const edited = (await ann.get(`/api/vocabularies/${id}`)).body as { terms: { key: string }[] }
  t.like(edited, { name: 'soil', description: '', keys: 'x', tags: '' })
  t.deepEqual(
    edited.terms.map(({ key }) => key),
    ['pH', 'moisture', 'salt'],
  )
})

test('null in a vocabulary is treated as absent', async t => {
  const term = { key: 'pH', units: null, default_value: null, description: null }
  const id = await made(ann, { description: null, keys: null, tags: null, terms: [term] })
  t.is((await ann.put(`/api/editVocabulary/${id}`, { name: null, description: null, keys: null, tags: null, terms: null })).status, 200)
  const { terms, ...rest } = (await ann.get(`/api/vocabularies/${id}`)).body as { terms: object[] }
  t.like(rest, { name: 'soil', description: '', keys: '', tags: '' })
  t.like(terms[0], { key: 'pH', units: '', default_value: '', description: '' })
  t.is(terms.length, 1)
})

test('a vocabulary can be added to a space the caller may add to, and is removed from a deleted space', async t => {
  const [own, theirs] = [await newSpace(ann), await newSpace(bob)]
  const id = await made(ann)
  t.is((await ann.post(`/api/vocabularies/${id}/addToSpace/${theirs}`)).status, 403)
  t.is((await bob.post(`/api/vocabularies/${id}/addToSpace/${theirs}`)).status, 403)
  t.is((await ann.post(`/api/vocabularies/${id}/addToSpace/${unknownId}`)).status, 404)
  t.is((await ann.post(`/api/vocabularies/${unknownId}/addToSpace/${own}`)).status, 404)
  t.is((await ann.post(`/api/vocabuliaries/${unknownId}/removeFromSpace/${own}`)).status, 404)
  t.like((await ann.post(`/api/vocabularies/${id}/addToSpace/${own}`)).body, { spaces: own })
  t.like((await ann.post(`/api/vocabularies/${id}/addToSpace/${own}`)).body, { spaces: own })
  await letIn(ann, own, 'Editor', bob)
  t.is((await bob.put(`/api/editVocabulary/${id}`, { description: 'by an editor of the space' })).status, 200)
  t.like((await bob.post(`/api/vocabuliaries/${id}/removeFromSpace/${own}`)).body, { spaces: '' })
  t.is((await bob.put(`/api/editVocabulary/${id}`, {})).status, 403)
  await ann.post(`/api/vocabularies/${id}/addToSpace/${own}`)
  t.is((await ann.remove(`/api/spaces/${own}`)).status, 200)
  await server.drained()
  t.like((await ann.get(`/api/vocabularies/${id}`)).body, { spaces: '' })
})

test('on a private server a vocabulary and its terms are visible to its author, or to everyone if public', async t => {
  const [cleo, dan] = [await somebody(hidden, 'cleo'), await somebody(hidden, 'dan')]
  const nobody = callsOf(hidden.as())
  const kept = await made(cleo, { terms: [{ key: 'kept' }] })
  const shown = await made(cleo, { terms: [{ key: 'shown' }] }, '?isPublic=true')
  const keys = async (who: Pick<Somebody, 'get'>) =>
    ((await who.get('/api/vocabterms/list')).body as { key: string }[]).map(({ key }) => key)
  t.deepEqual(await keys(cleo), ['kept', 'shown'])
  t.deepEqual(await keys(dan), ['shown'])
  t.deepEqual(await idsOf(dan.get('/api/vocabularies/getPublic')), [shown])
  t.is((await dan.get(`/api/vocabularies/${kept}`)).status, 404)
  t.is((await dan.put(`/api/editVocabulary/${kept}`, {})).status, 404)
  t.is((await dan.get(`/api/vocabularies/${shown}`)).status, 200)
  t.is((await nobody.get(`/api/vocabularies/${shown}`)).status, 200)
  for (const path of ['/api/vocabterms/list', '/api/vocabularies/getPublic']) t.is((await nobody.get(path)).status, 401)
  const term = ((await cleo.get(`/api/vocabularies/${kept}`)).body as { terms: { vocab_term_id: string }[] }).terms[0]?.vocab_term_id
  t.is((await dan.get(`/api/vocabterms/${term}`)).status, 404)
  t.is((await cleo.get(`/api/vocabterms/${term}`)).status, 200)
})

test('invalid vocabularies and too many terms are rejected with 400', async t => {
  const wrong = [{}, { name: '' }, { name: 1 }, { ...words, keys: ['a'] }, { ...words, terms: [{}] }, { ...words, terms: 'a' }]
  const tooMany = [
    { ...words, terms: Array(1001).fill({ key: 'k' }) },
    { ...words, keys: Array(1001).fill('k').join() },
  ]
  for (const body of [...wrong, ...tooMany])
    t.is((await ann.post('/api/vocabularies/createVocabularyFromJson', body)).status, 400, JSON.stringify(body).slice(0, 60))
  const id = await made(ann, { terms: Array(999).fill({ key: 'k' }) })
  t.is((await ann.put(`/api/editVocabulary/${id}`, { terms: [{ key: 'a' }, { key: 'b' }] })).status, 400)
})

test('terms added concurrently are all stored', async t => {
  const id = await made(ann, { terms: [] })
  await Promise.all(Array.from({ length: 20 }, (_, n) => ann.put(`/api/editVocabulary/${id}`, { terms: [{ key: `k${n}` }] })))
  t.is(((await ann.get(`/api/vocabularies/${id}`)).body as { terms: unknown[] }).terms.length, 20)
})
