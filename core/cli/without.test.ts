import test from 'ava'
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
