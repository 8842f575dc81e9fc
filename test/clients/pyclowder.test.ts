import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { extracted } from '../support/extracted.ts'
import { newPerson } from '../support/people.ts'
import { installPyclowder, type Outcome, Pyclowder } from './pyclowder.ts'

const missing = await installPyclowder()
const pyclowderTest = missing === undefined ? test : test.skip
const why = missing === undefined ? '' : ` (${missing})`

/** No server is started when all tests are skipped, since ava would not run the hook that stops it. */
const booted = async () => {
  const server = await bootForTest()
  return { server, person: await newPerson(server, 'extractor-author'), python: new Pyclowder() }
}
const session = missing === undefined ? await booted() : undefined
test.after.always(async () => {
  session?.python.end()
  await session?.server.stop()
})

const running = () => {
  if (!session) throw new Error(`There is no pyclowder: ${missing}`)
  return session
}

const data = (name: string): string => fileURLToPath(new URL(`../data/${name}`, import.meta.url))
/** The value that pyclowder passes to an extractor. */
const host = (): string => `${running().server.url}/`
const unknownId = 'f'.repeat(24)

const outcomeOf = async (name: string, ...rest: readonly unknown[]): Promise<Outcome> => {
  const { python, person } = running()
  return await python.call(name, host(), person.key, ...rest)
}

/** Calls a function that must succeed. */
const call = async <T>(name: string, ...rest: readonly unknown[]): Promise<T> => {
  const outcome = await outcomeOf(name, ...rest)
  if (outcome.error !== undefined) throw new Error(`${name}: ${outcome.error} ${outcome.body}`)
  return outcome.result as T
}

type Item = Readonly<Record<string, unknown>> & { readonly id: string }
type Metadata = Readonly<Record<'content' | 'agent', Readonly<Record<string, unknown>>>>

const newDataset = (name: string, ...rest: readonly unknown[]): Promise<string> => call('datasets.create_empty', name, '', ...rest)

const get = async <T>(path: string): Promise<T> => (await (await running().person.call(path)).json()) as T

const ids = (items: readonly Item[]): string[] => items.map(({ id }) => id).sort()

const newFile = async (name: string): Promise<string> => call('files.upload_to_dataset', await newDataset(`for ${name}`), data(name))

pyclowderTest(`a dataset is made, described and deleted${why}`, async t => {
  const dataset = await newDataset('Plots')
  t.is((await call<Item>('datasets.get_info', dataset))['name'], 'Plots')
  t.deepEqual(await call('datasets.get_file_list', dataset), [])
  t.is((await call<Item>('datasets.delete', dataset))['status'], 'success')
  t.deepEqual(ids(await get('/api/datasets/listTrash')), [dataset])
  await call('datasets.delete', dataset)
  t.is((await outcomeOf('datasets.get_info', dataset)).status, 404)
})

pyclowderTest(`a dataset is made in a collection and a space at once${why}`, async t => {
  const made = await running().person.call('/api/spaces', { method: 'POST', json: { name: 'Lab', description: '' } })
  const { id: space } = (await made.json()) as Item
  const collection = await call<string>('collections.create_empty', 'Series', '', null, space)
  const dataset = await newDataset('Inside', collection, space)
  t.deepEqual(ids(await call('collections.get_datasets', collection)), [dataset])
  t.deepEqual(ids(await get(`/api/spaces/${space}/datasets`)), [dataset])
  t.deepEqual(ids(await get(`/api/spaces/${space}/collections`)), [collection])
})

pyclowderTest(`collections nest and are deleted${why}`, async t => {
  const parent = await call<string>('collections.create_empty', 'Parent', 'above')
  const child = await call<string>('collections.create_empty', 'Child', 'below', parent)
  t.deepEqual(ids(await call('collections.get_child_collections', parent)), [child])
  t.deepEqual(await call('collections.get_datasets', child), [])
  t.is((await call<Item>('collections.delete', child))['status'], 'success')
  await call('collections.delete', child)
  await running().server.drained()
  t.deepEqual(await call('collections.get_child_collections', parent), [])
})

pyclowderTest(`metadata of a dataset is written, filtered and removed${why}`, async t => {
  const dataset = await newDataset('Measured')
  const document = await call<object>('document', { words: 12, 'a.b$c': [1, null] }, 'dataset', dataset)
  const sent = await outcomeOf('datasets.upload_metadata', dataset, document)
  t.deepEqual(sent.messages, [{ status: 'StatusMessage.processing', type: 'dataset', id: dataset, message: 'Uploading dataset metadata.' }])
  const [kept, ...others] = await call<Metadata[]>('datasets.download_metadata', dataset)
  t.deepEqual(others, [])
  t.deepEqual(kept?.content, { words: 12, 'a.b$c': [1, null] })
  t.is(kept?.agent['extractor_id'], `${host()}extractors/test.words/1.2`)
  t.is((await call<Metadata[]>('datasets.download_metadata', dataset, 'test.words')).length, 1)
  t.deepEqual(await call('datasets.download_metadata', dataset, 'test.other'), [])
  await call('datasets.remove_metadata', dataset)
  t.deepEqual(await call('datasets.download_metadata', dataset), [])
})

pyclowderTest(`tags of a dataset are put on${why}`, async t => {
  const dataset = await newDataset('Tagged')
  await call('datasets.upload_tags', dataset, { tags: ['beech', ' leaf  area '], extractor_id: 'test.words' })
  const { tags } = await get<{ readonly tags: readonly string[] }>(`/api/datasets/${dataset}/tags`)
  t.deepEqual([...tags].sort(), ['beech', 'leaf area'])
})

pyclowderTest(`a file is uploaded, listed, described and comes back byte for byte${why}`, async t => {
  const dataset = await newDataset('Files')
  const file = await call<string>('files.upload_to_dataset', dataset, data('Übersicht – 観測.md'))
  const [listed] = await call<Item[]>('datasets.get_file_list', dataset)
  t.is(listed?.id, file)
  t.is(listed?.['filename'], 'Übersicht – 観測.md')
  const info = await call<Item>('files.download_info', file)
  t.is(info['filename'], 'Übersicht – 観測.md')
  t.false('filepath' in info, 'the path of the bytes is for server admins only')
  const { result: copy, messages } = await outcomeOf('files.download', file, null, '.md')
  t.is(messages?.[0]?.message, 'Downloading file.')
  t.deepEqual(await readFile(String(copy)), await readFile(data('Übersicht – 観測.md')))
  await rm(String(copy))
})

pyclowderTest(`metadata of a file is written and read beside what extractors found${why}`, async t => {
  const file = await newFile('notes.md')
  await call('files.upload_metadata', file, await call('document', { words: 7 }, 'file', file))
  const [own, ...others] = await call<Metadata[]>('files.download_metadata', file, 'test.words')
  t.deepEqual(others, [])
  t.deepEqual(own?.content, { words: 7 })
  await extracted(running().person.call, file, 60_000)
  const names = (await call<Metadata[]>('files.download_metadata', file)).map(({ agent }) => agent['name'])
  t.true(names.includes('test.words'))
  t.true(names.includes('pounce.digest'))
})

pyclowderTest(`tags of a file are put on${why}`, async t => {
  const file = await newFile('empty.bin')
  await call('files.upload_tags', file, { tags: ['nothing'], extractor_id: 'test.words' })
  t.deepEqual((await get<{ readonly tags: readonly string[] }>(`/api/files/${file}/tags`)).tags, ['nothing'])
})

pyclowderTest(`a preview and a thumbnail are uploaded and shown${why}`, async t => {
  const file = await newFile('empty.bin')
  const preview = await call<string>('files.upload_preview', file, data('picture.png'), { width: 64, title: 'small' }, 'image/png')
  const shown = await running().person.call(`/api/previews/${preview}`)
  t.deepEqual(Buffer.from(await shown.arrayBuffer()), await readFile(data('picture.png')))
  t.is(shown.headers.get('content-type'), 'image/png')
  const [of] = await get<readonly { readonly previews: readonly Readonly<Record<string, unknown>>[] }[]>(`/api/files/${file}/getPreviews`)
  t.is(of?.previews[0]?.['pv_id'], preview)
  const thumbnail = await call<string>('files.upload_thumbnail', file, data('picture.png'))
  t.is((await call<Item>('files.download_info', file))['thumbnail'], thumbnail)
  const picture = await running().person.call(`/api/thumbnails/${thumbnail}/blob`)
  t.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/png'])
})

pyclowderTest(`a preview without a type of its own has that of its name and is listed${why}`, async t => {
  const file = await newFile('empty.bin')
  const preview = await call<string>('files.upload_preview', file, data('picture.png'))
  t.is((await running().person.call(`/api/previews/${preview}`)).headers.get('content-type'), 'image/png')
  const [of] = await get<readonly { readonly previews: readonly Readonly<Record<string, unknown>>[] }[]>(`/api/files/${file}/getPreviews`)
  t.like(of?.previews[0], { pv_id: preview, pv_contenttype: 'image/png' })
})

pyclowderTest(`an extractor runs on a file on request${why}`, async t => {
  const file = await newFile('stations.csv')
  await extracted(running().person.call, file, 60_000)
  const before = await call<Metadata[]>('files.download_metadata', file, 'pounce.digest')
  const answer = await call<Item>('files.submit_extraction', file, 'pounce.digest')
  t.is(answer['status'], 'OK')
  t.regex(String(answer['job_id']), /^[0-9a-f]{24}$/)
  await extracted(running().person.call, file, 60_000)
  const [after] = await call<Metadata[]>('files.download_metadata', file, 'pounce.digest')
  t.is(
    after?.content['sha256'],
    createHash('sha256')
      .update(await readFile(data('stations.csv')))
      .digest('hex'),
  )
  t.is(before.length, 1)
})

pyclowderTest(`an extractor is submitted for a dataset${why}`, async t => {
  const info = {
    name: 'test.survey',
    version: '1.0',
    description: 'Looks at datasets',
    author: 'Somebody',
    contexts: [],
    repository: [],
    process: { dataset: ['file.added'] },
  }
  t.is((await running().person.call('/api/extractors', { method: 'POST', json: info })).status, 200)
  t.is(await call('datasets.submit_extraction', await newDataset('Surveyed'), 'test.survey'), 200)
})

pyclowderTest(`a file is deleted${why}`, async t => {
  const file = await newFile('notes.md')
  t.is((await call<Item>('files.delete', file))['status'], 'success')
  t.is((await outcomeOf('files.download_info', file)).status, 404)
})

pyclowderTest(`what is not there raises an error with the status${why}`, async t => {
  for (const name of [
    'datasets.get_info',
    'datasets.get_file_list',
    'files.download',
    'files.download_metadata',
    'collections.get_datasets',
  ])
    t.is((await outcomeOf(name, unknownId)).status, 404, name)
  t.is((await outcomeOf('files.upload_to_dataset', unknownId, data('notes.md'))).status, 404)
})

pyclowderTest(`a wrong key is refused${why}`, async t => {
  const outcome = await running().python.call('datasets.create_empty', host(), 'not-a-key', 'Never', '')
  t.is(outcome.status, 401)
  t.is(outcome.result, undefined)
})
