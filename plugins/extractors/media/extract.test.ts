import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Extract } from 'pounce/sdk'
import { runExtractor, temporaryFile, temporaryFolder, testFile } from '../../../test/support/run-extractor.ts'
import { describeMedia } from './extract.ts'

const withoutFfprobe: Extract = input => describeMedia(input, '/nowhere/ffprobe')

/** An extractor whose ffprobe is a shell script. */
async function withFfprobe(t: ExecutionContext, script: string): Promise<Extract> {
  const command = join(await temporaryFolder(t), 'ffprobe')
  await writeFile(command, `#!/bin/sh\n${script}\n`)
  await chmod(command, 0o755)
  return input => describeMedia(input, command)
}

const answering = (t: ExecutionContext, answer: unknown) => withFfprobe(t, `cat <<'END'\n${JSON.stringify(answer)}\nEND`)
const film = Buffer.from([0, 0, 0, 24, 0x66, 0x74, 0x79, 0x70])

test('a WAV file is described without ffprobe', async t => {
  const { metadata } = await runExtractor(t, withoutFfprobe, testFile('tone.wav'), { contentType: 'audio/wav' })
  const rate = { durationSeconds: 1, bitRate: 128_000 }
  t.deepEqual(metadata, {
    container: 'wav',
    ...rate,
    streams: [{ kind: 'audio', codec: 'pcm_s16le', ...rate, channels: 1, sampleRate: 8000, bitsPerSample: 16 }],
  })
})

test('without ffprobe, other media are skipped with a message that names what to install', async t => {
  const run = await runExtractor(t, withoutFfprobe, await temporaryFile(t, 'film.mp4', film), { contentType: 'video/mp4' })
  t.deepEqual(run.skipped, 'ffprobe was not found, so audio and video are not described (WAV excepted). Install ffmpeg on the server.')
})

test('the output of ffprobe is converted to numbers, clean strings and dates', async t => {
  const extract = await answering(t, {
    streams: [
      {
        codec_name: 'h264',
        codec_type: 'video',
        width: 1920,
        height: 1080,
        avg_frame_rate: '30000/1001',
        duration: '12.500000',
        bit_rate: '4000000',
      },
      { codec_name: 'aac', codec_type: 'audio', channels: 2, sample_rate: '48000', bits_per_sample: 0, tags: { language: 'deu' } },
      { codec_type: 'data' },
    ],
    format: {
      filename: '/stored/elsewhere',
      format_name: 'mov,mp4,m4a',
      duration: '12.513000',
      bit_rate: '4130000',
      tags: { TITLE: 'A\u0000 day', artist: '', 'com.apple.x': 'y', creation_time: '2026-03-14T09:26:53.000000Z' },
    },
  })
  const { metadata } = await runExtractor(t, extract, await temporaryFile(t, 'film.mp4', film))
  t.deepEqual(metadata, {
    container: 'mov,mp4,m4a',
    durationSeconds: 12.513,
    bitRate: 4_130_000,
    streams: [
      { kind: 'video', codec: 'h264', durationSeconds: 12.5, bitRate: 4_000_000, width: 1920, height: 1080, framesPerSecond: 29.97 },
      { kind: 'audio', codec: 'aac', language: 'deu', channels: 2, sampleRate: 48_000 },
      { kind: 'data', codec: 'unknown' },
    ],
    title: 'A day',
    created: '2026-03-14T09:26:53.000Z',
  })
})

test('an empty result from ffprobe is not an error', async t => {
  const { metadata } = await runExtractor(t, await answering(t, {}), await temporaryFile(t, 'film.mp4', film))
  t.deepEqual(metadata, { container: 'unknown', streams: [] })
})

test('ffprobe may read only this file', async t => {
  const extract = await withFfprobe(t, 'printf \'{"format":{"format_name":"%s"}}\' "$*"')
  const path = await temporaryFile(t, 'film.mp4', film)
  const { metadata } = await runExtractor(t, extract, path)
  const flags = String(metadata?.container)
  t.regex(flags, /-protocol_whitelist file -format_whitelist /)
  t.true(flags.endsWith(` -i file:${path}`))
  t.notRegex(flags, /\b(hls|concat|dash|image2|sdp)\b/)
})

test('the error for a file that ffprobe cannot read does not contain its path', async t => {
  const extract = await withFfprobe(
    t,
    'for last; do :; done; echo "[mov] moov atom not found" >&2; echo "$last: Invalid data found" >&2; exit 1',
  )
  const path = await temporaryFile(t, 'stored-bytes', film)
  await t.throwsAsync(runExtractor(t, extract, path, { filename: 'film.mp4' }), {
    message: 'The file cannot be read as audio or video: film.mp4: Invalid data found',
  })
})

test('invalid output of ffprobe is an error', async t => {
  const extract = await withFfprobe(t, 'echo nonsense')
  await t.throwsAsync(runExtractor(t, extract, await temporaryFile(t, 'film.mp4', film)), {
    message: /^The file cannot be read as audio or video: /,
  })
})

test('cancelling a run terminates ffprobe', async t => {
  const cancel = new AbortController()
  const started = join(await temporaryFolder(t), 'started')
  const extract = await withFfprobe(t, `echo $$ > '${started}.part'; mv '${started}.part' '${started}'; exec sleep 60`)
  const run = runExtractor(t, extract, await temporaryFile(t, 'film.mp4', film), { signal: cancel.signal })
  const pid = await untilReadable(started)
  cancel.abort()
  await t.throwsAsync(run, { name: 'AbortError' })
  await t.notThrowsAsync(untilGone(Number(pid)))
})

test('playlists, and TypeScript files mistaken for video, are skipped', async t => {
  for (const content of ['export const a = 1\n', '#EXTM3U\nhttp://127.0.0.1/x.ts\n']) {
    const run = await runExtractor(t, withoutFfprobe, await temporaryFile(t, 'some.ts', content), { contentType: 'video/mp2t' })
    t.is(run.skipped, 'The file holds text, not audio or video.')
  }
})

test('a truncated WAV file yields its remaining duration and the number of missing bytes', async t => {
  const bytes = (await readFile(testFile('tone.wav'))).subarray(0, 44 + 8000)
  const { metadata } = await runExtractor(t, withoutFfprobe, await temporaryFile(t, 'short.wav', bytes))
  t.like(metadata, { durationSeconds: 0.5, problem: 'The file is cut short: 8000 bytes of sound are missing.' })
})

test('the duration of a streamed WAV file of unknown length is computed from its bytes', async t => {
  const bytes = await readFile(testFile('tone.wav'))
  bytes.writeUInt32LE(0xffffffff, 40)
  t.like((await runExtractor(t, withoutFfprobe, await temporaryFile(t, 'open.wav', bytes))).metadata, {
    durationSeconds: 1,
    problem: undefined,
  })
})

test('24-bit, float and other WAV codecs have the names that ffmpeg uses', async t => {
  for (const [tag, bits, codec] of [
    [1, 24, 'pcm_s24le'],
    [3, 32, 'pcm_f32le'],
    [7, 8, 'pcm_mulaw'],
    [999, 8, 'wav format 999'],
  ] as const) {
    const bytes = await readFile(testFile('tone.wav'))
    bytes.writeUInt16LE(tag, 20)
    bytes.writeUInt16LE(bits, 34)
    const { metadata } = await runExtractor(t, withoutFfprobe, await temporaryFile(t, 'some.wav', bytes))
    t.is((metadata?.streams as { codec: string }[] | undefined)?.[0]?.codec, codec)
  }
})

const tone = (change: (wav: Buffer) => void) => async () => {
  const wav = await readFile(testFile('tone.wav'))
  change(wav)
  return wav
}
for (const [name, content, message] of [
  ['an empty file', async () => Buffer.alloc(0), /file is empty/],
  ['a WAV file without a data chunk', tone(wav => wav.write('junk', 36)), /no data chunk/],
  ['a WAV file without a format chunk', tone(wav => wav.write('junk', 12)), /no fmt chunk/],
  ['a WAV file with zero channels', tone(wav => wav.writeUInt16LE(0, 22)), /zero channels/],
  ['a WAV file with a byte rate of zero', tone(wav => wav.writeUInt32LE(0, 28)), /zero channels or a sample rate of zero/],
  ['a WAV file whose format chunk exceeds the file', tone(wav => wav.writeUInt32LE(0xfffffff0, 16)), /no data chunk/],
  [
    'a WAV file truncated in its header',
    async () => (await readFile(testFile('tone.wav'))).subarray(0, 30),
    /header of the WAV file is truncated/,
  ],
] as const) {
  test(`${name} is rejected with a readable message`, async t => {
    await t.throwsAsync(runExtractor(t, withoutFfprobe, await temporaryFile(t, 'hostile.wav', await content())), { message })
  })
}

const pause = () => new Promise(resolve => setImmediate(resolve))

async function untilReadable(path: string): Promise<string> {
  for (;;) {
    const text = await readFile(path, 'utf8').catch(() => undefined)
    if (text !== undefined) return text
    await pause()
  }
}

async function untilGone(pid: number): Promise<void> {
  const lives = () => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  while (lives()) await pause()
}
