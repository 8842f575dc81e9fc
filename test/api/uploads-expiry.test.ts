import test from 'ava'
import { bootForTest, FixedClock, type TestServer } from 'pounce/sdk/testing'
import { ok } from '../support/scene.ts'

const clock = new FixedClock()
const version = { 'tus-resumable': '1.0.0' }
const hourMs = 60 * 60 * 1000
let server: TestServer

test.before(async () => {
  server = await bootForTest({ clock, config: { resources: { uploads: { expireHours: 10, finishedHours: 2 } } } })
})
test.after.always(() => server?.stop())

const call = (path: string, init = {}) => server.as(server.admin.key)(path, init)

const begun = async (body: string, length: number): Promise<string> => {
  const headers = {
    ...version,
    'upload-length': String(length),
    'upload-metadata': `filename ${btoa('a')}`,
    'content-type': 'application/offset+octet-stream',
  }
  return (await call('/api/uploads', { method: 'POST', headers, body })).headers.get('location') ?? ''
}

const patch = (path: string, offset: number, body: string): Promise<Response> =>
  call(path, {
    method: 'PATCH',
    headers: { ...version, 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) },
    body,
  })

test.serial('an upload without new bytes expires, and received bytes extend its lifetime', async t => {
  const path = await begun('ab', 6)
  const { expires } = await ok<{ expires: string }>(call(path))
  t.is(Date.parse(expires) - clock.now().getTime(), 10 * hourMs)
  clock.advance(9 * hourMs)
  const answer = await patch(path, 2, 'cd')
  t.is(answer.status, 204)
  t.is(Date.parse(answer.headers.get('upload-expires') ?? ''), clock.now().getTime() + 10 * hourMs)
  clock.advance(10 * hourMs)
  for (const expired of [
    patch(path, 4, 'ef'),
    call(path),
    call(path, { method: 'HEAD', headers: version }),
    call(path, { method: 'DELETE', headers: version }),
  ])
    t.is((await expired).status, 410)
  await server.runPeriodic('resources.uploads/expiry')
  t.is((await call(path)).status, 404)
  t.deepEqual(await ok(call('/api/uploads')), [])
})

test.serial('a finished upload is deleted when it expires, and its file stays', async t => {
  const path = await begun('abc', 3)
  const id = path.split('/').at(-1)
  t.like(await ok(call(path)), { state: 'finished', file: id })
  clock.advance(2 * hourMs)
  await server.runPeriodic('resources.uploads/expiry')
  t.is((await call(path)).status, 404)
  t.is(await (await call(`/api/files/${id}/blob`)).text(), 'abc')
})
