import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { untypedForm } from '../clients/untyped-parts.ts'
import { ok } from '../support/scene.ts'
import { newDataset, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest()
const ann = await somebody(server, 'ann')
test.after.always(() => server.stop())

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64')
const mp4 = Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0', 'latin1')

const send = async (path: string, name: string, bytes: Uint8Array | string, fields = {}): Promise<string> =>
  (await ok<{ id: string }>(ann.call(path, { method: 'POST', ...untypedForm([{ name, bytes }], fields) }))).id

const typeAt = async (path: string): Promise<string | null> => {
  const answer = await ann.call(path)
  await answer.arrayBuffer()
  return answer.headers.get('content-type')
}

/** Name, bytes, and expected type. */
const cases: readonly (readonly [string, Uint8Array | string, string])[] = [
  ['leaf.png', png, 'image/png'],
  ['leaf.PNG', 'no picture', 'image/png'],
  ['tmpa8s7d', png, 'image/png'],
  ['film.bin', mp4, 'video/mp4'],
  ['film.mp4', mp4, 'video/mp4'],
  ['table.csv', 'a,b\n', 'text/csv'],
  ['png', 'no picture', 'application/octet-stream'],
  ['nameless', '<script>', 'application/octet-stream'],
]

test('the type of an untyped preview is derived from its name, else from its first bytes', async t => {
  for (const [name, bytes, type] of cases) {
    const id = await send('/api/previews', name, bytes)
    t.like(await ok(ann.call(`/api/previews/${id}/metadata`)), { contentType: type }, name)
  }
  const pyramid = await send('/api/previews', 'leaf.xml', '<?xml version="1.0"?>')
  t.like(await ok(ann.call(`/api/previews/${pyramid}/metadata`)), { contentType: 'application/dzi' })
})

test('a preview without a type is found by getPreviews', async t => {
  const dataset = await newDataset(ann)
  const file = await send(`/api/uploadToDataset/${dataset}?extract=false`, 'notes', 'words')
  const preview = await send('/api/previews', 'leaf.png', png, { title: 'Leaf' })
  t.is((await ann.post(`/api/files/${file}/previews/${preview}`, {})).status, 200)
  const shown = await ok<readonly { readonly previews: readonly object[] }[]>(ann.call(`/api/files/${file}/getPreviews`))
  t.like(shown, [{ previews: [{ pv_id: preview, pv_contenttype: 'image/png' }] }])
  t.is(await typeAt(`/api/previews/${preview}`), 'image/png')
})

test('the type of an untyped thumbnail is detected as an image', async t => {
  const dataset = await newDataset(ann)
  const file = await send(`/api/uploadToDataset/${dataset}?extract=false`, 'notes', 'words')
  for (const name of ['leaf.png', 'tmpa8s7d']) {
    const thumbnail = await send('/api/fileThumbnail', name, png)
    t.is((await ann.post(`/api/files/${file}/thumbnails/${thumbnail}`, {})).status, 200)
    t.is(await typeAt(`/api/thumbnails/${thumbnail}`), 'image/png', name)
  }
})

test('the type of an untyped file is derived from its name, else from its first bytes', async t => {
  const dataset = await newDataset(ann)
  for (const [name, bytes, type] of cases) {
    const id = await send(`/api/uploadToDataset/${dataset}?extract=false`, name, bytes)
    t.like(await ok(ann.call(`/api/files/${id}/metadata`)), { 'content-type': type }, name)
  }
})

test('the type of an untyped resumable upload is derived from its name, else from its first bytes', async t => {
  const dataset = await newDataset(ann)
  for (const [name, bytes] of cases) {
    const length = Buffer.byteLength(bytes)
    const encoded = (text: string) => Buffer.from(text).toString('base64')
    const answer = await ann.call('/api/uploads', {
      method: 'POST',
      headers: {
        'tus-resumable': '1.0.0',
        'upload-length': String(length),
        'upload-metadata': `filename ${encoded(name)},dataset ${encoded(dataset)},extract ${encoded('false')}`,
        'content-type': 'application/offset+octet-stream',
      },
      body: Uint8Array.from(Buffer.from(bytes)),
    })
    t.is(answer.status, 201, await answer.text())
  }
  const files = await ok<readonly { readonly filename: string; readonly contentType: string }[]>(ann.call(`/api/datasets/${dataset}/files`))
  t.deepEqual(
    Object.fromEntries(files.map(file => [file.filename, file.contentType])),
    Object.fromEntries(cases.map(([name, , type]) => [name, type])),
  )
})
