import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { listen, of } from '../support/live-events.ts'
import { letIn, newDataset, newSpace, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ config: { access: { private: true } } })
test.after.always(() => server.stop())

test('progress of a resumable upload is sent only to the uploader and ends with the file', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Editor', bob)
  const dataset = await newDataset(ann, { space })
  await server.drained()
  const [own, other] = [await listen(server.url, ann.key), await listen(server.url, bob.key)]
  const name = Buffer.from('pieces.bin').toString('base64')
  const tus = { 'tus-resumable': '1.0.0' }
  const made = await ann.call('/api/uploads', {
    method: 'POST',
    headers: { ...tus, 'upload-length': '10', 'upload-metadata': `filename ${name},dataset ${Buffer.from(dataset).toString('base64')}` },
  })
  t.is(made.status, 201)
  const id = new URL(made.headers.get('location') ?? '', server.url).pathname.split('/').at(-1) ?? ''
  for (const offset of [0, 5]) {
    const headers = { ...tus, 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' }
    t.is((await ann.call(`/api/uploads/${id}`, { method: 'PATCH', headers, body: 'bytes' })).status, 204)
  }
  const finished = await own.first('its end', of('upload.finished', id))
  t.like(finished.data, { done: 10, total: 10, unit: 'bytes', message: 'pieces.bin' })
  await other.first('the file', of('file.created', id))
  t.false(other.events.some(({ type }) => type.startsWith('upload.')))
  for (const stream of [own, other]) stream.close()
})

test('a resumable upload that is cancelled, or whose checksum is wrong, ends as failed', async t => {
  const ann = await somebody(server, 'ann')
  const stream = await listen(server.url, ann.key, '?kind=upload')
  const tus = { 'tus-resumable': '1.0.0' }
  const begin = async (more = '') => {
    const headers = { ...tus, 'upload-length': '10', 'upload-metadata': `filename ${btoa('pieces.bin')}${more}` }
    const made = await ann.call('/api/uploads', { method: 'POST', headers })
    return new URL(made.headers.get('location') ?? '', server.url).pathname.split('/').at(-1) ?? ''
  }
  const send = (id: string, body: string) => {
    const headers = { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
    return ann.call(`/api/uploads/${id}`, { method: 'PATCH', headers, body })
  }
  const [cancelled, damaged] = [await begin(), await begin(`,sha256 ${btoa('0'.repeat(64))}`)]
  await send(cancelled, 'bytes')
  t.is((await ann.call(`/api/uploads/${cancelled}`, { method: 'DELETE', headers: tus })).status, 204)
  t.is((await send(damaged, 'other data')).status, 460)
  t.like((await stream.first('the cancelled one', of('upload.failed', cancelled))).data, { done: 5, total: 10, message: 'pieces.bin' })
  await stream.first('the damaged one', of('upload.failed', damaged))
  stream.close()
})
