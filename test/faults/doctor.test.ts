import { rm, truncate } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import { BlobStore, type Collection, collection, DocumentStore, SearchIndex, type Stored } from 'pounce/sdk'
import { bootForTest, FixedClock } from 'pounce/sdk/testing'
import { callsOf, idOf } from '../support/calls.ts'
import { damage, onlyFile } from '../support/damage.ts'
import { previewOf, say, sectionOf, send, thumbnailOf } from '../support/derived.ts'
import { problemsOf, runCommand } from '../support/doctor.ts'
import { newSensor, newStream } from '../support/geostreams.ts'
import { formWith, newFolder, ok, unknownId, upload } from '../support/scene.ts'
import { letIn, newCollection, newDataset, newSpace, somebody } from '../support/spaces-and-people.ts'

type Fields = Readonly<Record<string, unknown>>
type Anything = Readonly<Record<string, never>>

/** Changes something behind the server's back, and returns how to undo it. */
type Seed = () => Promise<() => Promise<unknown>>

/** A fault, and what the doctor must report about it: the row, and a text in its detail. */
interface Fault {
  readonly name: string
  readonly seed: Seed
  readonly check: string
  readonly expected: string
  readonly isRead?: boolean
}

const records = (name: string): Collection<Anything> => collection<Anything>()(name) as unknown as Collection<Anything>
const counters = records('counters')

const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.from('a picture')])

/** An installation with at least one resource of each kind, and the ids of some. */
const setUp = async (t: ExecutionContext) => {
  const clock = new FixedClock(new Date().toISOString())
  const server = await bootForTest({ t, clock, config: { resources: { quotas: { countAlways: true } } } })
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Editor', bob)
  const outer = await newCollection(ann, { space })
  const inner = await newCollection(ann)
  await ok(ann.call(`/api/collections/${outer}/addSubCollection/${inner}`, { method: 'POST' }))
  const dataset = await newDataset(ann, { space: [space], collection: [outer] })
  const folder = await newFolder(ann.call, dataset, 'outer')
  const subfolder = await newFolder(ann.call, dataset, 'inner', folder)
  const large = await upload(ann.call, dataset, Buffer.alloc(300_000, 'large '), 'large.bin')
  const small = await upload(ann.call, dataset, 'small', 'small.txt')
  const moved = await ann.post(`/api/datasets/${dataset}/moveFile/${folder}/${small}`, {})
  t.is(moved.status, 200)
  const preview = await previewOf(ann, large)
  const thumbnail = await thumbnailOf(ann, `/api/files/${large}`)
  const tile = await send(ann, '/api/tiles')
  const section = await sectionOf(ann, large)
  const comment = await say(ann, `/api/datasets/${dataset}/comment`, 'a comment')
  await ok(ann.call(`/api/files/${small}/metadata`, { method: 'POST', json: { word: 'leaf' } }))
  await newStream(ann, await newSensor(ann))
  const relation = await idOf(
    ann.post('/api/relations', {
      source: { id: dataset, resourceType: 'dataset' },
      target: { id: small, resourceType: 'file' },
    }),
  )
  const logo = formWith(png, 'logo.png', 'image/png', 'image')
  logo.append('path', `space-${space}`)
  logo.append('name', 'logo')
  await ok(ann.call('/api/logos', { method: 'POST', body: logo }))
  const headers = { 'tus-resumable': '1.0.0', 'upload-length': '6', 'upload-metadata': `filename ${btoa('a')}` }
  const begun = await ann.call('/api/uploads', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/offset+octet-stream' },
    body: 'abc',
  })
  if (begun.status !== 201) throw new Error(await begun.text())
  await server.drained()
  return {
    server,
    clock,
    ann,
    bob,
    space,
    outer,
    inner,
    dataset,
    folder,
    subfolder,
    large,
    small,
    preview,
    thumbnail,
    tile,
    section,
    comment,
    relation,
  }
}

test('the doctor finds each of many kinds of faults, and no others', async t => {
  const { server, clock, ...made } = await setUp(t)
  const { ann, bob, space, outer, inner, dataset, folder, subfolder, large, small, preview, thumbnail, tile, section, comment, relation } =
    made
  const documents = server.get(DocumentStore)
  const blobs = server.get(BlobStore)
  const index = server.get(SearchIndex)
  const other = await newDataset(ann)
  await server.drained()

  const change =
    (name: string, id: string, set: Fields): Seed =>
    async () => {
      const before = (await documents.get(records(name), id)) as Fields | undefined
      if (!before) throw new Error(`${name} has no record ${id}`)
      await documents.commit({ update: id, in: records(name), set: set as never })
      const former = Object.fromEntries(Object.keys(set).map(key => [key, before[key]]))
      return () => documents.commit({ update: id, in: records(name), set: former as never })
    }
  const only = async (name: string): Promise<Stored & Fields> => {
    for await (const record of documents.walk(records(name))) return record
    throw new Error(`${name} is empty`)
  }
  const withoutBlob =
    (name: string, id?: string): Seed =>
    async () => {
      const { id: first } = await only(name)
      const record = (await documents.get(records(name), id ?? first)) as Fields | undefined
      const key = String(record?.['blob'])
      const copy = await blobs.get(key)
      if (!copy) throw new Error(`${name} ${id} has no bytes`)
      const bytes = Buffer.concat(await copy.toArray())
      await blobs.remove(key)
      return async () => {
        const { key: again } = await blobs.put(bytes)
        await documents.commit({ update: id ?? first, in: records(name), set: { blob: again } as never })
      }
    }
  const total =
    (name: string): Seed =>
    async () => {
      const { id } = await only('counters')
      const by = (inc: number) => documents.commit({ update: id, in: records('counters'), inc: { [name]: inc } })
      await by(3)
      return () => by(-3)
    }
  const flip =
    (at: number): Seed =>
    async () => {
      await damage(server.folder, 'files', at)
      return () => damage(server.folder, 'files', at)
    }

  const place = (changes: Fields) => [{ dataset, folder, in: folder, ...changes }]
  const faults: readonly Fault[] = [
    { name: 'damaged bytes of a file', seed: flip(200_000), isRead: true, check: 'stored bytes', expected: large },
    { name: 'missing bytes of a small file', seed: withoutBlob('files', small), check: 'stored bytes', expected: small },
    {
      name: 'missing bytes of a preview',
      seed: withoutBlob('previews', preview),
      check: 'stored bytes of other records',
      expected: preview,
    },
    {
      name: 'missing bytes of a thumbnail',
      seed: withoutBlob('thumbnails', thumbnail),
      check: 'stored bytes of other records',
      expected: thumbnail,
    },
    { name: 'missing bytes of a tile', seed: withoutBlob('previews.tiles', tile), check: 'stored bytes of other records', expected: tile },
    { name: 'missing bytes of a logo', seed: withoutBlob('logos'), check: 'stored bytes of other records', expected: 'logos' },
    {
      name: 'missing part of an upload',
      seed: withoutBlob('upload-parts'),
      check: 'stored bytes of other records',
      expected: 'upload-parts',
    },
    {
      name: 'wrong size of a preview',
      seed: change('previews', preview, { sizeBytes: 1 }),
      check: 'stored bytes of other records',
      expected: preview,
    },
    ...['spaces', 'collections', 'datasets', 'files', 'bytes', 'users'].map(name => ({
      ...{ name: `wrong number of ${name}`, seed: total(name), check: 'totals', expected: ` ${name} instead of ` },
    })),
    {
      name: 'file in a missing dataset',
      seed: change('files', small, { places: place({ dataset: unknownId }) }),
      check: 'references',
      expected: small,
    },
    {
      name: 'file in a missing folder',
      seed: change('files', small, { places: place({ folder: unknownId }) }),
      check: 'references',
      expected: small,
    },
    { name: 'folder in a missing dataset', seed: change('folders', folder, { dataset: unknownId }), check: 'references', expected: folder },
    {
      name: 'folder in a missing folder',
      seed: change('folders', subfolder, { parent: { kind: 'folder', id: unknownId } }),
      check: 'references',
      expected: subfolder,
    },
    {
      name: 'dataset in a missing space',
      seed: change('datasets', dataset, { spaces: [unknownId] }),
      check: 'references',
      expected: dataset,
    },
    {
      name: 'dataset in a missing collection',
      seed: change('datasets', dataset, { collections: [unknownId] }),
      check: 'references',
      expected: dataset,
    },
    {
      name: 'dataset of a missing author',
      seed: change('datasets', dataset, { author: unknownId }),
      check: 'references',
      expected: dataset,
    },
    {
      name: 'collection in a missing collection',
      seed: change('collections', inner, { parents: [unknownId] }),
      check: 'references',
      expected: inner,
    },
    {
      name: 'preview of a missing file',
      seed: change('previews', preview, { target: { kind: 'file', id: unknownId } }),
      check: 'references',
      expected: preview,
    },
    {
      name: 'thumbnail of a missing file',
      seed: change('thumbnails', thumbnail, { target: { kind: 'file', id: unknownId } }),
      check: 'references',
      expected: thumbnail,
    },
    { name: 'section of a missing file', seed: change('sections', section, { file: unknownId }), check: 'references', expected: section },
    {
      name: 'comment on a missing dataset',
      seed: change('comments', comment, { target: { kind: 'dataset', id: unknownId } }),
      check: 'references',
      expected: comment,
    },
    {
      name: 'metadata of a missing file',
      seed: change('metadata', (await only('metadata')).id, { target: { kind: 'file', id: unknownId } }),
      check: 'references',
      expected: 'metadata',
    },
    {
      name: 'stream of a missing sensor',
      seed: change('streams', (await only('streams')).id, { sensor: unknownId }),
      check: 'references',
      expected: 'stream',
    },
    {
      name: 'membership in a missing space',
      seed: change('users', bob.id, { memberships: [{ space: unknownId, role: unknownId }] }),
      check: 'references',
      expected: bob.id,
    },
    {
      name: 'a missing space',
      seed: async () => {
        const record = await documents.get(records('spaces'), space)
        if (!record) throw new Error('The space is missing already')
        await documents.commit({ tombstone: space, in: records('spaces') })
        const { revision: _, ...insert } = record as Stored & Fields
        return () => documents.commit({ insert: insert as never, into: records('spaces') })
      },
      check: 'references',
      expected: `refers to space ${space}`,
    },
    {
      name: 'collection inside itself',
      seed: change('collections', outer, { parents: [inner] }),
      check: 'hierarchy',
      expected: `collection ${inner} is inside itself`,
    },
    {
      name: 'folder inside itself',
      seed: change('folders', folder, { parent: { kind: 'folder', id: subfolder } }),
      check: 'hierarchy',
      expected: `folder ${folder} is inside itself`,
    },
    {
      name: 'a file in a folder of another dataset',
      seed: change('files', small, { places: [{ dataset: other, folder, in: folder }] }),
      check: 'places',
      expected: `file ${small} is in dataset ${other}`,
    },
    {
      name: 'an empty folder in another dataset than its parent',
      seed: change('folders', subfolder, { dataset: other }),
      check: 'places of folders',
      expected: `folder ${subfolder} is in dataset ${other}`,
    },
    {
      name: 'wrong storage usage',
      seed: change('quotas.usages', `user-${ann.id}`, { bytes: 1 }),
      check: 'storage usage',
      expected: `user-${ann.id}`,
    },
    {
      name: 'index of entries without entries',
      seed: async () => {
        await documents.commit({ insert: { id: dataset, isReady: true } as never, into: records('entry-indexes') })
        return () => documents.commit({ tombstone: dataset, in: records('entry-indexes') })
      },
      check: 'entries',
      expected: dataset,
    },
    {
      name: 'a dataset that is missing in the search index',
      seed: async () => {
        await index.apply([{ remove: dataset }])
        return () => runCommand(server, 'reindex')
      },
      check: 'search index',
      expected: `dataset ${dataset} is missing`,
    },
    {
      name: 'unreferenced bytes',
      seed: async () => {
        const { key } = await blobs.put(Buffer.from('nobody refers to these bytes'))
        clock.advance(25 * 60 * 60 * 1000)
        return () => blobs.remove(key)
      },
      check: 'unreferenced bytes',
      expected: '28 bytes',
    },
    {
      name: 'truncated bytes of a file',
      seed: async () => {
        await truncate(await onlyFile(server.folder, 'files'), 1000)
        return () => Promise.resolve()
      },
      check: 'stored bytes',
      expected: large,
    },
    {
      name: 'missing bytes of a large file',
      seed: async () => {
        await rm(await onlyFile(server.folder, 'files'))
        return () => Promise.resolve()
      },
      check: 'stored bytes',
      expected: `${large} (`,
    },
  ]
  // Recent bytes may belong to an upload in progress, and recent charges to one that is not counted yet.
  clock.advance(48 * 60 * 60 * 1000)
  t.truthy(relation)
  t.deepEqual(await problemsOf(server, { 'read-data': true }), {})
  for (const { name, seed, check, expected, isRead = false } of faults) {
    const undo = await seed()
    const problems = await problemsOf(server, { 'read-data': isRead })
    t.true(problems[check]?.includes(expected), `${name}: ${JSON.stringify(problems)}`)
    await undo()
  }
  t.log(`${faults.length} kinds of faults`)
})

test('the doctor corrects totals in repair mode only', async t => {
  const server = await bootForTest({ t })
  const { call } = await somebody(server)
  const totals = async () => (await ok<{ counts: Fields }>(call('/api/status'))).counts
  await newDataset(callsOf(call))
  await server.drained()
  const before = await totals()
  const documents = server.get(DocumentStore)
  for await (const { id } of documents.walk(counters)) await documents.commit({ update: id, in: counters, inc: { datasets: 5, files: -1 } })
  t.deepEqual(await problemsOf(server), { totals: '6 datasets instead of 1, -1 files instead of 0' })
  t.notDeepEqual(await totals(), before)
  t.deepEqual(await problemsOf(server, { repair: true }), {})
  t.deepEqual(await totals(), before)
})

test('the doctor reports nothing while resources are created, moved and deleted', async t => {
  const server = await bootForTest({ t })
  const ann = await somebody(server)
  const space = await newSpace(ann)
  let isOver = false
  let runs = 0
  const change = async (): Promise<void> => {
    const collection = await newCollection(ann, { space })
    const dataset = await newDataset(ann, { space: [space], collection: [collection] })
    const folder = await newFolder(ann.call, dataset, 'folder')
    const file = await upload(ann.call, dataset)
    await previewOf(ann, file)
    await say(ann, `/api/files/${file}/comment`, 'a comment')
    await ann.post(`/api/datasets/${dataset}/moveFile/${folder}/${file}`, {})
    await ann.remove(`/api/collections/${collection}`)
    await ann.remove(`/api/datasets/${dataset}`)
  }
  const changes = Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let round = 0; round < 8 || runs < 2; round += 1) await change()
    }),
  ).finally(() => {
    isOver = true
  })
  for (; !isOver; runs += 1) t.deepEqual(await problemsOf(server), {})
  await changes
})
