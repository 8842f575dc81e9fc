import { readFile } from 'node:fs/promises'
import test from 'ava'
import sharp from 'sharp'
import { pdf } from '../../../scripts/test-data/pdf.ts'
import { extractApart } from '../../../test/support/extract-apart.ts'
import { runExtractor, temporaryFile, temporaryFolder, testFile } from '../../../test/support/run-extractor.ts'
import { extract } from './extract.ts'
import { drawFirstPage, openPdf } from './open-pdf.ts'

// Every run listens for unhandled rejections, and the tests of this file run concurrently.
process.setMaxListeners(50)

const paper = { title: 'T', author: 'A', pages: [['Only page', 'Some words.']] }

test('a paper yields its text, pages, title, author and date', async t => {
  const { metadata } = await runExtractor(t, extract, testFile('paper.pdf'))
  t.like(metadata, {
    pages: 2,
    title: 'Leaf area and light in a beech stand',
    author: 'Ann Ash',
    created: '2026-03-14T09:26:53+01:00',
    pdfVersion: '1.4',
    pageWidthMm: 209.9,
    pageHeightMm: 297,
  })
  t.regex(String(metadata?.text), /Beer-Lambert law\.\nThe extinction coefficient was 0\.52 ± 0\.03[\s\S]*\n\nMethods/)
  t.deepEqual(JSON.parse(JSON.stringify(metadata)), metadata)
})

test('the first page is rendered as preview and thumbnail, and the text is a separate preview', async t => {
  const run = await runExtractor(t, extract, testFile('paper.pdf'))
  t.deepEqual(
    run.previews?.map(preview => preview.contentType),
    ['image/jpeg', 'text/plain'],
  )
  t.like(await sharp(await run.preview(0)).metadata(), { format: 'jpeg', width: 724, height: 1024 })
  t.like(await sharp(await run.thumbnailBytes()).metadata(), { format: 'jpeg', width: 159, height: 225 })
  const { channels } = await sharp(await run.preview(0)).stats()
  t.true(
    channels.every(channel => channel.min < 60 && channel.max > 250),
    'black letters on white',
  )
  t.is((await run.preview(1)).toString(), String(run.metadata?.text))
})

test('without the canvas package, no page is drawn and the problem names the package to install', async t => {
  const document = await openPdf(testFile('paper.pdf'))
  const drawn = await drawFirstPage(document, await temporaryFolder(t), () => Promise.reject(new Error('Cannot find it\nRequire stack')))
  await document.loadingTask.destroy()
  t.deepEqual(drawn, {
    problem: '@napi-rs/canvas is not installed, so pages are not drawn. Install it with "npm install @napi-rs/canvas". (Cannot find it)',
  })
})

test('a long text is truncated in metadata and preview, and marked as incomplete', async t => {
  const lines = Array.from({ length: 49 }, (_, at) => `Line ${at} of many lines that all together make a long text, \xe4 \xf6 \xfc.`)
  const pages = Array.from({ length: 350 }, () => lines)
  const run = await runExtractor(t, extract, await temporaryFile(t, 'long.pdf', pdf({ ...paper, pages })))
  const text = String(run.metadata?.text)
  t.true(Buffer.byteLength(text) <= 100_000 && Buffer.byteLength(text) > 99_990)
  t.notRegex(text, /\ufffd/)
  t.is(run.metadata?.textIsComplete, false)
  t.true((run.metadata?.textCharacters as number) >= 1_000_000)
  t.true((await run.preview(1)).length < 1_100_000)
})

test('a document without text yields its page and no text', async t => {
  const run = await runExtractor(t, extract, await temporaryFile(t, 'blank.pdf', pdf({ ...paper, pages: [['']] })))
  t.like(run.metadata, { pages: 1, textCharacters: 0, text: undefined })
  t.is(run.previews?.length, 1)
})

test('a document with a broken cross-reference table is repaired and read', async t => {
  const bytes = (await readFile(testFile('paper.pdf'))).toString('latin1').replace(/startxref\n\d+/, 'startxref\n7')
  const { metadata } = await runExtractor(t, extract, await temporaryFile(t, 'repaired.pdf', Buffer.from(bytes, 'latin1')))
  t.like(metadata, { pages: 2, title: 'Leaf area and light in a beech stand' })
})

test('a page with a declared width of 9,000,000,000 points is scaled down', async t => {
  const bytes = pdf(paper).toString('latin1').replace('0 0 595 842', '0 0 9000000000 842')
  const run = await runExtractor(t, extract, await temporaryFile(t, 'wide.pdf', Buffer.from(bytes, 'latin1')))
  t.regex(String(run.metadata?.text), /Some words/)
  t.like(await sharp(await run.thumbnailBytes()).metadata(), { width: 225, height: 1 })
})

test('a one-page document that declares a billion pages has one page', async t => {
  const bytes = pdf(paper).toString('latin1').replace('/Count 1', '/Count 1000000000')
  const run = await runExtractor(t, extract, await temporaryFile(t, 'many.pdf', Buffer.from(bytes, 'latin1')))
  t.is(run.metadata?.pages, 1)
})

test('damage to the pages is reported, and the other metadata is kept', async t => {
  const bytes = (await readFile(testFile('paper.pdf')))
    .toString('latin1')
    .replace('\n5 0 obj\n<<', '\n5 0 obj\n??')
    .replace('\n7 0 obj', '\n9 0 obj')
  const path = await temporaryFile(t, 'damaged.pdf', Buffer.from(bytes, 'latin1'))
  const { output } = await extractApart(new URL('./extract.ts', import.meta.url), path, 'application/pdf', 256)
  t.like(output.metadata, { title: 'Leaf area and light in a beech stand', textCharacters: 0 })
  t.regex(String(output.metadata?.damage), /^Parts of the file are damaged: /)
})

const encrypted = `/Encrypt << /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O <${'a1'.repeat(32)}> /U <${'b2'.repeat(32)}> >> /ID [<00> <00>]`
const hostile: readonly (readonly [string, () => Uint8Array | Promise<Uint8Array>, RegExp])[] = [
  ['an empty file', () => new Uint8Array(), /file is empty/],
  ['text declared as PDF', () => Buffer.from('this is no document at all'), /not a PDF or is damaged/],
  ['a header without a body', () => Buffer.from('%PDF-1.7\n'), /not a PDF or is damaged/],
  ['a document truncated in its first page', async () => (await readFile(testFile('paper.pdf'))).subarray(0, 150), /is damaged/],
  ['a password-protected document', () => pdf({ ...paper, trailer: encrypted }), /protected by a password/],
  ['a file of random bytes', () => Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7919 + (at >> 3)) % 256)), /is damaged/],
]

for (const [name, bytes, message] of hostile) {
  test(`${name} is rejected with a readable message`, async t => {
    await t.throwsAsync(runExtractor(t, extract, await temporaryFile(t, 'hostile.pdf', await bytes())), { message })
  })
}

test('a very large file is skipped without being read', async t => {
  const run = await runExtractor(t, extract, testFile('paper.pdf'), { sizeBytes: 300 << 20 })
  t.is(run.skipped, 'PDFs above 256 MiB are not read.')
})
