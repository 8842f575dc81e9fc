import { readFile } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import { type ZipEntry, zip } from '../../../scripts/test-data/zip.ts'
import { type ExtractorRun, runExtractor, temporaryFile, testFile } from '../../../test/support/run-extractor.ts'
import { extract } from './extract.ts'

const bytes = Buffer.from('some words, some words, some words')
const ofEntries = async (t: ExecutionContext, entries: readonly ZipEntry[]) =>
  runExtractor(t, extract, await temporaryFile(t, 'some.zip', zip(entries)))

const problemsOf = ({ metadata }: ExtractorRun): readonly string[] => (metadata?.problems ?? []) as readonly string[]

test('an archive is listed with its totals', async t => {
  const run = await runExtractor(t, extract, testFile('bundle.zip'))
  t.like(run.metadata, { entries: 3, files: 3, folders: 0, uncompressedBytes: 18_948, newestEntry: '2026-03-14T09:26:00.000Z' })
  t.true((run.metadata?.compressionRatio as number) > 3)
  t.deepEqual(run.metadata?.kinds, [
    { extension: 'txt', files: 1 },
    { extension: 'md', files: 1 },
    { extension: 'csv', files: 1 },
  ])
  const lines = (await run.preview(0)).toString().split('\n')
  t.is(lines[3], '         18623  2026-03-14 09:26  tables/stations.csv')
  t.is(run.metadata?.problems, undefined)
})

test('folders and non-ASCII names are listed', async t => {
  const run = await ofEntries(t, [
    { name: 'Proben/', bytes: new Uint8Array() },
    { name: 'Proben/Übersicht – 観測.md', bytes },
  ])
  t.like(run.metadata, { entries: 2, files: 1, folders: 1, problems: undefined })
  t.regex((await run.preview(0)).toString(), /Proben\/Übersicht – 観測\.md\n/)
})

test('an empty archive is valid', async t => {
  const run = await ofEntries(t, [])
  t.like(run.metadata, { entries: 0, files: 0, uncompressedBytes: 0 })
  t.is(run.previews, undefined)
})

for (const [name, entry, problem] of [
  ['a name with parent segments', { name: '../../etc/passwd', bytes }, /leads outside the target folder/],
  ['an absolute name', { name: '/etc/passwd', bytes }, /leads outside the target folder/],
  ['a name with a drive letter', { name: 'C:/windows/x', bytes }, /leads outside the target folder/],
  ['a symbolic link', { name: 'shortcut', bytes, fields: { unixMode: 0o120777 } }, /the entry is a symbolic link/],
  ['a name with an escape sequence', { name: 'a\u001b[2Jb\nc', bytes }, /^a\ufffd\[2Jb\ufffdc: .*invisible/],
  ['a name with a right-to-left override', { name: 'photo\u202egpj.exe', bytes }, /^photo\ufffdgpj\.exe: .*invisible/],
  ['an entry of 4 GB in 20 bytes', { name: 'bomb', bytes, fields: { sizeBytes: 0xfffffff0 } }, /more than 100 times/],
  [
    'an entry larger than its archive',
    { name: 'lies', bytes, fields: { compressedBytes: 1_000_000 } },
    /more compressed bytes than the archive/,
  ],
] as const) {
  test(`${name} is reported, and listed without control characters`, async t => {
    const run = await ofEntries(t, [entry])
    t.is(run.metadata?.problemCount, 1)
    t.regex(problemsOf(run)[0] ?? 'none', problem)
    t.notRegex((await run.preview(0)).toString(), /[\u001b\u202e]/)
  })
}

test('two entries with the same name are reported', async t => {
  const { metadata } = await ofEntries(t, [
    { name: 'a.txt', bytes },
    { name: 'a.txt', bytes },
  ])
  t.deepEqual(metadata?.problems, ['a.txt: several entries have this name'])
})

test('encrypted entries are counted', async t => {
  const { metadata } = await ofEntries(t, [{ name: 'secret', bytes, fields: { flags: 1 } }])
  t.is(metadata?.encryptedEntries, 1)
})

test('the first 200 of many entries are listed, and all are counted', async t => {
  const run = await ofEntries(
    t,
    Array.from({ length: 30_000 }, (_, at) => ({ name: `folder/file-${at}.dat`, bytes: new Uint8Array(1) })),
  )
  t.like(run.metadata, { entries: 30_000, files: 30_000, isComplete: undefined })
  const lines = (await run.preview(0)).toString().trimEnd().split('\n')
  t.is(lines.length, 202)
  t.is(lines.at(-1), '… and 29800 more')
})

test('all problems are counted, and the first twenty are listed', async t => {
  const run = await ofEntries(
    t,
    Array.from({ length: 50 }, (_, at) => ({ name: `../${at}`, bytes })),
  )
  t.is(run.metadata?.problemCount, 50)
  t.is(problemsOf(run).length, 20)
})

const bundle = () => readFile(testFile('bundle.zip'))
const hostile: readonly (readonly [string, () => Uint8Array | Promise<Uint8Array>])[] = [
  ['a text file named as ZIP', () => Buffer.from('this is no archive')],
  ['a truncated archive', async () => (await bundle()).subarray(0, 4000)],
  ['an archive that claims more entries than it has', async () => claiming(await bundle(), 10, 500)],
  ['an archive whose directory offset exceeds its size', async () => claiming(await bundle(), 16, 0x7fffffff)],
  ['an archive whose directory is garbage', async () => (await bundle()).fill(0x41, 4900, 4960)],
]

for (const [name, content] of hostile) {
  test(`${name} is rejected with a readable message`, async t => {
    const path = await temporaryFile(t, 'hostile.zip', await content())
    await t.throwsAsync(runExtractor(t, extract, path), { message: /not a ZIP archive, or its directory is damaged or truncated: / })
  })
}

test('an empty file is rejected with a readable message', async t => {
  await t.throwsAsync(runExtractor(t, extract, testFile('empty.bin')), { message: /file is empty/ })
})

/** Overwrites a field of the end record. */
function claiming(archive: Buffer, field: number, value: number): Buffer {
  const end = archive.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  if (field === 10) archive.writeUInt16LE(value, end + field)
  else archive.writeUInt32LE(value, end + field)
  return archive
}
