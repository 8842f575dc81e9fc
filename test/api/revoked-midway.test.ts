import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { get, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import test from 'ava'
import { Files, Users } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { signIn } from '../support/people.ts'
import { newDataset, ok, upload } from '../support/scene.ts'
import { SlowUpload } from '../support/slow-upload.ts'
import { letIn, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

let server: TestServer
let ann: Somebody
const sizeBytes = 24 * 1024 * 1024
const bytes = Buffer.alloc(sizeBytes, 'pounce')

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  ann = await somebody(server, 'ann')
})
test.after.always(() => server?.stop())

/** A dataset of a space with an editor, and ways to revoke the editor's rights. */
const scene = async () => {
  const editor = await somebody(server, 'editor')
  const space = await newSpace(ann)
  await letIn(ann, space, 'Editor', editor)
  const dataset = await newDataset(ann.call, { space: [space] })
  const suspend = () => server.get(Users).change(editor.id, { set: { status: 'Inactive' } }, [])
  return {
    editor,
    dataset,
    ends: {
      'removed from the space': () => ann.post(`/api/spaces/${space}/removeUser?removeUser=${editor.id}`),
      'whose dataset left the space': () => ann.post(`/api/spaces/${space}/removeDataset/${dataset}`),
      suspended: suspend,
      'made read-only': () => server.get(Users).change(editor.id, { set: { status: 'ReadOnly' } }, []),
      'whose key was revoked': () => editor.remove('/api/users/keys/test'),
    },
  }
}
type End = keyof Awaited<ReturnType<typeof scene>>['ends']
const writeEnds: readonly End[] = [
  'removed from the space',
  'whose dataset left the space',
  'suspended',
  'made read-only',
  'whose key was revoked',
]
const readEnds: readonly End[] = ['removed from the space', 'whose dataset left the space', 'suspended', 'whose key was revoked']

const filesIn = async (dataset: string): Promise<number> => (await Array.fromAsync(server.get(Files).ofDataset(dataset))).length

/** Resolves when the body of an upload is being received, after the first permission check. */
const isTaking = (before = 0) => until('the upload to begin', async () => (await received()) > before)
const received = async (): Promise<number> => (await readdir(join(server.folder, 'blobs', 'tmp'))).length

for (const end of writeEnds)
  test.serial(`a user ${end} during an upload is refused when it completes, and nothing is stored`, async t => {
    const { editor, dataset, ends } = await scene()
    const sending = new SlowUpload(server.url, editor.key, dataset, 'late.bin', sizeBytes)
    await sending.send(bytes.subarray(0, sizeBytes / 2))
    await isTaking()
    await ends[end]()
    await sending.send(bytes.subarray(sizeBytes / 2))
    const { status, text } = await sending.finish()
    t.true([401, 403, 404].includes(status), `${status} ${text}`)
    t.is(await filesIn(dataset), 0)
  })

test.serial('an upload whose session ended meanwhile is refused when it completes, and nothing is stored', async t => {
  const { editor, dataset } = await scene()
  const cookie = await signIn(server, editor.email, editor.password)
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const sending = new SlowUpload(server.url, headers, dataset, 'late.bin', sizeBytes)
  await sending.send(bytes.subarray(0, sizeBytes / 2))
  await isTaking()
  t.is((await editor.call('/api/sessions', { method: 'DELETE' })).status, 204)
  await sending.send(bytes.subarray(sizeBytes / 2))
  t.is((await sending.finish()).status, 401)
  t.is(await filesIn(dataset), 0)
})

for (const end of readEnds)
  test.serial(`a user ${end} during a download can finish it but not start another`, async t => {
    const { editor, dataset, ends } = await scene()
    const file = await upload(ann.call, dataset, bytes, 'long.bin', { type: 'application/octet-stream' })
    const path = `/api/files/${file}/blob`
    const [answer] = (await once(get(server.url + path, { headers: { 'x-api-key': editor.key }, agent: false }), 'response')) as [
      IncomingMessage,
    ]
    t.is(answer.statusCode, 200)
    await once(answer, 'readable')
    await ends[end]()
    for (const headers of [{}, { range: 'bytes=100-' }]) t.true([401, 404].includes((await editor.call(path, { headers })).status))
    t.true([401, 404].includes((await editor.call(`/api/datasets/${dataset}/download`)).status))
    let length = 0
    for await (const piece of answer) length += (piece as Buffer).length
    t.is(length, sizeBytes)
  })

test.serial('a resumable upload is refused at its last byte if the right to it was lost during that request', async t => {
  for (const end of writeEnds) {
    const { editor, dataset, ends } = await scene()
    const about = `filename ${btoa('late.bin')},dataset ${btoa(dataset)}`
    const before = await received()
    const body = new PassThrough()
    const sent = request(`${server.url}/api/uploads`, {
      method: 'POST',
      agent: false,
      headers: {
        ...{ 'x-api-key': editor.key, 'tus-resumable': '1.0.0', 'upload-length': sizeBytes, 'upload-metadata': about },
        ...{ 'content-type': 'application/offset+octet-stream', 'content-length': sizeBytes },
      },
    })
    body.pipe(sent)
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>
    body.write(bytes.subarray(0, sizeBytes / 2))
    await isTaking(before)
    await ends[end]()
    body.end(bytes.subarray(sizeBytes / 2))
    const [answer] = await answered
    answer.resume()
    t.true([401, 403, 404].includes(answer.statusCode ?? 0), `${end}: ${answer.statusCode}`)
    t.is(await filesIn(dataset), 0)
  }
})

test.serial('chunks of an upload are refused as soon as the right to it is lost', async t => {
  for (const end of readEnds) {
    const { editor, dataset, ends } = await scene()
    const about = `filename ${btoa('late.txt')},dataset ${btoa(dataset)}`
    const tus = { 'tus-resumable': '1.0.0' }
    const begun = await editor.call('/api/uploads', {
      method: 'POST',
      headers: { ...tus, 'upload-length': '10', 'upload-metadata': about },
    })
    const path = new URL(begun.headers.get('location') ?? '', server.url).pathname
    const send = (offset: number, body: string) =>
      editor.call(path, {
        method: 'PATCH',
        body,
        headers: { ...tus, 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' },
      })
    t.is((await send(0, '01234')).status, 204)
    await ends[end]()
    t.true([401, 403, 404].includes((await send(5, '56789')).status), end)
    t.is(await filesIn(dataset), 0)
  }
})

test.serial('a list omits what the caller may no longer view, from the next request on', async t => {
  const { editor, dataset, ends } = await scene()
  const own = await ok<readonly { id: string }[]>(editor.call('/api/datasets?limit=1'))
  t.deepEqual(
    own.map(({ id }) => id),
    [dataset],
  )
  await ends['removed from the space']()
  t.deepEqual(await ok(editor.call('/api/datasets?limit=1')), [])
})
