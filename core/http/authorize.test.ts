import test, { type ExecutionContext } from 'ava'
import { type Policy, type Route, ref, routesFor, s } from 'pounce/sdk'
import type { AuditNote } from 'pounce/sdk/kit'
import { callers, hiddenId, ownId, seenId, TestPolicy } from './testing/people.ts'
import { serve } from './testing/serve.ts'

const route = routesFor('datasets', {})
const params = s.Object({ id: s.id() })
const responses = { 200: s.text() }
const about = { summary: 'x', responses } as const

const serverOf = async (t: ExecutionContext, { isFull = false } = {}) => {
  const happened: (AuditNote | string)[] = []
  const done = async (): Promise<{ status: 200; body: string }> => {
    happened.push('done')
    return { status: 200, body: 'done' }
  }
  const onOne = { ...about, params, handle: done }
  const on = ref('dataset', 'id')
  const routes: Record<string, Route> = {
    view: route({ ...onOne, method: 'GET', path: '/api/datasets/:id', permission: { right: 'ViewDataset', on } }),
    edit: route({
      ...onOne,
      method: 'PUT',
      path: '/api/datasets/:id',
      permission: { right: 'EditDataset', on },
      body: s.Object({ name: s.line() }),
    }),
    drop: route({
      ...onOne,
      method: 'GET',
      path: '/api/datasets/:id/drop',
      permission: { right: 'DeleteDataset', on },
      effects: 'deletes it',
    }),
    configure: route({ ...about, method: 'POST', path: '/api/admin/things', permission: 'serverAdmin', handle: done }),
    inspect: route({ ...about, method: 'GET', path: '/api/admin/things', permission: 'serverAdmin', handle: done }),
    batch: route({
      ...about,
      method: 'POST',
      path: '/api/datasets/batch/:token',
      permission: { right: 'DeleteDataset', on: ({ ids }) => ids.map(id => ({ kind: 'dataset', id })) },
      params: s.Object({ token: s.String() }),
      query: s.Object({ ids: s.repeated(s.id()), space: s.Optional(s.id()), word: s.Optional(s.String()) }),
      handle: done,
    }),
  }
  const note = async (line: AuditNote): Promise<void> => {
    if (isFull) throw new Error('The log takes nothing')
    happened.push(line)
  }
  const policy = new TestPolicy() as unknown as Policy
  const { url } = await serve(t, routes, { policy, callers, options: { trails: { all: () => [{ note }] } } })
  const ask = async (method: string, path: string, key = 'admin', json?: unknown): Promise<number> => {
    const headers = { 'x-api-key': key, ...(json === undefined ? {} : { 'content-type': 'application/json' }) }
    const answer = await fetch(url + path, { method, headers, ...(json === undefined ? {} : { body: JSON.stringify(json) }) })
    await answer.text()
    return answer.status
  }
  return { ask, happened, notes: () => happened.filter(one => typeof one !== 'string') }
}

test('a change in superadmin mode is recorded with route and resource before it is executed', async t => {
  const { ask, happened } = await serverOf(t)
  t.is(await ask('PUT', `/api/datasets/${hiddenId}?superAdmin=true`, 'admin', { name: 'x' }), 200)
  t.is(happened.length, 2)
  t.like(happened[0], {
    type: 'superadmin.used',
    actor: ownId,
    subject: { kind: 'dataset', id: hiddenId },
    about: { method: 'PUT', path: '/api/datasets/:id', operation: 'edit', via: 'key' },
    address: '127.0.0.1',
  })
  t.is(happened[1], 'done')
})

test('changes through server admin routes are recorded by name in any mode; reads and refusals are not', async t => {
  const { ask, happened, notes } = await serverOf(t)
  t.is(await ask('GET', '/api/admin/things'), 200)
  t.is(await ask('POST', '/api/admin/things', 'ann'), 403)
  t.deepEqual(notes(), [])
  t.is(await ask('POST', '/api/admin/things'), 200)
  t.like(happened.at(-2), { type: 'admin.configure', actor: ownId, about: { path: '/api/admin/things', via: 'key' } })
  t.is(happened.at(-1), 'done')
})

test('a change that cannot be recorded is not executed', async t => {
  const { ask, happened } = await serverOf(t, { isFull: true })
  t.is(await ask('PUT', `/api/datasets/${hiddenId}?superAdmin=true`, 'admin', { name: 'x' }), 500)
  t.deepEqual(happened, [])
  t.is(await ask('GET', `/api/datasets/${hiddenId}?superAdmin=true`), 200, 'reads are still allowed')
})

test('reads, invalid bodies and other callers are not recorded; a GET with effects is', async t => {
  const { ask, notes } = await serverOf(t)
  t.is(await ask('GET', `/api/datasets/${hiddenId}?superAdmin=true`), 200)
  t.is(await ask('HEAD', `/api/datasets/${hiddenId}?superAdmin=true`), 200)
  t.is(await ask('PUT', `/api/datasets/${hiddenId}?superAdmin=true`, 'admin', { name: '' }), 400)
  t.is(await ask('PUT', `/api/datasets/${ownId}?superAdmin=true`, 'ann', { name: 'x' }), 200)
  t.is(await ask('PUT', `/api/datasets/${hiddenId}`, 'admin', { name: 'x' }), 404)
  t.is(await ask('HEAD', `/api/datasets/${hiddenId}/drop?superAdmin=true`), 405)
  t.deepEqual(notes(), [])
  t.is(await ask('GET', `/api/datasets/${hiddenId}/drop?superAdmin=true`), 200)
  t.is(notes().length, 1)
})

test('all resources are recorded, up to a maximum; other parameters are not', async t => {
  const { ask, notes } = await serverOf(t)
  const ids = [hiddenId, seenId, ...Array.from({ length: 30 }, (_, at) => at.toString(16).padStart(24, '5'))]
  const query = ids.map(id => `ids=${id}`).join('&')
  t.is(await ask('POST', `/api/datasets/batch/my-secret?superAdmin=true&word=hush&space=${ownId}&${query}`), 200)
  const [noted] = notes()
  t.like(noted, { subject: { kind: 'dataset', id: hiddenId } })
  const things = noted?.about?.['things'] as readonly string[]
  t.is(things.length, 20)
  t.is(things[0], `dataset ${seenId}`)
  t.notRegex(JSON.stringify(noted), /my-secret|hush|key=/)
})
