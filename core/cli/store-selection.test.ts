import test from 'ava'
import { configFor, environmentWithout, flagsWithout, parseStores, settingsWithout } from './store-selection.ts'

const keepers = ['documents.sqlite', 'documents.mongodb', 'blobs.disk', 'blobs.s3', 'geo.rtree', 'geo.postgis']
const environment = {
  POUNCE_REPLACE_PLUGINS: 'documents.mongodb,geo.postgis',
  POUNCE_GEO__POSTGIS__URL: 'postgres://geo.example.org/pounce',
  POUNCE_DOCUMENTS__MONGODB__URI: 'mongodb://documents.example.org/',
}

test('a side specifies the document and blob store, and optionally the datapoint store', t => {
  t.deepEqual(parseStores('sqlite+disk', '--from'), { documents: 'documents.sqlite', blobs: 'blobs.disk' })
  t.deepEqual(parseStores('mongodb + s3 + postgis', '--to'), { documents: 'documents.mongodb', blobs: 'blobs.s3', points: 'geo.postgis' })
  for (const text of ['', 'sqlite', '+disk', 'sqlite+', 'sqlite+disk+', 'sqlite+disk+rtree+x'])
    t.throws(() => parseStores(text, '--from'), { message: /--from .*sqlite\+disk\+rtree/ }, text)
  t.throws(() => parseStores('sqlite+disk+oracle', '--to'), { message: '--to sqlite+disk+oracle: geo.oracle is not part of this version' })
})

const runningOn = async (side: string, given: Readonly<Record<string, string>> = environment): Promise<readonly string[]> =>
  (await configFor(parseStores(side, '--from'), { environment: given })).plugins
    .map(({ name }) => name)
    .filter(name => keepers.includes(name))

test('the stores of a side are used regardless of the configuration, and settings of other stores are omitted', async t => {
  t.deepEqual((await runningOn('sqlite+disk+rtree')).toSorted(), ['blobs.disk', 'documents.sqlite', 'geo.rtree'])
  t.deepEqual((await runningOn('mongodb+disk+postgis', { ...environment, POUNCE_REPLACE_PLUGINS: '' })).toSorted(), [
    'blobs.disk',
    'documents.mongodb',
    'geo.postgis',
  ])
})

test('without a datapoint store in the side, the configured one is used', async t => {
  t.true((await runningOn('sqlite+disk')).includes('geo.postgis'))
  t.true((await runningOn('mongodb+disk', { POUNCE_DOCUMENTS__MONGODB__URI: 'mongodb://documents.example.org/' })).includes('geo.rtree'))
})

test('a plugin that is not a datapoint store is refused', async t => {
  const side = { documents: 'documents.sqlite', blobs: 'blobs.disk', points: 'search.fts' }
  await t.throwsAsync(configFor(side, { environment: {} }), { message: 'search.fts is not a datapoint store' })
})

test('the stores of a side keep their settings, even if another store is configured', async t => {
  const given = { POUNCE_BLOBS__S3__BUCKET: 'b', POUNCE_BLOBS__DISK__FOLDER: '/x' }
  const stores = async (side: string, more: Readonly<Record<string, string>> = {}) =>
    (await configFor(parseStores(side, '--to'), { environment: { ...given, ...more } })).plugins
  const onDisk = await stores('sqlite+disk', { POUNCE_REPLACE_PLUGINS: 'blobs.s3' })
  t.deepEqual(onDisk.find(({ name }) => name === 'blobs.disk')?.config, { folder: '/x' })
  t.false(onDisk.some(({ name }) => name === 'blobs.s3'))
  const onS3 = await stores('sqlite+s3')
  t.like(onS3.find(({ name }) => name === 'blobs.s3')?.config, { bucket: 'b' })
  t.false(onS3.some(({ name }) => name === 'blobs.disk'))
})

const ids = ['blobs.s3', 'documents.sqlite']

test('only settings of these plugins are omitted, from all sources', t => {
  const environment = {
    POUNCE_BLOBS__S3__BUCKET: 'b',
    pounce_blobs__s3__secretAccessKey_FILE: '/f',
    POUNCE_DOCUMENTS__SQLITE__CACHE_MI_B: '8',
    POUNCE_BLOBS__DISK__FOLDER: '/x',
    POUNCE_BLOBS__S3X__Y: '1',
    AWS_REGION: 'r',
  }
  t.deepEqual(Object.keys(environmentWithout(environment, ids)), ['POUNCE_BLOBS__DISK__FOLDER', 'POUNCE_BLOBS__S3X__Y', 'AWS_REGION'])
  t.deepEqual(flagsWithout({ 'blobs.s3.bucket': 'b', 'blobs.disk.folder': '/x', 'http.port': '0' }, ids), {
    'blobs.disk.folder': '/x',
    'http.port': '0',
  })
  t.deepEqual(settingsWithout({ blobs: { s3: { bucket: 'b' }, disk: {} }, documents: { sqlite: {} }, data: 'd' }, ids), {
    blobs: { disk: {} },
    documents: {},
    data: 'd',
  })
})
