import { mkdtemp, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import type { Extractor, ExtractorOutput } from 'pounce/sdk'
import { silent, skippedBecause } from 'pounce/sdk/testing'
import { CsvExtractor } from '../../plugins/extractors/csv/csv-extractor.ts'
import { DigestExtractor } from '../../plugins/extractors/digest/digest-extractor.ts'
import { ImageExtractor } from '../../plugins/extractors/image/image-extractor.ts'
import { MediaExtractor } from '../../plugins/extractors/media/media-extractor.ts'
import { PdfExtractor } from '../../plugins/extractors/pdf/pdf-extractor.ts'
import { TextExtractor } from '../../plugins/extractors/text/text-extractor.ts'
import { ZipExtractor } from '../../plugins/extractors/zip/zip-extractor.ts'
import { Bubblewrap } from '../../plugins/transport/queue/bubblewrap.ts'
import { openSandbox } from '../../plugins/transport/queue/open-sandbox.ts'
import { takeOutput } from '../../plugins/transport/queue/output.ts'
import { OwnUser } from '../../plugins/transport/queue/own-user.ts'
import { ProcessPool } from '../../plugins/transport/queue/process-pool.ts'
import type { Sandbox } from '../../plugins/transport/queue/sandbox.ts'
import { testFile } from '../support/run-extractor.ts'

const firstUid = 66_200 + (process.pid % 1000)
const code = new URL('../../plugins/transport/queue/runner.ts', import.meta.url).pathname
const samples: readonly (readonly [Extractor, string, string, { readonly previews?: boolean; readonly thumbnail?: boolean }])[] = [
  [new CsvExtractor(), 'stations.csv', 'text/csv', { previews: true }],
  [new DigestExtractor(), 'photo.jpg', 'image/jpeg', {}],
  [new ImageExtractor(), 'photo.jpg', 'image/jpeg', { previews: true, thumbnail: true }],
  [new ImageExtractor(), 'picture.png', 'image/png', { thumbnail: true }],
  [new MediaExtractor(), 'tone.wav', 'audio/wav', {}],
  [new PdfExtractor(), 'paper.pdf', 'application/pdf', { thumbnail: true }],
  [new TextExtractor(), 'notes.md', 'text/markdown', {}],
  [new ZipExtractor(), 'bundle.zip', 'application/zip', {}],
]

const userFolder = join(tmpdir(), `pounce-built-in-${process.pid}`)
const sandboxes: readonly (readonly [string, Sandbox | string])[] = [
  ['the permission model alone', await openSandbox({ mode: 'off', firstUid, dataFolder: '/', log: silent })],
  ['bubblewrap', await Bubblewrap.probe()],
  ['user', await OwnUser.probe({ folder: userFolder, dataFolder: '/root', code, firstUid })],
]

test.after.always(() => rm(userFolder, { recursive: true, force: true, maxRetries: 5 }))

for (const [name, sandbox] of sandboxes) {
  const here = typeof sandbox === 'string' ? skippedBecause(test, sandbox) : test
  here(`${name}: every built-in extractor produces metadata, previews and thumbnails as expected`, async t => {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'pounce-built-in-')))
    const common = { size: 2, runsPerProcess: 100, idleMs: 60_000, nativeMemoryMb: 1024, maxOutputBytes: 2 ** 30, log: silent }
    const pool = new ProcessPool({ ...common, folder: join(root, 'processes'), sandbox: async () => sandbox as Sandbox })
    t.teardown(async () => {
      await pool.dispose()
      await rm(root, { recursive: true, force: true, maxRetries: 5 })
    })
    for (const [at, [extractor, filename, contentType, expected]] of samples.entries()) {
      const path = testFile(filename)
      const input = { path, filename, contentType, sizeBytes: (await stat(path)).size, outputFolder: '', parameters: {} }
      const limits = { timeoutMs: 120_000, signal: new AbortController().signal, progress: () => undefined }
      const output: ExtractorOutput = await pool.run(extractor, { module: extractor.module.href, input }, limits, (text, from) =>
        takeOutput(text, { from, to: join(root, `taken-${at}`), maxOutputBytes: 2 ** 30 }),
      )
      t.is(output.skipped, undefined, filename)
      t.true(Object.keys(output.metadata ?? {}).length > 0, filename)
      if (expected.previews) t.true((output.previews ?? []).length > 0, filename)
      if (expected.thumbnail) t.truthy(output.thumbnail, filename)
    }
  })
}
