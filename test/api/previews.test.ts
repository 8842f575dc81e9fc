import test from 'ava'
import { BlobStore, DocumentStore, Ids } from 'pounce/sdk'
import { bootForTest, FixedClock } from 'pounce/sdk/testing'
import { previews, thumbnails, tiles } from '../../plugins/resources/previews/collections.ts'
import { allIds, callsOf } from '../support/calls.ts'
import { answering, previewOf, sectionOf, send, thumbnailOf } from '../support/derived.ts'
import { formWith, refusal, unknownId, upload } from '../support/scene.ts'
import { newCollection, newDataset, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest()
const ann = await somebody(server, 'ann')
const bob = await somebody(server, 'bob')
const admin = callsOf(server.as(server.admin.key))
test.after.always(() => server.stop())

const newFile = async (more: object = {}): Promise<string> => upload(ann.call, await newDataset(ann, more))
const recordOf = (id: string) => server.get(DocumentStore).get(previews, id)

test('a preview is uploaded, attached, described and titled', async t => {
  const file = await newFile()
  const id = await send(ann, '/api/previews?iipKey=k1', { name: 'leaf.dzi', type: 'application/xml', title: 'Leaf "one"' })
  t.like(await recordOf(id), { contentType: 'application/dzi', metadata: { iipKey: 'k1' }, target: null })
  t.deepEqual((await ann.get(`/api/previews/${id}/metadata`)).body, { id, contentType: 'application/dzi', title: 'Leaf "one"' })
  t.deepEqual((await ann.post(`/api/files/${file}/previews/${id}`, { width: '10', deep: { a: null } })).body, { status: 'success' })
  t.like(await recordOf(id), { extractor: 'Other', metadata: { width: '10', deep: { a: null } }, target: { kind: 'file', id: file } })
  t.is((await ann.post(`/api/previews/${id}/metadata`, { count: 3, none: null, section_id: '', file_id: null })).status, 200)
  t.like(await recordOf(id), { extractor: 'Other', metadata: { count: 3, none: null }, target: { kind: 'file', id: file } })
  t.is((await ann.post(`/api/previews/${id}/title`, { title: 'Another' })).status, 200)
  t.like((await bob.get(`/api/previews/${id}/metadata`)).body, { title: 'Another' })
  t.is((await ann.post(`/api/previews/${id}/title`, { title: 'A "second" leaf' })).status, 200)
  t.like((await bob.get(`/api/previews/${id}/metadata`)).body, { title: 'A second leaf' })
  for (const wrong of [{}, { title: '""' }]) t.is((await ann.post(`/api/previews/${id}/title`, wrong)).status, 400)
  t.is((await bob.post(`/api/previews/${id}/title`, { title: 'mine' })).status, 403)
  t.deepEqual((await bob.get(`/api/files/${file}/listpreviews`)).body, [{ id, filename: 'leaf.dzi', contentType: 'application/dzi' }])
})

test('a title or the name of an extractor beyond 500 characters is cut, and stays valid Unicode', async t => {
  const file = await newFile()
  const long = `${'x'.repeat(499)}😀`
  const id = await send(ann, '/api/previews', { title: long })
  t.is((await ann.post(`/api/files/${file}/previews/${id}`, { extractor_id: long })).status, 200)
  const { title, extractor } = (await recordOf(id))!
  for (const text of [title ?? '', extractor]) t.deepEqual([text.length, text.isWellFormed()], [500, true])
  t.is((await ann.post(`/api/previews/${id}/metadata`, { file_id: file, extractor_id: `y${long}` })).status, 200)
  t.is((await recordOf(id))?.extractor, `y${'x'.repeat(499)}`)
  t.is((await ann.post(`/api/previews/${id}/metadata`, { file_id: file, extractor_id: long })).status, 200)
  t.true((await recordOf(id))?.extractor.isWellFormed())
})

test('an unattached preview is accessible only to its creator', async t => {
  const id = await send(ann, '/api/previews')
  const paths = [`/api/previews/${id}`, `/api/previews/${id}/metadata`]
  t.is(await answering(ann, paths), 2)
  t.is(await answering(bob, paths), 0)
  t.is(await answering(admin, paths), 0)
  t.is((await admin.get(`/api/previews/${id}?superAdmin=true`)).status, 200)
  t.is((await bob.post(`/api/files/${await newFile()}/previews/${id}`, {})).status, 404)
  t.is((await bob.remove(`/api/previews/${id}`)).status, 404)
  t.like(await recordOf(id), { target: null })
})

test('attaching an unattached preview to a missing resource deletes it', async t => {
  for (const path of [`/api/files/${unknownId}`, `/api/collections/${unknownId}`]) {
    const id = await send(ann, '/api/previews')
    t.is((await ann.post(`${path}/previews/${id}`, {})).status, 404)
    t.is(await recordOf(id), undefined)
  }
  const id = await previewOf(ann, await newFile())
  t.is((await ann.post(`/api/files/${unknownId}/previews/${id}`, {})).status, 404)
  t.truthy(await recordOf(id), 'an attached preview is kept')
  t.is((await ann.post(`/api/files/${await newFile()}/previews/${unknownId}`, {})).status, 404)
  t.is((await ann.post(`/api/previews/${id}/metadata`, { section_id: 'nonsense' })).status, 400)
  t.is((await ann.post(`/api/previews/${id}/metadata`, { section_id: unknownId })).status, 404)
})

test('a preview is attached to a section or file by its metadata, which requires permission on both', async t => {
  const file = await newFile()
  const section = await sectionOf(ann, file)
  const id = await send(ann, '/api/previews')
  t.is((await ann.post(`/api/previews/${id}/metadata`, { section_id: section, extractor_id: 'acme.faces' })).status, 200)
  t.like(await recordOf(id), { target: { kind: 'section', id: section }, extractor: 'acme.faces', metadata: {} })
  const own = await send(bob, '/api/previews')
  t.is((await bob.post(`/api/previews/${own}/metadata`, { section_id: section })).status, 403)
  t.is((await bob.post(`/api/previews/${own}/metadata`, { file_id: file })).status, 403)
  t.like(await recordOf(own), { target: null })
  t.is((await ann.post(`/api/previews/${id}/metadata`, { file_id: file })).status, 200)
  t.like(await recordOf(id), { target: { kind: 'file', id: file } })
})

test('a preview stays if its metadata names a missing or hidden file or section', async t => {
  const id = await send(bob, '/api/previews')
  const hidden = await upload(ann.call, await newDataset(ann), 'hidden')
  for (const named of [
    { file_id: unknownId },
    { section_id: unknownId },
    { file_id: hidden },
    { section_id: await sectionOf(ann, hidden) },
  ]) {
    const { status } = await bob.post(`/api/previews/${id}/metadata`, { ...named, kept: 'no' })
    t.true(status === 403 || status === 404)
    t.like(await recordOf(id), { target: null, metadata: {} })
  }
  t.is((await bob.get(`/api/previews/${id}`)).status, 200)
})

test('only editors of a collection can attach previews, which are deleted with it', async t => {
  const collection = await newCollection(ann)
  const id = await send(ann, '/api/previews')
  t.deepEqual((await ann.post(`/api/collections/${collection}/previews/${id}`, { preview_type: 'map' })).body, { status: 'success' })
  t.like(await recordOf(id), { target: { kind: 'collection', id: collection }, extractor: 'Other', metadata: { preview_type: 'map' } })
  t.is((await bob.get(`/api/previews/${id}`)).status, 200)
  const own = await send(bob, '/api/previews')
  t.is((await bob.post(`/api/collections/${collection}/previews/${own}`, {})).status, 403)
  await ann.remove(`/api/collections/${collection}`)
  await ann.remove(`/api/collections/${collection}`)
  t.is((await ann.get(`/api/previews/${id}`)).status, 404)
  await server.drained(60_000)
  t.is(await recordOf(id), undefined)
})

test('the tiles of a preview are at the paths that Deep Zoom viewers request', async t => {
  const file = await newFile()
  const preview = await send(ann, '/api/previews', { name: 'p.dzi', type: 'application/xml' })
  await ann.post(`/api/files/${file}/previews/${preview}`, {})
  const tile = (who: typeof ann, name: string, bytes: string) => send(who, '/api/tiles', { name, bytes, type: 'image/jpeg' })
  const put = async (id: string, level: number | string) => (await ann.post(`/api/previews/${preview}/tiles/${id}/${level}`, {})).status
  const first = await tile(ann, '3_4_tmp_8x.jpg', 'first')
  t.is(await put(first, 11), 200)
  const at = `/api/previews/${preview}_files/11/3_4.jpg`
  const seen = await bob.call(at)
  t.is(seen.headers.get('content-type'), 'image/jpeg')
  t.is(await seen.text(), 'first')
  t.is(await put(await tile(ann, '3_4.jpg', 'second'), 11), 200)
  t.is(await (await bob.call(at)).text(), 'second', 'another tile at the same position replaces it')
  t.is(await server.get(DocumentStore).get(tiles, first), undefined)
  for (const path of ['11/4_4.jpg', '12/3_4.jpg', '11/..%2f..%2fetc'])
    t.is((await bob.get(`/api/previews/${preview}_files/${path}`)).status, 404, path)
  t.is((await bob.get(`/api/previews/${preview}/11/3_4.jpg`)).status, 404)
  t.is(await put(await tile(bob, '0_0_x.jpg', 'bob’s'), 11), 404, 'a tile of another user is not found')
  t.is(await put(unknownId, 11), 404)
  t.is(await put(await tile(ann, '0_0_x.jpg', 'x'), 65), 404)
  const stray = await tile(bob, '0_0_x.jpg', 'x')
  t.is((await bob.post(`/api/previews/${preview}/tiles/${stray}/11`, {})).status, 403)
  t.is((await bob.remove(`/api/previews/${preview}`)).status, 403)
  t.is((await ann.remove(`/api/previews/${preview}`)).status, 200)
  t.is((await ann.get(at)).status, 404)
  await server.drained(60_000)
  const { items } = await server.get(DocumentStore).find(tiles, { using: 'byPreview', limit: 1000 })
  t.deepEqual(
    items.filter(each => each.preview === preview),
    [],
  )
})

test('only server admins can list all previews and thumbnails, page by page; unattached ones require superadmin mode', async t => {
  const file = await newFile()
  const made = [await previewOf(ann, file), await previewOf(ann, file), await previewOf(ann, file)].reverse()
  const thumbnail = await thumbnailOf(ann, `/api/files/${file}`)
  for (const path of ['/api/previews', '/api/thumbnails']) {
    t.is((await ann.get(path)).status, 403)
    t.is((await server.as()(path)).status, 401)
    t.is((await admin.get(`${path}?after=nonsense`)).status, 400)
  }
  const stray = await send(ann, '/api/previews')
  const all = await allIds(admin.get, '/api/previews?limit=1')
  t.false(all.includes(stray))
  t.true((await allIds(admin.get, '/api/previews?limit=7&superAdmin=true')).includes(stray))
  t.deepEqual(
    all.filter(id => made.includes(id)),
    made,
  )
  const listed = (await admin.get('/api/thumbnails?limit=1000')).body as { id: string }[]
  t.like(
    listed.find(({ id }) => id === thumbnail),
    { filename: 'p.png', 'content-type': 'image/png', size: '9' },
  )
})

test('the previewers of a dataset’s files are listed for each file that has one', async t => {
  const dataset = await newDataset(ann)
  const picture = await upload(ann.call, dataset, 'png', 'a.png', { type: 'image/png' })
  const text = await upload(ann.call, dataset, 'text', 'b.txt')
  await upload(ann.call, dataset, 'png', 'c.png', { type: 'image/png', query: 'extract=false&showPreviews=FileLevel' })
  const preview = await previewOf(ann, text)
  const { body } = await ann.get(`/api/datasets/${dataset}/getPreviews`)
  t.deepEqual(
    (body as { file_id: string; previews: { pv_id: string; pv_route: string }[] }[]).map(({ file_id, previews }) => [
      file_id,
      previews.map(({ pv_id, pv_route }) => [pv_id, pv_route]),
    ]),
    [
      [picture, [[picture, `/files/${picture}/blob`]]],
      [text, [[preview, `/api/previews/${preview}`]]],
    ],
  )
  const [asBob] = (await bob.get(`/api/datasets/${dataset}/getPreviews`)).body as { previews: { pv_route: string }[] }[]
  t.is(asBob?.previews[0]?.pv_route, 'null', 'callers who may not download get no URL')
  t.is((await ann.get(`/api/datasets/${unknownId}/getPreviews`)).status, 404)
})

test('a license that allows downloads gives previewers the URL of the file', async t => {
  const dataset = await newDataset(ann)
  const file = await upload(ann.call, dataset, 'png', 'a.png', { type: 'image/png' })
  const license = { rightsHolder: '', licenseText: '', licenseUrl: '' }
  const url = `/files/${file}/blob`
  for (const [licenseType, allowDownload, route] of [
    ['license1', 'false', 'null'],
    ['license1', 'true', url],
    ['license2', 'false', url],
    ['license1', 'false', 'null'],
  ] as const) {
    t.is((await ann.post(`/api/files/${file}/license`, { ...license, licenseType, allowDownload })).status, 200)
    t.is((await bob.get(url)).status, route === 'null' ? 403 : 200)
    for (const path of [`/api/files/${file}/getPreviews`, `/api/datasets/${dataset}/getPreviews`]) {
      const [shown] = (await bob.get(path)).body as { previews: { pv_route: string }[] }[]
      t.is(shown?.previews[0]?.pv_route, route, `${path}, ${licenseType}, ${allowDownload}`)
    }
  }
})

test('previewers have the names of those of Clowder 1.x, by which clients select previews', async t => {
  const dataset = await newDataset(ann)
  for (const [type, name] of [
    ['image/jpeg', 'Thumbnail'],
    ['image/jpg', 'Thumbnail'],
    ['image/bmp', 'Thumbnail'],
    ['video/mp4', 'Video'],
    ['audio/mpeg', 'Audio'],
    ['application/pdf', 'PDF'],
    ['text/csv', 'Text'],
  ] as const) {
    const file = await upload(ann.call, dataset, 'bytes', 'file', { type })
    const { body } = await ann.get(`/api/files/${file}/getPreviews`)
    t.deepEqual(
      (body as { previews: { p_id: string }[] }[])[0]?.previews.map(({ p_id }) => p_id),
      [name],
      type,
    )
  }
})

test('content that a browser could execute is served as an attachment, sandboxed and with nosniff', async t => {
  const file = await newFile()
  for (const [type, kind] of [
    ['image/svg+xml', 'attachment'],
    ['text/html', 'attachment'],
    ['application/xhtml+xml', 'attachment'],
    ['image/png', 'inline'],
  ] as const) {
    const preview = await send(ann, '/api/previews', { bytes: '<script>alert(1)</script>', type })
    await ann.post(`/api/files/${file}/previews/${preview}`, {})
    const thumbnail = await send(ann, '/api/fileThumbnail', { bytes: '<script>alert(1)</script>', type })
    const tile = await send(ann, '/api/tiles', { bytes: '<script>', type, name: '0_0_x.svg' })
    await ann.post(`/api/previews/${preview}/tiles/${tile}/0`, {})
    for (const path of [`/api/previews/${preview}`, `/api/thumbnails/${thumbnail}/blob`, `/api/previews/${preview}_files/0/0_0.svg`]) {
      const { headers } = await ann.call(path)
      t.regex(headers.get('content-disposition') ?? '', new RegExp(`^${kind}`), `${type} ${path}`)
      t.is(headers.get('x-content-type-options'), 'nosniff')
      t.regex(headers.get('content-security-policy') ?? '', /^sandbox/)
    }
  }
})

test('previews, thumbnails and tiles have an ETag, which changes when a tile is replaced', async t => {
  const file = await newFile()
  const [preview, thumbnail] = [await previewOf(ann, file), await thumbnailOf(ann, `/api/files/${file}`)]
  const attach = async (bytes: string): Promise<unknown> =>
    ann.post(`/api/previews/${preview}/tiles/${await send(ann, '/api/tiles', { bytes, name: '0_0_x.png' })}/0`, {})
  const tile = `/api/previews/${preview}_files/0/0_0.png`
  await attach('before')
  for (const path of [`/api/previews/${preview}`, `/api/thumbnails/${thumbnail}/blob`, tile]) {
    const etag = (await ann.call(path)).headers.get('etag') ?? ''
    t.regex(etag, /^"[^"]+"$/, path)
    t.is((await ann.call(path, { headers: { 'if-none-match': etag } })).status, 304, path)
    t.is((await ann.call(path, { headers: { range: 'bytes=0-1', 'if-range': etag } })).status, 206, path)
  }
  const etag = (await ann.call(tile)).headers.get('etag') ?? ''
  await attach('after!')
  const after = await ann.call(tile, { headers: { 'if-none-match': etag } })
  t.deepEqual([after.status, await after.text()], [200, 'after!'])
})

test('the preview and thumbnail of a deleted file are unavailable at once, and their bytes are then deleted', async t => {
  const file = await newFile()
  const [preview, thumbnail] = [await previewOf(ann, file), await thumbnailOf(ann, `/api/files/${file}`)]
  const blob = (await recordOf(preview))?.blob ?? ''
  t.truthy(await server.get(BlobStore).stat(blob))
  await ann.remove(`/api/files/${file}`)
  t.is(await answering(ann, [`/api/previews/${preview}`, `/api/thumbnails/${thumbnail}`, `/api/thumbnails/${thumbnail}/blob`]), 0)
  await server.drained(60_000)
  t.is(await server.get(BlobStore).stat(blob), undefined)
  t.is(await server.get(DocumentStore).get(thumbnails, thumbnail), undefined)
})

test('previews attached while their file is being deleted are deleted with it', async t => {
  for (let round = 0; round < 3; round += 1) {
    const file = await newFile()
    const sent = await Promise.all(Array.from({ length: 8 }, () => send(ann, '/api/previews')))
    const attached = sent.map(id => ann.post(`/api/files/${file}/previews/${id}`, {}))
    const gone = ann.remove(`/api/files/${file}`)
    await Promise.all(attached)
    t.is((await gone).status, 200)
    await server.drained(60_000)
    t.is((await server.get(DocumentStore).getMany(previews, sent)).size, 0)
  }
})

test('a preview uploaded with an empty title has none', async t => {
  const form = formWith('a picture', 'p.png', 'image/png')
  form.append('title', '')
  const { id } = (await (await ann.call('/api/previews', { method: 'POST', body: form })).json()) as { id: string }
  t.like((await ann.get(`/api/previews/${id}/metadata`)).body, { title: null })
})

test('an upload without a file is rejected with 400', async t => {
  for (const path of ['/api/previews', '/api/tiles', '/api/fileThumbnail']) {
    const form = new FormData()
    form.append('title', 'nothing')
    t.is((await ann.call(path, { method: 'POST', body: form })).status, 400, path)
    t.is((await ann.call(path, { method: 'POST', body: formWith('', 'empty.png', 'image/png') })).status, 400, path)
    const other = { method: 'POST', body: formWith('bytes', 'other.png', 'image/png', 'image') } as const
    t.regex((await refusal(ann.call(path, other))).message, /^File not attached/, path)
    t.is((await server.as()(path, { method: 'POST', body: formWith('x', 'x.png', 'image/png') })).status, 401, path)
  }
})

test('previews, thumbnails and tiles unattached for a week are deleted, and nothing else', async t => {
  const clock = new FixedClock('2026-01-01T00:00:00.000Z')
  const other = await bootForTest({ t, clock })
  const eve = await somebody(other, 'eve')
  const file = await upload(eve.call, await newDataset(eve))
  const kept = await previewOf(eve, file)
  const stray = [
    await send(eve, '/api/previews'),
    await send(eve, '/api/fileThumbnail'),
    await send(eve, '/api/tiles', { name: '0_0_x.jpg' }),
  ]
  clock.advance(8 * 24 * 60 * 60 * 1000)
  const fresh = await send(eve, '/api/previews')
  await other.runPeriodic('resources.previews/unattached')
  await other.drained(60_000)
  const documents = other.get(DocumentStore)
  const left = await Promise.all([previews, thumbnails, tiles].map((from, at) => documents.get<object>(from, stray[at] ?? '')))
  t.deepEqual(left, [undefined, undefined, undefined])
  t.is((await documents.getMany(previews, [kept, fresh, other.get(Ids).next()])).size, 2)
})
