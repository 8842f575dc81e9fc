import { hash, randomBytes } from 'node:crypto'
import test from 'ava'
import { BlobStore, Datasets, Files } from 'pounce/sdk'
import { bootForTest, skippedBecause } from 'pounce/sdk/testing'
import { installBagit, validateBag } from '../clients/bagit.ts'
import { downloaded, newFolder, unzip, uploadBytes } from '../support/archives.ts'
import { callsOf, idOf } from '../support/calls.ts'
import { newCollection, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

const lacking = await installBagit()
const server = await bootForTest({ config: { access: { policy: { allowAnonymousDownload: true } } } })
test.after.always(() => server.stop())
/** Tests that use the validator of the Library of Congress. */
const validated = lacking === undefined ? test : skippedBecause(test, lacking)

const bagOf = async (person: Somebody, path: string) => downloaded(person, `${path}${path.includes('?') ? '&' : '?'}bagit=true`)

/** Reads a bag according to RFC 8493, without a library. Throws when it is not valid. Returns its files by path. */
const checked = async (archive: Buffer): Promise<ReadonlyMap<string, Buffer>> => {
  const files = await unzip(archive)
  const listed = (name: string) =>
    new Map(
      String(files.get(name))
        .split('\n')
        .filter(line => line !== '')
        .map(line => [line.slice(66), line.slice(0, 64)] as const),
    )
  const [payload, tags] = [listed('manifest-sha256.txt'), listed('tagmanifest-sha256.txt')]
  for (const [path, bytes] of files) {
    if (path.endsWith('/') || path === 'tagmanifest-sha256.txt') continue
    const digest = (path.startsWith('data/') ? payload : tags).get(path)
    if (digest !== hash('sha256', bytes)) throw new Error(`${path} is ${digest === undefined ? 'not listed' : 'listed wrongly'}`)
  }
  for (const path of [...payload.keys(), ...tags.keys()]) if (!files.has(path)) throw new Error(`${path} is listed and not there`)
  const bytes = [...payload.keys()].reduce((sum, path) => sum + (files.get(path)?.length ?? 0), 0)
  const [, oxum] = /^Payload-Oxum: (.*)$/m.exec(String(files.get('bag-info.txt'))) ?? []
  if (oxum !== `${bytes}.${payload.size}`) throw new Error(`Payload-Oxum is ${oxum}, not ${bytes}.${payload.size}`)
  return files
}

const json = (files: ReadonlyMap<string, Buffer>, path: string) => JSON.parse(String(files.get(path)))

/** A dataset with everything that a bag can describe. */
const furnished = async (owner: Somebody) => {
  const space = await newSpace(owner, 'Soil & water')
  const dataset = await newDataset(owner, { name: 'Größe <1> & "2"', description: 'Two lines\nof <b>text</b> & more', space: [space] })
  t200(await owner.post(`/api/datasets/${dataset}/tags`, { tags: ['a & b', '観測'] }))
  t200(await owner.post(`/api/datasets/${dataset}/creator`, { creator: 'Ada <Lovelace>' }))
  const content = { depth: { '@id': 'x', 'a.b': [1, null] } }
  const agent = { '@type': 'cat:extractor', name: 'ncsa.x', extractor_id: 'https://example.org/api/extractors/ncsa.x/1.0' }
  const context = ['https://example.org/context.jsonld', { depth: 'https://example.org/depth' }]
  const document = { '@context': context, agent, content, created_at: '2018-06-20T11:40:25Z' }
  t200(await owner.post(`/api/datasets/${dataset}/metadata.jsonld`, document))
  const folder = await newFolder(owner, dataset, 'top')
  const inner = await newFolder(owner, dataset, 'inner', folder)
  await newFolder(owner, dataset, 'empty', folder)
  const file = await uploadBytes(owner, dataset, 'a.txt', 'in the root', { type: 'text/plain' })
  t200(await owner.post(`/api/files/${file}/metadata.jsonld`, document))
  t200(await owner.put(`/api/files/${file}/updateDescription`, { description: 'What it is' }))
  const large = randomBytes(200_000)
  await uploadBytes(owner, dataset, '観測.bin', large, { folder: inner })
  return { dataset, file, large, document }
}

const t200 = ({ status, body }: { readonly status: number; readonly body: unknown }): void => {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
}

test('a bag contains files, descriptions and metadata under the names of v1', async t => {
  const ann = await somebody(server, 'Ann')
  const { dataset, file, large, document } = await furnished(ann)
  const files = await checked(await bagOf(ann, `/api/datasets/${dataset}/download`))
  t.deepEqual(
    [...files.keys()],
    [
      ...['data/_info.json', 'data/_dataset_metadata.json'],
      ...['data/a.txt_info.json', 'data/a.txt_metadata.json', 'data/a.txt', 'data/top/empty/'],
      ...['data/top/inner/観測.bin_info.json', 'data/top/inner/観測.bin_metadata.json', 'data/top/inner/観測.bin'],
      ...['bagit.txt', 'bag-info.txt', 'manifest-sha256.txt', 'metadata/datacite.xml', 'metadata/clowder.xml', 'tagmanifest-sha256.txt'],
    ],
  )
  t.is(String(files.get('bagit.txt')), 'BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n')
  t.true(files.get('data/top/inner/観測.bin')?.equals(large))
  const info = json(files, 'data/_info.json')
  t.like(info, {
    id: dataset,
    name: 'Größe <1> & "2"',
    author: ann.email.toLowerCase(),
    spaces: 'Soil & water',
    creators: ['Ada <Lovelace>'],
  })
  t.deepEqual(info.tags, ['a & b', '観測'])
  t.like(info.license, { licenseText: 'All Rights Reserved', rightsHolder: 'Ann Number 1' })
  const [shown] = json(files, 'data/_dataset_metadata.json')
  t.like(shown, { '@context': document['@context'], agent: document.agent, content: document.content })
  t.regex(shown.attached_to.url, new RegExp(`^http.*/datasets/${dataset}$`))
  t.like(json(files, 'data/a.txt_info.json'), { id: file, filename: 'a.txt', contentType: 'text/plain', description: 'What it is' })
  t.is(json(files, 'data/a.txt_metadata.json').length, 1)
  const datacite = String(files.get('metadata/datacite.xml'))
  t.true(datacite.includes('<title>Größe &lt;1&gt; &amp; &quot;2&quot;</title>'))
  t.true(datacite.includes('xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'))
  t.true(datacite.includes('<creatorName>Ada &lt;Lovelace&gt;</creatorName>'))
  t.true(String(files.get('metadata/clowder.xml')).includes('<tag>a &amp; b</tag>'))
  t.is((await ann.get(`/api/datasets/${dataset}/download?bagit=nonsense`)).status, 400)
})

test('email addresses of people are left out of bags for anonymous callers', async t => {
  const ann = await somebody(server, 'Ann')
  const { dataset } = await furnished(ann)
  const path = `/api/datasets/${dataset}/download`
  const nobody = { ...ann, ...callsOf(server.as()), call: server.as() }
  const isReported = async (person: Somebody) =>
    [...(await checked(await bagOf(person, path))).values()].some(bytes => bytes.includes(ann.email.toLowerCase()))
  t.true(await isReported(ann))
  t.false(await isReported(nobody))
})

test('files named like the tag files of a bag get distinct paths', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  const names = [
    '_info.json',
    '_dataset_metadata.json',
    'a',
    'a_info.json',
    'A_METADATA.json',
    '%0Aline.txt',
    '$HOME',
    '~root',
    'a%25b',
    ' b ',
  ]
  for (const name of names) {
    const id = await uploadBytes(ann, dataset, 'x', name)
    await server.get(Files).change(id, { set: { name } }, [])
  }
  const archive = await bagOf(ann, `/api/datasets/${dataset}/download`)
  const files = await checked(archive)
  const infos = [...files].filter(([path]) => path.endsWith('_info.json') && path !== 'data/_info.json')
  const pairs = infos.flatMap(([path, bytes]) => {
    const of = files.get(path.slice(0, -'_info.json'.length))
    return of === undefined ? [] : [[JSON.parse(String(bytes)).filename, String(of)]]
  })
  t.deepEqual(pairs.map(([name]) => name).toSorted(), names.toSorted())
  t.true(pairs.every(([name, bytes]) => name === bytes))
})

validated('bags of datasets, folders, selected files and empty datasets are valid', async t => {
  const ann = await somebody(server)
  const { dataset, file } = await furnished(ann)
  const whole = await validateBag(await bagOf(ann, `/api/datasets/${dataset}/download`))
  t.like(whole.info, { 'Internal-Sender-Identifier': dataset, 'Internal-Sender-Description': 'Two lines of <b>text</b> & more' })
  t.is(whole.payload.length, 8)
  const partial = await validateBag(await bagOf(ann, `/api/datasets/${dataset}/downloadPartial?fileList=${file}`))
  t.deepEqual(partial.payload.slice(-3), ['data/a.txt', 'data/a.txt_info.json', 'data/a.txt_metadata.json'])
  const folder = await newFolder(ann, dataset, 'only')
  await uploadBytes(ann, dataset, 'x', 'x', { folder })
  const below = await validateBag(await bagOf(ann, `/api/datasets/${dataset}/downloadFolder?folderId=${folder}`))
  t.true(below.payload.includes('data/only/x'))
  const nothing = await validateBag(await bagOf(ann, `/api/datasets/${await newDataset(ann)}/download`))
  t.deepEqual(nothing.payload, ['data/_dataset_metadata.json', 'data/_info.json'])
})

validated('bags of collections are valid', async t => {
  const ann = await somebody(server)
  const [top, inner] = [await newCollection(ann, { name: 'Top' }), await newCollection(ann, { name: 'Inner' })]
  await idOf(ann.post(`/api/collections/${top}/addSubCollection/${inner}`))
  for (const [name, collection] of [
    ['one', top],
    ['two', inner],
  ] as const) {
    await uploadBytes(ann, await newDataset(ann, { name, collection: [collection] }), 'x.txt', name)
  }
  const archive = await bagOf(ann, `/api/collections/${top}/download`)
  const bag = await validateBag(archive)
  t.true(
    ['data/_info.json', 'data/one/x.txt', 'data/Inner/_info.json', 'data/Inner/two/_info.json'].every(path => bag.payload.includes(path)),
  )
  t.is(json(await unzip(archive), 'data/Inner/two/_info.json').name, 'two')
  await validateBag(await bagOf(ann, `/api/collections/${await newCollection(ann)}/download`))
})

validated('a bag is valid whatever the names of its files', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  for (const name of [
    '%0Aline.txt',
    '%250A',
    '$HOME',
    '$PATH.txt',
    '~root',
    '~',
    ' b ',
    '*x',
    '..',
    'é.txt',
    'e\u0301.txt',
    `${'観'.repeat(120)}.x`,
  ]) {
    const id = await uploadBytes(ann, dataset, 'x', name)
    await server.get(Files).change(id, { set: { name } }, [])
  }
  const bag = await validateBag(await bagOf(ann, `/api/datasets/${dataset}/download`))
  t.is(bag.payload.length, 2 + 3 * 12)
})

test('missing bytes of a file abort the download of a bag', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  await uploadBytes(ann, dataset, 'a.bin', randomBytes(2_000_000))
  const lost = await uploadBytes(ann, dataset, 'b.bin', randomBytes(100_000))
  await server.get(BlobStore).remove((await server.get(Files).get(lost))?.blob ?? '')
  const response = await ann.call(`/api/datasets/${dataset}/download?bagit=true`)
  await t.throwsAsync(response.arrayBuffer())
  await server.drained()
  t.is((await server.get(Datasets).get(dataset))?.statistics.downloads, 1)
})

test('each file has its own metadata in a bag, whether short, long or more than a page', async t => {
  const ann = await somebody(server, 'Ann')
  const dataset = await newDataset(ann)
  const files = [0, 1, 2, 3, 4].map(n => uploadBytes(ann, dataset, `f${n}.txt`, `file ${n}`))
  const [, short, long, many, last] = await Promise.all(files)
  const add = async (file: string | undefined, content: object) => t200(await ann.post(`/api/files/${file}/metadata`, content))
  const text = 'x'.repeat(3 * 1024 * 1024)
  await add(short, { is: 'short' })
  for (const is of ['long 1', 'long 2']) await add(long, { is, text })
  for (let n = 0; n < 120; n += 1) await add(many, { is: `many ${n}`, text: n % 40 === 0 ? text : '' })
  await add(last, { is: 'last' })
  const bag = await checked(await bagOf(ann, `/api/datasets/${dataset}/download`))
  const are = (n: number) => (json(bag, `data/f${n}.txt_metadata.json`) as { content: { is: string } }[]).map(({ content }) => content.is)
  t.deepEqual([0, 1, 2, 4].map(are), [[], ['short'], ['long 2', 'long 1'], ['last']])
  t.deepEqual(
    are(3),
    Array.from({ length: 120 }, (_, n) => `many ${119 - n}`),
  )
})
