import test from 'ava'
import { BlobStore } from 'pounce/sdk'
import { bootForTest, type TestFetch } from 'pounce/sdk/testing'
import { OrphanSweep } from '../../plugins/blobs/sweep/orphan-sweep.ts'
import { callsOf, nextOf } from '../support/calls.ts'
import { letIn, newSpace, recordPlugins, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ plugins: [...recordPlugins, 'blobs.sweep', 'resources.logos'], config: { access: { private: true } } })
test.after.always(() => server.stop())
const unknownId = 'f'.repeat(24)
const png = (text: string): Buffer => Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.from(text)])
const admin = server.as(server.admin.key)
const nobody = callsOf(server.as())

interface Shown {
  readonly id: string
  readonly length: number
  readonly showText: boolean
}
const send = (call: TestFetch, fields: Readonly<Record<string, string>>, picture: Buffer | undefined = png('one'), type = 'image/png') => {
  const body = new FormData()
  if (picture) body.append('image', new Blob([Uint8Array.from(picture)], { type }), 'logo.png')
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  return call('/api/logos', { method: 'POST', body })
}
const put = async (call: TestFetch, path: string, name: string, picture = png('one')): Promise<Shown> => {
  const answer = await send(call, { path, name }, picture)
  if (answer.status !== 200) throw new Error(await answer.text())
  return (await answer.json()) as Shown
}

test('a logo of a space is returned by id and by path, with the detected type of its picture', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const answer = await send(ann.call, { path: `space-${space}`, name: 'logo', showText: 'false' }, png('x'), 'text/html')
  const logo = (await answer.json()) as Shown & { readonly created: string }
  t.deepEqual(logo, {
    id: logo.id,
    length: 9,
    path: `space-${space}`,
    name: 'logo',
    'content-type': 'image/png',
    created: logo.created,
    author: ann.id,
    showText: false,
  } as never)
  const at = `/api/logos/space-${space}/logo`
  t.deepEqual((await ann.get(`/api/logos/${logo.id}`)).body, logo)
  t.deepEqual((await ann.get(at)).body, logo)
  t.deepEqual((await ann.get(`/api/logos?path=space-${space}`)).body, [logo])
  t.deepEqual((await ann.get(`/api/logos?path=space-${space}&name=logo`)).body, [logo])
  t.deepEqual((await ann.get(`/api/logos?path=space-${space}&name=other`)).body, [])
  for (const path of [`${at}/blob`, `/api/logos/${logo.id}/blob`]) {
    const picture = await ann.call(path)
    t.is(picture.headers.get('content-type'), 'image/png')
    t.is(picture.headers.get('x-content-type-options'), 'nosniff')
    t.deepEqual(Buffer.from(await picture.arrayBuffer()), png('x'))
  }
  t.deepEqual((await ann.put(at, { showText: true })).body, { status: 'success' })
  t.like((await ann.get(at)).body, { showText: true })
  t.is((await ann.remove(`/api/logos/${logo.id}`)).status, 204)
  for (const path of [at, `${at}/blob`, `/api/logos/${logo.id}`]) t.is((await ann.get(path)).status, 404)
  t.is((await ann.remove(at)).status, 404)
})

test('replacing a logo keeps its id; the sweep removes the old bytes and keeps the new ones', async t => {
  const ann = await somebody(server)
  const [one, two] = [await put(ann.call, `user-${ann.id}`, 'face'), await put(ann.call, `user-${ann.id}`, 'face', png('longer'))]
  t.is(one.id, two.id)
  t.deepEqual(Buffer.from(await (await ann.call(`/api/logos/${one.id}/blob`)).arrayBuffer()), png('longer'))
  await server.get(OrphanSweep).sweep({ graceMs: -1 })
  t.is((await ann.call(`/api/logos/${one.id}/blob`)).status, 200)
})

test('concurrent uploads to one path leave one logo and only its bytes', async t => {
  const ann = await somebody(server)
  const pictures = Array.from({ length: 8 }, (_, n) => png(`picture ${n}`))
  const made = await Promise.all(pictures.map(picture => put(ann.call, `user-${ann.id}`, 'raced', picture)))
  t.is(new Set(made.map(({ id }) => id)).size, 1)
  const kept = Buffer.from(await (await ann.call(`/api/logos/${made[0]?.id}/blob`)).arrayBuffer())
  t.true(pictures.some(picture => picture.equals(kept)))
  let left = 0
  for await (const { sizeBytes } of server.get(BlobStore).list()) if (sizeBytes === kept.length) left++
  t.is(left, 1)
})

test('the right to change a logo depends on its path', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  const logo = await put(ann.call, `space-${space}`, 'logo')
  for (const path of ['GLOBAL', 'elsewhere', `dataset-${space}`, 'space-nonsense']) {
    t.is((await send(ann.call, { path, name: 'logo' })).status, 403, path)
  }
  t.is((await send(bob.call, { path: `space-${space}`, name: 'logo' })).status, 404)
  t.is((await send(bob.call, { path: `space-${unknownId}`, name: 'logo' })).status, 404)
  t.is((await bob.remove(`/api/logos/${logo.id}`)).status, 404)
  await letIn(ann, space, 'Viewer', bob)
  t.is((await send(bob.call, { path: `space-${space}`, name: 'logo' })).status, 403)
  t.is((await bob.put(`/api/logos/${logo.id}`, { showText: false })).status, 403)
  t.is((await bob.remove(`/api/logos/space-${space}/logo`)).status, 403)
  t.is((await send(bob.call, { path: `user-${ann.id}`, name: 'logo' })).status, 403)
  t.is((await send(server.as(), { path: `space-${space}`, name: 'logo' })).status, 401)
  t.is((await nobody.remove(`/api/logos/${logo.id}`)).status, 401)
})

test('logos of the installation are visible to all callers, those of a space to callers who may view it', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  const [own, shown] = [await put(ann.call, `space-${space}`, 'mine'), await put(admin, 'GLOBAL', 'logo')]
  for (const path of [`/api/logos/${shown.id}`, '/api/logos/GLOBAL/logo', '/api/logos/GLOBAL/logo/blob']) {
    t.is((await nobody.get(path)).status, 200)
  }
  for (const person of [bob, nobody]) {
    for (const path of [`/api/logos/${own.id}`, `/api/logos/${own.id}/blob`, `/api/logos/space-${space}/mine`]) {
      t.is((await person.get(path)).status, 404)
    }
  }
  const listed = (await bob.get('/api/logos')).body as readonly Shown[]
  t.true(listed.some(({ id }) => id === shown.id))
  t.false(listed.some(({ id }) => id === own.id))
  t.is((await nobody.get('/api/logos')).status, 401)
})

test('only pictures within the size limit, with a valid name and path, are accepted', async t => {
  const ann = await somebody(server)
  const path = `user-${ann.id}`
  for (const picture of ['<svg onload="alert(1)"/>', '<html>', 'GIF', '']) {
    t.is((await send(ann.call, { path, name: 'n' }, Buffer.from(picture))).status, 400, picture)
  }
  for (const name of ['', 'a/b', 'blob', 'x'.repeat(101), 'a\u0000b']) t.is((await send(ann.call, { path, name })).status, 400, name)
  t.is((await send(ann.call, { name: 'n' })).status, 400)
  t.is((await send(ann.call, { path, name: 'n' }, Buffer.alloc(0))).status, 400)
  t.is((await send(ann.call, { path, name: 'n', showText: 'perhaps' })).status, 400)
  t.is((await send(ann.call, { path, name: 'n' }, png('x'.repeat(2100 * 1024)))).status, 413)
  t.deepEqual((await ann.get(`/api/logos?path=${path}`)).body, [])
})

test('a default picture is returned on request, and no other URL is accepted', async t => {
  const answer = await server.as()(`/api/logos/${unknownId}/blob?default=/assets/images/logo_60.png`)
  t.is(answer.status, 200)
  t.is(answer.headers.get('content-type'), 'image/svg+xml')
  t.regex(await answer.text(), /^<svg /)
  t.is((await nobody.get('/api/logos/GLOBAL/none/blob?default=logo.png')).status, 200)
  t.is((await nobody.get(`/api/logos/${unknownId}/blob`)).status, 404)
  t.is((await nobody.get(`/api/logos/${unknownId}/blob?default=${encodeURIComponent('http://a.example/?x')}`)).status, 400)
})

test('the logos of one path are paged', async t => {
  const ann = await somebody(server)
  for (const name of ['a_b', 'b', 'c']) await put(ann.call, `user-${ann.id}`, name)
  const names: string[] = []
  for (let next: string | undefined = `/api/logos?path=user-${ann.id}&limit=1`; next !== undefined; ) {
    const page = await ann.get(next)
    names.push(...(page.body as readonly { readonly name: string }[]).map(({ name }) => name))
    next = nextOf(page)
  }
  t.deepEqual(names, ['a_b', 'b', 'c'])
  t.is((await ann.get('/api/logos?after=nonsense')).status, 400)
})
