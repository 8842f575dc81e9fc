import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import { type Extract, type Extractor, ExtractorInfo } from 'pounce/sdk'
import { Errors } from 'typebox/value'
import { runExtractor, temporaryFile, testFile } from '../../test/support/run-extractor.ts'
import { CsvExtractor } from './csv/csv-extractor.ts'
import { DigestExtractor } from './digest/digest-extractor.ts'
import { ImageExtractor } from './image/image-extractor.ts'
import { MediaExtractor } from './media/media-extractor.ts'
import { PdfExtractor } from './pdf/pdf-extractor.ts'
import { TextExtractor } from './text/text-extractor.ts'
import { ZipExtractor } from './zip/zip-extractor.ts'

const extractors: readonly Extractor[] = [
  new CsvExtractor(),
  new DigestExtractor(),
  new ImageExtractor(),
  new MediaExtractor(),
  new PdfExtractor(),
  new TextExtractor(),
  new ZipExtractor(),
]
const loaded = async (extractor: Extractor): Promise<Extract> => (await import(extractor.module.href)).extract

const samples: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'pounce.csv': [['stations.csv', 'text/csv']],
  'pounce.digest': [['photo.jpg', 'image/jpeg']],
  'pounce.image': [
    ['photo.jpg', 'image/jpeg'],
    ['picture.png', 'image/png'],
  ],
  'pounce.media': [['tone.wav', 'audio/wav']],
  'pounce.pdf': [['paper.pdf', 'application/pdf']],
  'pounce.text': [
    ['notes.md', 'text/markdown'],
    ['Übersicht – 観測.md', 'text/markdown'],
  ],
  'pounce.zip': [['bundle.zip', 'application/zip']],
}

for (const extractor of extractors) {
  const { name } = extractor.info

  test(`${name}: what it says of itself is complete and names types of two parts`, t => {
    t.deepEqual(Errors(ExtractorInfo, extractor.info), [])
    t.deepEqual(Object.keys(extractor.info.process), ['file'])
    for (const pattern of extractor.info.process.file ?? []) t.regex(pattern, /^[^/.]+\/[^/.]+$/)
    t.true(extractor.timeoutMs > 0 && extractor.memoryMb >= 64)
  })

  test(`${name}: its files give metadata with plain keys, and previews that exist`, async t => {
    const extract = await loaded(extractor)
    for (const [file, contentType] of samples[name] ?? []) {
      const run = await runExtractor(t, extract, testFile(file), { contentType })
      t.is(run.skipped, undefined)
      t.deepEqual(JSON.parse(JSON.stringify(run.metadata)), run.metadata)
      t.deepEqual(
        keysOf(run.metadata).filter(key => !/^[A-Za-z][A-Za-z0-9]*$/.test(key)),
        [],
      )
      for (const at of run.previews?.keys() ?? []) t.true((await run.preview(at)).length > 0)
      if (run.thumbnail) t.true((await run.thumbnailBytes()).length > 0)
    }
  })

  test(`${name}: loading the plugin loads no vendor's library`, async t => {
    const manifest = new URL('./index.ts', extractor.module).href
    const program = `
      const { registerHooks } = await import('node:module')
      const seen = []
      registerHooks({ resolve: (name, context, next) => { seen.push(name); return next(name, context) } })
      const { plugin } = await import(${JSON.stringify(manifest)})
      process.stdout.write(JSON.stringify({ id: plugin.id, seen }))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    })
    const { id, seen } = JSON.parse(stdout) as { id: string; seen: string[] }
    t.is(id, `extractors.${name.slice('pounce.'.length)}`)
    t.deepEqual(
      seen.filter(module => /^(sharp|pdfjs|exifr|yauzl|csv-parse|marked|sanitize|@napi-rs)/.test(module) || module.includes('extract.ts')),
      [],
    )
  })

  // Damaged PDFs have a test of their own, in a process apart: the library's unheard rejections would end this one.
  if (name === 'pounce.pdf') continue
  test(`${name}: damaged files end in a result or in an error for a person`, async t => {
    const extract = await loaded(extractor)
    const [file = '', contentType = ''] = samples[name]?.[0] ?? []
    const original = await readFile(testFile(file))
    const changes = fc.array(fc.tuple(fc.nat(Math.max(0, original.length - 1)), fc.nat(255)), { maxLength: 6 })
    const damaged = fc.tuple(changes, fc.option(fc.nat(original.length), { freq: 6 }))
    let ends = 0
    const survives = async ([changed, length]: [[number, number][], number | null]): Promise<void> => {
      const bytes = Buffer.from(original)
      for (const [at, value] of changed) bytes.fill(value, at, at + 1)
      const path = await temporaryFile(t, 'damaged', bytes.subarray(0, length ?? bytes.length))
      try {
        JSON.stringify((await runExtractor(t, extract, path, { contentType })).metadata)
      } catch (error) {
        if (!(error instanceof Error) || error.message.includes(path) || !/^[A-Z].{15,}/.test(error.message)) throw error
      }
      ends++
    }
    await fc.assert(fc.asyncProperty(damaged, survives), { numRuns: 60, seed: 20_260_314 })
    t.is(ends, 60)
  })
}

function keysOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner)])
}
