import { execFileSync } from 'node:child_process'
import test from 'ava'
import { runExtractor, temporaryFile, testFile } from '../../../test/support/run-extractor.ts'
import { extract } from './extract.ts'

const isInstalled = (): boolean => {
  try {
    return execFileSync('ffprobe', ['-version']).length > 0
  } catch {
    return false
  }
}
const live = isInstalled() ? test : test.skip
const title = (fact: string) => (isInstalled() ? fact : `${fact} (ffprobe is not installed)`)

live(title('ffprobe reads the metadata of a WAV file'), async t => {
  const { metadata } = await runExtractor(t, extract, testFile('tone.wav'))
  t.like(metadata, {
    container: 'wav',
    durationSeconds: 1,
    streams: [{ kind: 'audio', codec: 'pcm_s16le', channels: 1, sampleRate: 8000 }],
  })
})

live(title('ffprobe refuses a file that is neither audio nor video'), async t => {
  const path = await temporaryFile(t, 'noise.mp4', Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * 7919) % 251)))
  await t.throwsAsync(runExtractor(t, extract, path), { message: /^The file cannot be read as audio or video: noise\.mp4: / })
})
