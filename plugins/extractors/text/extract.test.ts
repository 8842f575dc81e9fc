import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { extractApart } from '../../../test/support/extract-apart.ts'
import { runExtractor, temporaryFile, temporaryFolder, testFile } from '../../../test/support/run-extractor.ts'
import { extract } from './extract.ts'

const plain = { contentType: 'text/plain' }
const markdown = { contentType: 'text/markdown' }

const ofBytes = async (t: ExecutionContext, bytes: string | Uint8Array, options = plain) =>
  runExtractor(t, extract, await temporaryFile(t, 'some.txt', bytes), options)

const formatted = async (t: ExecutionContext, text: string) => (await (await ofBytes(t, text, markdown)).preview(0)).toString()

test('lines, words and characters are counted', async t => {
  const { metadata } = await ofBytes(t, 'one two\nthree 東京 🌲\nlast')
  const text = 'one two\nthree 東京 🌲\nlast'
  t.deepEqual(metadata, { encoding: 'UTF-8', lines: 3, words: 6, characters: 23, lineEndings: 'LF', text })
})

test('a final line break starts no new line', async t => {
  t.like((await ofBytes(t, 'a\nb\n')).metadata, { lines: 2, words: 2, characters: 4 })
})

for (const [text, lineEndings, lines] of [
  ['a\r\nb\r\n', 'CRLF', 2],
  ['a\rb\r', 'CR', 2],
  ['a\r\nb\nc', 'mixed', 3],
  ['a\r\rb\n', 'mixed', 3],
  ['a', 'none', 1],
] as const) {
  test(`line endings of ${JSON.stringify(text)} are ${lineEndings}`, async t => {
    t.like((await ofBytes(t, text)).metadata, { lineEndings, lines })
  })
}

test('line breaks and characters split across two reads are counted once', async t => {
  const border = 256 << 10
  const { metadata } = await ofBytes(t, `${'a'.repeat(border - 1)}\r\n${'b'.repeat(border - 3)}🌲 c`)
  t.like(metadata, { lines: 2, words: 3, lineEndings: 'CRLF', characters: 2 * border + 1 })
})

for (const [name, bytes, expected] of [
  ['UTF-8 with a BOM', Buffer.from('\ufeffGrüße'), { encoding: 'UTF-8', hasByteOrderMark: true, characters: 5 }],
  ['UTF-16LE with a BOM', Buffer.from('\ufeffGrüße', 'utf16le'), { encoding: 'UTF-16LE', hasByteOrderMark: true, characters: 5 }],
  ['UTF-16BE with a BOM', Buffer.from('\ufeffGrüße', 'utf16le').swap16(), { encoding: 'UTF-16BE', hasByteOrderMark: true, characters: 5 }],
  ['UTF-16LE without a BOM', Buffer.from('plain words', 'utf16le'), { encoding: 'UTF-16LE', characters: 11 }],
  ['Latin-1', Buffer.from('Grüße', 'latin1'), { encoding: 'windows-1252', encodingIsGuess: true, characters: 5 }],
] as const) {
  test(`${name} is detected and shown as UTF-8`, async t => {
    const run = await ofBytes(t, bytes)
    t.like(run.metadata, expected)
    t.regex((await run.preview(0)).toString(), /^(Grüße|plain words)$/)
  })
}

test('one byte of invalid UTF-8 far into a text makes its encoding windows-1252', async t => {
  const run = await ofBytes(t, Buffer.concat([Buffer.alloc(300_000, 'words '), Buffer.from([0xe4])]))
  t.like(run.metadata, { encoding: 'windows-1252', encodingIsGuess: true, characters: 300_001 })
})

test('a text that ends with a truncated character is not UTF-8', async t => {
  t.like((await ofBytes(t, Buffer.from('ab\u00e4').subarray(0, 3))).metadata, { encoding: 'windows-1252', characters: 3 })
})

test('an odd trailing byte in UTF-16 is no error', async t => {
  const bytes = Buffer.concat([Buffer.from('\ufeffabc', 'utf16le'), Buffer.from('x')])
  t.truthy((await ofBytes(t, bytes)).metadata?.encoding)
})

test('an empty file has no lines and no preview', async t => {
  const run = await ofBytes(t, '')
  t.deepEqual(run.metadata, { encoding: 'UTF-8', lines: 0, words: 0, characters: 0, lineEndings: 'none' })
  t.is(run.previews, undefined)
})

test('binary data declared as text is skipped', async t => {
  const run = await runExtractor(t, extract, testFile('picture.png'), plain)
  t.is(run.skipped, 'The file is not text as text/plain says: it contains binary data.')
})

test('JSON nested 200,000 levels deep is counted like any text', async t => {
  const run = await ofBytes(t, '['.repeat(200_000), { contentType: 'application/json' })
  t.like(run.metadata, { lines: 1, words: 1, characters: 200_000 })
  t.is((await run.preview(0)).length, 64 << 10)
})

test('a text of 40 MB is counted in less than 150 MiB of memory', async t => {
  const path = join(await temporaryFolder(t), 'long.txt')
  await writeFile(path, Buffer.alloc(40_000_000, 'nine chars\n'))
  const { output, peakBytes } = await extractApart(new URL('./extract.ts', import.meta.url), path, plain.contentType, 32)
  t.like(output.metadata, { characters: 40_000_000, lines: Math.ceil(40_000_000 / 11) })
  t.true(peakBytes < 150 << 20, `${peakBytes >> 20} MiB`)
})

test('Markdown is shown formatted, and its title is extracted', async t => {
  const run = await runExtractor(t, extract, testFile('notes.md'), markdown)
  t.is(run.metadata?.title, 'Field notes')
  t.is(run.previews?.[0]?.contentType, 'text/html')
  const html = (await run.preview(0)).toString()
  t.regex(html, /<meta charset="utf-8">[\s\S]*<h1>Field notes<\/h1>[\s\S]*<strong>four sites<\/strong>[\s\S]*<td>10<\/td>/)
  t.regex(html, /<a href="https:\/\/example\.org\/protocol" rel="nofollow noopener noreferrer">the protocol<\/a>/)
})

test('a Markdown file with a non-ASCII name and the type text/plain is detected as Markdown', async t => {
  const run = await runExtractor(t, extract, testFile('Übersicht – 観測.md'), plain)
  t.is(run.metadata?.title, 'Übersicht – 観測')
  t.regex((await run.preview(0)).toString(), /<em>stations\.csv<\/em>/)
})

for (const [name, text] of [
  ['a script', 'a <script>alert(1)</script> b'],
  ['an event handler', '<b onclick="alert(1)">x</b> <img src=x onerror=alert(1)>'],
  ['a script link', '[x](javascript:alert(1)) <a href="JaVaScript&colon;alert(1)">y</a> <a href="data:text/html,alert(1)">z</a>'],
  ['an external image', '![x](https://tracker.example/alert(1).png) <svg onload=alert(1)>'],
  ['a frame, a form and a style', '<iframe src="alert(1)"></iframe><form action="/alert(1)"><style>@import "alert(1)"</style>'],
  ['a link to this server', '[x](/api/alert(1))'],
] as const) {
  test(`${name} in Markdown is removed`, async t => {
    t.notRegex((await formatted(t, text)).replaceAll('alert(1) b', ''), /alert\(1\)|<script|<img|<iframe|<form|<style|<svg|javascript/i)
  })
}

test('excessively nested Markdown is shown unformatted, with the reason', async t => {
  const run = await ofBytes(t, '>'.repeat(60_000), markdown)
  t.is(run.previews?.[0]?.contentType, 'text/plain')
  t.regex(String(run.metadata?.previewProblem), /^Shown unformatted: /)
})

for (const [name, options, text] of [
  ['plain text', plain, 'Soil moisture, Grüße 🌲'],
  ['Markdown', markdown, '# Soil\n\nmoisture'],
  ['LaTeX', { contentType: 'application/x-tex' }, String.raw`\section{Soil} moisture`],
] as const) {
  test(`the text of ${name} is made searchable`, async t => {
    t.is((await ofBytes(t, text, options)).metadata?.text, text)
  })
}

for (const contentType of ['application/json', 'text/html', 'text/csv', 'text/x-python', 'application/xml']) {
  test(`${contentType} is code or data, and not made searchable`, async t => {
    const { metadata } = await ofBytes(t, '{"soil": "moisture"}', { contentType })
    t.like(metadata, { lines: 1 })
    t.false('text' in (metadata ?? {}))
  })
}

test('the first 65,536 characters of a long text are made searchable, without splitting a surrogate pair', async t => {
  const { metadata } = await ofBytes(t, `${'a'.repeat(65_535)}🌲 and what follows`)
  const text = String(metadata?.text)
  t.is(text.slice(0, 65_535), 'a'.repeat(65_535))
  t.true(text.length <= 65_536 && text.isWellFormed())
})

test('HTML is shown as source', async t => {
  const run = await ofBytes(t, '<script>alert(1)</script>', { contentType: 'text/html' })
  t.is(run.previews?.[0]?.contentType, 'text/plain')
  t.is((await run.preview(0)).toString(), '<script>alert(1)</script>')
})

test('a CSV file is handled as text too', async t => {
  const run = await runExtractor(t, extract, testFile('stations.csv'), { contentType: 'text/csv' })
  t.is(run.metadata?.lines, 501)
  t.is((await run.preview(0)).toString(), await readFile(testFile('stations.csv'), 'utf8'))
})
