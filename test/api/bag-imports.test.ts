import { randomBytes } from 'node:crypto'
import test from 'ava'
import { Datasets, Files, Folders, Unavailable } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { downloaded, newFolder, unzip, uploadBytes } from '../support/archives.ts'
import { bagFiles, bagZip, importBag, v1Bag, zipOf } from '../support/bags.ts'
import { idsOf } from '../support/calls.ts'
import { extracted } from '../support/extracted.ts'
import { newDataset, type Somebody, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest()
test.after.always(() => server.stop())

/** Path → bytes as text, of all files of a dataset. */
const contentOf = async (person: Somebody, dataset: string) => {
  const files = await unzip(await downloaded(person, `/api/datasets/${dataset}/download?tracking=false`))
  return Object.fromEntries([...files].map(([path, bytes]) => [path, String(bytes)]))
}
const filesOf = (dataset: string) => Array.fromAsync(server.get(Files).ofDataset(dataset))
const metadataOf = async (person: Somebody, path: string) =>
  (await person.get(`/api/${path}/metadata.jsonld`)).body as Record<string, unknown>[]

test('an exported bag is imported completely: folders, names, descriptions, tags, creators and metadata', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const dataset = await newDataset(ann, { name: 'Größe <1> & "2"', description: 'Two lines\nof text' })
  await ann.post(`/api/datasets/${dataset}/tags`, { tags: ['a & b', '観測'] })
  await ann.post(`/api/datasets/${dataset}/creator`, { creator: 'Ada <Lovelace>' })
  const agent = { '@type': 'cat:extractor', name: 'ncsa.x', extractor_id: 'https://example.org/api/extractors/ncsa.x/1.0' }
  const context = ['https://example.org/context.jsonld', { k: 'https://example.org/k' }]
  const document = { '@context': context, agent, content: { k: [1, { 'a.b': null }] }, created_at: '2018-06-20T11:40:25Z' }
  const top = await newFolder(ann, dataset, 'top')
  const inner = await newFolder(ann, dataset, 'inner', top)
  await newFolder(ann, dataset, 'empty', top)
  const large = randomBytes(300_000)
  const files = [
    await uploadBytes(ann, dataset, 'same.txt', 'one', { type: 'text/x-special' }),
    await uploadBytes(ann, dataset, 'same.txt', 'two'),
    await uploadBytes(ann, dataset, 'same.txt', 'deep', { folder: inner }),
    await uploadBytes(ann, dataset, '観測.bin', large, { folder: inner }),
  ]
  await ann.put(`/api/files/${files[0]}/updateDescription`, { description: 'What it is' })
  for (const path of [`datasets/${dataset}`, `files/${files[0]}`])
    t.is((await ann.post(`/api/${path}/metadata.jsonld`, document)).status, 200)
  await server.get(Files).change(files[0] ?? '', { set: { created: '2019-03-04T05:06:07.000Z' } }, [])

  const { status, text, id } = await importBag(
    bob,
    await downloaded(bob.id === '' ? bob : ann, `/api/datasets/${dataset}/download?bagit=true`),
  )
  t.is(status, 200, text)
  const record = await server.get(Datasets).get(id)
  t.like(record, { name: 'Größe <1> & "2"', description: 'Two lines\nof text', author: bob.id, access: 'PRIVATE', state: 'live' })
  t.deepEqual([record?.spaces, record?.creators], [[], ['Ada <Lovelace>']])
  t.deepEqual(
    record?.tags.map(tag => tag.name),
    ['a & b', '観測'],
  )
  const made = await filesOf(id)
  t.deepEqual(made.map(file => file.name).toSorted(), ['same.txt', 'same.txt', 'same.txt', '観測.bin'])
  const first = made.find(file => file.description === 'What it is')
  t.like(first, { contentType: 'text/x-special', created: '2019-03-04T05:06:07.000Z', author: bob.id })
  const folders = await Array.fromAsync(server.get(Folders).ofDataset(id))
  t.deepEqual(folders.map(folder => folder.name).toSorted(), ['empty', 'inner', 'top'])
  const content = await contentOf(bob, id)
  t.is(content['top/inner/same.txt'], 'deep')
  t.is(Object.keys(content).length, 4)
  for (const path of [`datasets/${id}`, `files/${first?.id}`]) {
    const [shown] = await metadataOf(bob, path)
    t.like(shown, { '@context': context, agent, content: document.content, created_at: 'Wed Jun 20 11:40:25 UTC 2018' }, path)
  }
  t.is((await importBag(bob, await downloaded(ann, `/api/datasets/${await newDataset(ann)}/download?bagit=true`))).status, 200)
})

test('imported files are extracted, found by search and reported in the feed like uploads', async t => {
  const ann = await somebody(server)
  const { id } = await importBag(ann, bagZip({ 'quoll.txt': 'a marsupial' }))
  const [file] = await filesOf(id)
  await extracted(ann.call, file?.id ?? '')
  await server.drained()
  const results = (await ann.get('/api/search?query=quoll')).body as { results: { id: string }[] }
  t.true(
    results.results.some(result => result.id === file?.id),
    JSON.stringify(results),
  )
  const lines = (await ann.get('/api/events')).body as { event_type: string; object_id: string }[]
  t.true(lines.some(line => line.event_type === 'create_dataset' && line.object_id === id))
})

test('a bag of Clowder 1.x is imported despite its defects', async t => {
  const ann = await somebody(server)
  const info = {
    id: 'x',
    name: 'Soil & water',
    author: 'a@example.org',
    description: 'From v1',
    license: { licenseText: 'CC', rightsHolder: 'Creative Commons' },
  }
  const document = {
    '@context': ['http://x/c'],
    agent: { '@type': 'cat:user', name: 'Ann', user_id: 'http:///api/users/5b2a' },
    content: { k: 1 },
    created_at: 'Wed Jun 20 11:40:25 CDT 2018',
  }
  const described = {
    id: 'y',
    filename: 'cat.jpg',
    author: 'a',
    uploadDate: 'Tue Sep 04 09:28:45 CDT 2018',
    contentType: 'image/jpeg',
    description: 'A cat',
  }
  const { status, text, id } = await importBag(
    ann,
    v1Bag({
      '_info.json': JSON.stringify(info),
      '_dataset_metadata.json': JSON.stringify([document]),
      'a/b/cat.jpg_info.json': JSON.stringify(described),
      'a/b/cat.jpg_metadata.json': JSON.stringify(document),
      'a/b/cat.jpg': 'miaow',
      'cat.jpg_info.json': JSON.stringify(described),
      'cat.jpg_metadata.json': '[]',
      'cat.jpg': 'another',
    }),
  )
  t.is(status, 200, text)
  t.deepEqual(await contentOf(ann, id), { 'a/b/cat.jpg': 'miaow', 'cat.jpg': 'another' })
  t.like(await server.get(Datasets).get(id), { name: 'Soil & water', description: 'From v1', license: { type: 'license2', text: 'CC' } })
  const [shown] = await metadataOf(ann, `datasets/${id}`)
  t.like(shown, { '@context': ['http://x/c'], content: { k: 1 }, created_at: 'Wed Jun 20 16:40:25 UTC 2018' })
  const [file] = await filesOf(id)
  t.like(file, { contentType: 'image/jpeg', description: 'A cat', created: '2018-09-04T14:28:45.000Z' })
  const escaped = await importBag(ann, v1Bag({ 'x.txt': 'x' }, { title: 'Plain' }))
  const record = await server.get(Datasets).get(escaped.id)
  t.deepEqual([record?.name, record?.creators, record?.tags.map(tag => tag.name)], ['Plain', ['Ada'], ['soil', 'wet']])
  const missing = await importBag(ann, v1Bag({ 'gone.txt_info.json': '{}', '_dataset_metadata.json': '[]' }))
  t.is(missing.message, 'Not all files found in archive (gone.txt missing)')
})

test('a bag with datacite.xml needs no dataset info; its file infos are applied, and one without a file is refused', async t => {
  const ann = await somebody(server)
  const datacite = { 'metadata/datacite.xml': '<resource><title>T</title></resource>' }
  const payload = { 'a.txt': 'a', 'a.txt_info.json': '{"description":"An a"}', 'extra.txt': 'e' }
  const { status, text, id } = await importBag(ann, bagZip(payload, { tags: datacite }))
  t.is(status, 200, text)
  t.deepEqual(await contentOf(ann, id), { 'a.txt': 'a', 'extra.txt': 'e' })
  t.is((await filesOf(id)).find(({ name }) => name === 'a.txt')?.description, 'An a')
  const missing = await importBag(ann, bagZip({ ...payload, 'gone.txt_info.json': '{}' }, { tags: datacite }))
  t.like(missing, { status: 400, message: 'Not all files found in archive (gone.txt missing)' })
  const bare = { ...datacite, 'data/extra.txt': 'e', 'data/gone.txt_info.json': '{}' }
  t.like(await importBag(ann, zipOf(bare)), { status: 400, message: 'Not all files found in archive (gone.txt missing)' })
})

test('an archive with only datacite.xml beside its files is read as by Clowder 1.x', async t => {
  const ann = await somebody(server)
  const read = (datacite: string, payload: Record<string, string>) =>
    importBag(ann, zipOf({ 'metadata/datacite.xml': datacite, ...payload }), 'Leaf area.zip')
  const titled = '<resource><title>T</title></resource>'
  const plain = await read(titled, { 'data/a.txt': 'a' })
  t.deepEqual([plain.status, (await server.get(Datasets).get(plain.id))?.name], [200, 'T'])
  const missing = await read(titled, { 'data/a.txt': 'a', 'data/deep/gone.txt_info.json': '{}' })
  t.like(missing, { status: 400, message: 'Not all files found in archive (deep/gone.txt missing)' })
  for (const untitled of ['<resource/>', '<resource><title> </title></resource>', '<resource><title>']) {
    const refused = await read(untitled, { 'data/a.txt': 'a' })
    t.like(refused, { status: 400, message: 'No dataset info found in Leaf area.zip' }, untitled)
  }
  const described = await read('<resource><title>', { 'data/_info.json': '{"name":"From JSON"}', 'data/a.txt': 'a' })
  t.is((await server.get(Datasets).get(described.id))?.name, 'From JSON')
})

test('files in a folder named data outside of the payload are refused, not left out', async t => {
  const ann = await somebody(server)
  const datacite = { 'metadata/datacite.xml': '<resource><title>T</title></resource>' }
  t.like(await importBag(ann, zipOf({ ...datacite, 'bag/data/q/a.txt': 'a', 'data/b.txt': 'b' })), {
    status: 400,
    message: '"bag/data/q/a.txt" is outside of the payload, which is in "data/"',
  })
  for (const [prefix, more] of [
    ['', { '__MACOSX/data/._a.txt': 'x' }],
    ['x/bag/', {}],
  ] as const) {
    const bag = { ...datacite, 'data/data/a.txt': 'a', 'notes.txt': 'n' }
    const { status, id } = await importBag(
      ann,
      zipOf({ ...Object.fromEntries(Object.entries(bag).map(([path, bytes]) => [prefix + path, bytes])), ...more }),
    )
    t.is(status, 200)
    t.deepEqual(await contentOf(ann, id), { 'data/a.txt': 'a' })
  }
})

test('any valid bag is accepted, whatever tool created it', async t => {
  const ann = await somebody(server)
  const payload = { 'a.txt': 'a', 'deep/er/b.txt': 'b', 'c_info.json': 'no description of anything', '100% %0A.txt': 'c' }
  const nameOf = async (archive: Buffer, filename?: string) => {
    const { status, text, id } = await importBag(ann, archive, filename)
    t.is(status, 200, text)
    t.is(Object.keys(await contentOf(ann, id)).length, 4)
    return (await server.get(Datasets).get(id))?.name
  }
  t.is(await nameOf(bagZip(payload), 'Leaf area.zip'), 'Leaf area')
  t.is(await nameOf(bagZip(payload, { version: '0.97', algorithm: 'md5' }), 'x.ZIP'), 'x')
  t.is(await nameOf(bagZip(payload, { algorithm: 'sha512', tags: { 'bag-info.txt': 'External-Identifier: One\n  two\n' } })), 'One two')
  t.is(await nameOf(zipOf({ ...bagFiles(payload) }, 'Some folder/')), 'Some folder')
  const encoded = bagFiles(payload)
  const manifest = String(encoded['manifest-sha256.txt']).replace('100% %0A', '100%25 %250A')
  t.is(await nameOf(bagZip(payload, { tags: { 'manifest-sha256.txt': manifest } }), 'y.zip'), 'y')
  const titled = '<r xmlns="u"><titles><title>One</title><title>T&#119;o &amp; <![CDATA[<3>]]></title></titles></r>'
  t.is(await nameOf(bagZip(payload, { tags: { 'metadata/datacite.xml': titled } })), 'Two & <3>')
  t.is((await importBag(ann, bagZip({}))).status, 200)
})

test('dates keep their time with the abbreviated time zones of Java; unknown ones are read as UTC', async t => {
  const ann = await somebody(server)
  const dates: readonly (readonly [string, string | undefined])[] = [
    ['Thu Oct 12 10:11:12 CEST 2023', '2023-10-12T08:11:12.000Z'],
    ['Thu Jan 12 10:11:12 CET 2023', '2023-01-12T09:11:12.000Z'],
    ['Wed Jul 12 10:11:12 BST 2023', '2023-07-12T09:11:12.000Z'],
    ['Thu Oct 12 10:11:12 IST 2023', '2023-10-12T04:41:12.000Z'],
    ['Thu Oct 12 10:11:12 JST 2023', '2023-10-12T01:11:12.000Z'],
    ['Thu Oct 12 10:11:12 CST 2023', '2023-10-12T16:11:12.000Z'],
    ['Thu Oct 12 10:11:12 GMT+03:00 2023', '2023-10-12T07:11:12.000Z'],
    ['Thu Oct 12 10:11:12 XYZT 2023', '2023-10-12T10:11:12.000Z'],
    ['2023-10-12T10:11:12+02:00', '2023-10-12T08:11:12.000Z'],
    ['last Thursday', undefined],
  ]
  const described = Object.fromEntries(
    dates.flatMap(([written], at) => [
      [`${at}.txt`, 'x'],
      [`${at}.txt_info.json`, JSON.stringify({ uploadDate: written })],
      [`${at}.txt_metadata.json`, JSON.stringify({ content: { k: 1 }, created_at: written })],
    ]),
  )
  const begun = new Date().toISOString()
  const { status, text, id } = await importBag(ann, v1Bag(described, { title: 'Dates' }))
  t.is(status, 200, text)
  const files = new Map((await filesOf(id)).map(file => [file.name, file]))
  for (const [at, [written, meant]] of dates.entries()) {
    const file = files.get(`${at}.txt`)
    const [document] = await metadataOf(ann, `files/${file?.id}`)
    const added = new Date(String(document?.['created_at'])).toISOString()
    if (meant !== undefined) t.deepEqual([file?.created, added], [meant, meant], written)
    else t.true(String(file?.created) >= begun && added >= `${begun.slice(0, 19)}.000Z`, written)
  }
})

test('tag files are read in the encoding that the bag declares, XML in its own', async t => {
  const ann = await somebody(server)
  const utf16 = (text: string, isBig: boolean) => {
    const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
    return isBig ? bytes.swap16() : bytes
  }
  const encoders: Readonly<Record<string, (text: string) => Buffer>> = {
    'ISO-8859-1': text => Buffer.from(text, 'latin1'),
    'iso-8859-1': text => Buffer.from(text, 'latin1'),
    'UTF-16': text => utf16(text, true),
    'utf-16': text => utf16(text, false),
    'UTF-16LE': text => Buffer.from(text, 'utf16le'),
  }
  const bagIn = (encoding: string, encoded: (text: string) => Buffer, more: Record<string, string> = {}) => {
    const own = { 'bagit.txt': `BagIt-Version: 1.0\nTag-File-Character-Encoding: ${encoding}\n`, ...more }
    const plain = bagFiles({ 'Größe.txt': 'x' }, { tags: { 'bag-info.txt': 'External-Identifier: Größe\n', ...own } })
    const tags = Object.fromEntries(
      Object.entries(plain).map(([path, text]) => [path, path in own || path.startsWith('data/') ? text : encoded(String(text))]),
    )
    const { 'tagmanifest-sha256.txt': _, ...listed } = tags
    return zipOf(listed)
  }
  for (const [encoding, encoded] of Object.entries(encoders)) {
    const { status, text, id } = await importBag(ann, bagIn(encoding, encoded))
    t.is(status, 200, `${encoding}: ${text}`)
    t.is((await server.get(Datasets).get(id))?.name, 'Größe', encoding)
    t.deepEqual(await contentOf(ann, id), { 'Größe.txt': 'x' }, encoding)
  }
  const latin = (text: string) => Buffer.from(text, 'latin1')
  const titled = await importBag(ann, bagIn('ISO-8859-1', latin, { 'metadata/datacite.xml': '<r><title>Maß</title></r>' }))
  t.is((await server.get(Datasets).get(titled.id))?.name, 'Maß', titled.text)
  const declared = latin('<?xml version="1.0" encoding="ISO-8859-1"?><r><title>Fuß</title></r>')
  const ownEncoding = await importBag(ann, bagZip({}, { tags: { 'metadata/datacite.xml': declared } }))
  t.is((await server.get(Datasets).get(ownEncoding.id))?.name, 'Fuß', ownEncoding.text)
  const unknown = await importBag(ann, bagIn('EBCDIC', latin))
  t.is(unknown.status, 400)
  t.regex(unknown.message, /unknown encoding "EBCDIC"; use UTF-8/)
  t.regex((await importBag(ann, bagIn('UTF-8', latin))).message, /bag-info\.txt is not in UTF-8/)
})

test('folders keep names that no file system could unpack beside each other', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  const names = ['Data', 'data', 'DATA', 'aux', 'Fin.', 'plain']
  for (const name of names) await uploadBytes(ann, dataset, 'a.txt', name, { folder: await newFolder(ann, dataset, name) })
  await newFolder(ann, dataset, 'Inner', await newFolder(ann, dataset, 'inner'))
  const bag = await downloaded(ann, `/api/datasets/${dataset}/download?bagit=true`)
  const paths = [...(await unzip(bag)).keys()].map(path => path.toLowerCase())
  t.is(new Set(paths).size, paths.length)
  const { status, text, id } = await importBag(ann, bag)
  t.is(status, 200, text)
  const folders = new Map((await Array.fromAsync(server.get(Folders).ofDataset(id))).map(folder => [folder.id, folder]))
  t.deepEqual([...folders.values()].map(({ name }) => name).toSorted(), [...names, 'Inner', 'inner'].toSorted())
  for (const file of await filesOf(id)) {
    const content = await (await ann.call(`/api/files/${file.id}`)).text()
    t.is(folders.get(file.places[0]?.folder ?? '')?.name, content)
  }
})

test('names of folders in a bag are ignored where they are impossible or taken', async t => {
  const ann = await somebody(server)
  const names = { 'data/a': 'same', 'data/b': 'same', 'data/c': '../c', 'data/d': 4, 'data/gone': 'x', 'data/e': 'a/b' }
  const payload = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map(name => [`${name}/x.txt`, name]))
  const imported = await importBag(ann, bagZip(payload, { tags: { 'metadata/folder-names.json': JSON.stringify(names) } }))
  t.is(imported.status, 200, imported.text)
  const folders = await Array.fromAsync(server.get(Folders).ofDataset(imported.id))
  t.deepEqual(folders.map(({ name }) => name).toSorted(), ['b', 'c', 'd', 'e', 'same'])
  for (const text of ['[]', 'null', '7'])
    t.is((await importBag(ann, bagZip(payload, { tags: { 'metadata/folder-names.json': text } }))).status, 200, text)
})

test('a bag with fetch.txt is accepted if it is complete', async t => {
  const ann = await somebody(server)
  const payload = { 'a.txt': 'a', 'b%.txt': 'b' }
  const fetching = (text: string) => importBag(ann, bagZip(payload, { tags: { 'fetch.txt': text } }))
  const complete = await fetching('https://example.org/a 1 data/a.txt\r\nhttps://example.org/b  -\tdata/b%25.txt')
  t.is(complete.status, 200, complete.text)
  t.deepEqual(await contentOf(ann, complete.id), payload)
  t.like(await fetching('https://example.org/a 1 data/a.txt\nhttps://example.org/c 1 data/c.txt\n'), {
    status: 400,
    message: 'fetch.txt is not supported: send a complete bag, with "data/c.txt"',
  })
  t.regex((await fetching('https://example.org/a data/a.txt\n')).message, /is not a URL, a length and a path/)
})

test('several bags in one request become datasets, all or none, and the last one is the answer', async t => {
  const ann = await somebody(server)
  const send = async (...archives: readonly Buffer[]) => {
    const form = new FormData()
    form.set('note', 'no bag')
    for (const [at, archive] of archives.entries()) form.append('bag', new Blob([new Uint8Array(archive)]), `bag ${at}.zip`)
    return ann.call('/api/datasets/createfrombag', { method: 'POST', body: form })
  }
  const mine = async () => await idsOf(ann.get('/api/datasets/canEdit?limit=0'))
  const refused = await send(bagZip({ 'a.txt': 'a' }), zipOf({ 'a.txt': 'a' }))
  t.is(refused.status, 400)
  t.deepEqual(await mine(), [])
  const taken = await send(bagZip({ 'a.txt': 'a' }), bagZip({ 'b.txt': 'b' }))
  t.is(taken.status, 200)
  const ids = await mine()
  const last = (await taken.text()).slice('Created dataset '.length)
  t.deepEqual(await contentOf(ann, last), { 'b.txt': 'b' })
  t.is(ids.length, 2)
  t.deepEqual(await contentOf(ann, ids.find(id => id !== last) ?? ''), { 'a.txt': 'a' })
})

test('of several bags none remains if one of them cannot be made visible', async t => {
  const own = await bootForTest({ t })
  const datasets = own.get(Datasets)
  const reveal = datasets.reveal.bind(datasets)
  let count = 0
  datasets.reveal = async id => {
    count += 1
    const revealed = await reveal(id)
    if (count === 2) throw new Unavailable('A fault of the test')
    return revealed
  }
  const ann = await somebody(own)
  const form = new FormData()
  for (const name of ['a', 'b', 'c']) form.append('bag', new Blob([new Uint8Array(bagZip({ [`${name}.txt`]: name }))]), `${name}.zip`)
  t.is((await ann.call('/api/datasets/createfrombag', { method: 'POST', body: form })).status, 503)
  t.is(count, 2)
  t.deepEqual(await idsOf(ann.get('/api/datasets/canEdit?limit=0')), [])
})

test('long texts are cut between characters', async t => {
  const ann = await somebody(server)
  const [name, half] = [`${'n'.repeat(499)}😀`, `${'x'.repeat(9999)}😀`]
  const agents = [
    { '@type': 'cat:extractor', name, extractor_id: 'https://example.org/api/extractors/ncsa.x/1.0' },
    { '@type': 'cat:user', name, user_id: 'https://example.org/api/users/1' },
  ]
  const { status, text, id } = await importBag(
    ann,
    zipOf({
      'metadata/datacite.xml': `<resource><title>cut</title><description>${half}</description></resource>`,
      'data/_dataset_metadata.json': JSON.stringify(agents.map(agent => ({ agent, content: { a: 1 } }))),
    }),
  )
  t.is(status, 200, text)
  for (const path of [id, `${id}/metadata.jsonld`]) {
    const shown = JSON.stringify((await ann.get(`/api/datasets/${path}`)).body)
    t.true(shown.length > 900)
    t.notRegex(shown, /\\ud83d/, path)
  }
})

test('an import requires an account, permission to create datasets, and a bag', async t => {
  const ann = await somebody(server)
  t.is((await importBag({ ...ann, call: server.as() }, bagZip({}))).status, 401)
  t.is((await importBag(ann, bagZip({}), 'bag.tar')).status, 400)
  t.deepEqual(await idsOf(ann.get('/api/datasets/canEdit?limit=0')), [])
})
