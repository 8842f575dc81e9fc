import test from 'ava'
import type { Extractor } from 'pounce/sdk'
import { extractorContract } from 'pounce/sdk/testing'
import { CsvExtractor } from '../../plugins/extractors/csv/csv-extractor.ts'
import { DigestExtractor } from '../../plugins/extractors/digest/digest-extractor.ts'
import { ImageExtractor } from '../../plugins/extractors/image/image-extractor.ts'
import { MediaExtractor } from '../../plugins/extractors/media/media-extractor.ts'
import { PdfExtractor } from '../../plugins/extractors/pdf/pdf-extractor.ts'
import { TextExtractor } from '../../plugins/extractors/text/text-extractor.ts'
import { ZipExtractor } from '../../plugins/extractors/zip/zip-extractor.ts'
import { testFile } from '../support/run-extractor.ts'

const sample = (file: string, contentType: string) => ({ path: testFile(file), contentType })
type Samples = Parameters<typeof extractorContract>[1]['samples']

const extractors: readonly (readonly [Extractor, Samples])[] = [
  [new CsvExtractor(), [sample('stations.csv', 'text/csv')]],
  [new DigestExtractor(), [sample('photo.jpg', 'image/jpeg')]],
  [new ImageExtractor(), [sample('photo.jpg', 'image/jpeg'), sample('picture.png', 'image/png')]],
  [new MediaExtractor(), [sample('tone.wav', 'audio/wav')]],
  [new PdfExtractor(), [sample('paper.pdf', 'application/pdf')]],
  [new TextExtractor(), [sample('notes.md', 'text/markdown'), sample('Übersicht – 観測.md', 'text/markdown')]],
  [new ZipExtractor(), [sample('bundle.zip', 'application/zip')]],
]

for (const [extractor, samples] of extractors) {
  extractorContract(test, { extractor, manifest: new URL('./index.ts', extractor.module), samples })
}

test('extractors are named after their plugins, and process only files', async t => {
  for (const [{ info, module }] of extractors) {
    const { plugin } = (await import(new URL('./index.ts', module).href)) as { readonly plugin: { readonly id: string } }
    t.is(info.name, plugin.id.replace(/^extractors\./, 'pounce.'))
    t.deepEqual(Object.keys(info.process), ['file'])
  }
})

test('checksums, text, CSV and ZIP share a process, since on a small machine switching costs as much as many short runs', t => {
  const kinds = [CsvExtractor, DigestExtractor, TextExtractor, ZipExtractor].map(Kind => {
    const { memoryMb, needs = {} }: Extractor = new Kind()
    return JSON.stringify({ memoryMb, needs })
  })
  t.is(new Set(kinds).size, 1, kinds.join(' '))
})
