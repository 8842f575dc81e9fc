import test from 'ava'
import { loadConfig } from '../config.ts'
import { environmentWithout, flagsWithout, settingsWithout } from './without.ts'

const ids = ['blobs.s3', 'documents.sqlite']

test('settings of plugins are left out wherever they come from, and nothing else', t => {
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

test('other plugins run in the place of those that are listed or used', async t => {
  const config = await loadConfig({
    environment: { POUNCE_USE: 'blobs.s3', POUNCE_BLOBS__S3__BUCKET: 'b', POUNCE_BLOBS__DISK__FOLDER: '/x' },
    instead: { of: ['blobs.s3'], these: ['blobs.disk'] },
  })
  const names = config.plugins.map(({ name }) => name)
  t.true(names.includes('blobs.disk') && names.includes('documents.sqlite') && !names.includes('blobs.s3'))
  t.deepEqual(config.plugins.find(({ name }) => name === 'blobs.disk')?.config, { folder: '/x' })
  const other = await loadConfig({
    environment: { POUNCE_BLOBS__S3__BUCKET: 'b', POUNCE_BLOBS__DISK__FOLDER: '/x' },
    instead: { of: ['blobs.disk'], these: ['blobs.s3'] },
  })
  t.like(other.plugins.find(({ name }) => name === 'blobs.s3')?.config, { bucket: 'b' })
  t.false(other.plugins.some(({ name }) => name === 'blobs.disk'))
})
