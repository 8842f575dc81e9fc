import test from 'ava'
import { type Route, ref, routesFor, s } from './index.ts'

const route = routesFor('things', {})
const handle = async () => ({ status: 200, body: '' }) as const
const bare = { method: 'GET', path: '/api/things/:id', summary: 'x', responses: { 200: s.text() }, handle } as const
const about = { ...bare, params: s.Object({ id: s.id() }) }
const requested = { ...about, query: s.Object({ to: s.Optional(s.id()), ids: s.repeated(s.id()), space: s.id() }) }
const unscoped = 'The list holds only what the caller may see.'

test('a reference names a resource by a parameter', t => {
  t.deepEqual(ref('space', 'to')({ to: '5f9d88b4e4b0c0a5d0a5b001' }), { kind: 'space', id: '5f9d88b4e4b0c0a5d0a5b001' })
})

test('a permission names a resource or the reason for none; otherwise it does not compile', t => {
  const routes: Route[] = [
    route({ ...bare, permission: 'anyone' }),
    route({ ...bare, permission: { right: 'ViewFile', unscoped } }),
    route({ ...about, permission: { right: 'ViewFile', on: ref('file', 'id') } }),
    route({ ...about, permission: { right: 'ViewFile', on: ({ id }) => ({ kind: 'file', id }) } }),
    route({ ...requested, permission: { right: 'ViewSpace', on: ref('space', 'space') } }),
    route({ ...requested, permission: { right: 'ViewFile', on: ({ ids }) => ids.map(id => ({ kind: 'file', id })) } }),
    route({ ...about, permission: 'signedIn', alsoRequires: [{ right: 'ViewFile', on: ref('file', 'id') }] }),
    // @ts-expect-error neither a resource nor a reason
    route({ ...about, permission: 'ViewFile' }),
    // @ts-expect-error neither a resource nor a reason
    route({ ...about, permission: { right: 'ViewFile' } }),
    // @ts-expect-error both
    route({ ...about, permission: { right: 'ViewFile', on: ref('file', 'id'), unscoped } }),
    // @ts-expect-error no such right
    route({ ...about, permission: { right: 'ViewFlie', on: ref('file', 'id') } }),
    // @ts-expect-error no such kind
    route({ ...about, permission: { right: 'ViewFile', on: ref('flie', 'id') } }),
    // @ts-expect-error no such parameter
    route({ ...about, permission: { right: 'ViewFile', on: ref('file', 'file') } }),
    // @ts-expect-error no parameters at all
    route({ ...bare, permission: { right: 'ViewFile', on: ref('file', 'id') } }),
    // @ts-expect-error the parameter may be absent
    route({ ...requested, permission: { right: 'ViewFile', on: ref('file', 'to') } }),
    // @ts-expect-error the parameter is a list
    route({ ...requested, permission: { right: 'ViewFile', on: ref('file', 'ids') } }),
    // @ts-expect-error no such parameter
    route({ ...about, permission: { right: 'ViewFile', on: ({ file }) => ({ kind: 'file', id: file }) } }),
    // @ts-expect-error no such parameter
    route({ ...about, permission: 'reader', alsoRequires: [{ right: 'ViewFile', on: ref('file', 'file') }] }),
    // @ts-expect-error a further right must name a resource
    route({ ...about, permission: 'reader', alsoRequires: [{ right: 'ViewFile', unscoped }] }),
    // @ts-expect-error no permission
    route(about),
  ]
  t.is(routes.length, 20)
})
