import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { ExtractorInput } from 'pounce/sdk'
import type { MediaProperties, MediaStream } from './media-properties.ts'

const timeoutMs = 60_000
const maxStreams = 50
const maxTextLength = 1000

// Playlists and image sequences would make ffprobe read the files or network addresses that they name.
const containers = [
  ...['aac', 'ac3', 'aiff', 'amr', 'ape', 'asf', 'au', 'avi', 'caf', 'dsf', 'dv', 'eac3', 'flac', 'flv', 'h264', 'hevc', 'ivf', 'm4v'],
  ...['matroska', 'mov', 'mp3', 'mpeg', 'mpegts', 'mpegvideo', 'mxf', 'nut', 'ogg', 'rm', 'tak', 'tta', 'voc', 'w64', 'wav', 'wv', 'wtv'],
]

/** Runs ffprobe. Undefined when it is not installed; throws a message for users when it cannot read the file. */
export async function ffprobe(input: ExtractorInput, command: string): Promise<MediaProperties | undefined> {
  const files = ['-protocol_whitelist', 'file', '-format_whitelist', containers.join(','), '-i', `file:${input.path}`]
  const flags = ['-v', 'error', '-hide_banner', '-print_format', 'json', '-show_format', '-show_streams', ...files]
  const options = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 8 << 20, signal: input.signal } as const
  try {
    const { stdout } = await promisify(execFile)(command, flags, options)
    // Not with the reader of the SDK, which loads modules that an extractor process may not use.
    return propertiesOf(JSON.parse(stdout))
  } catch (error) {
    if (input.signal.aborted || !(error instanceof Error)) throw error
    // The system reports EACCES when a folder in PATH is inaccessible and no other contains the program.
    if ('code' in error && (error.code === 'ENOENT' || error.code === 'EACCES')) return undefined
    if ('killed' in error && error.killed) throw new Error(`ffprobe did not finish within ${timeoutMs / 1000} s.`, { cause: error })
    const reason = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr : error.message
    throw new Error(`The file cannot be read as audio or video: ${reasonIn(reason, input)}`, { cause: error })
  }
}

/** ffprobe's last line, without the path of the stored file. */
function reasonIn(reason: string, input: ExtractorInput): string {
  const line = reason.trim().split('\n').at(-1) ?? ''
  return (
    line.replaceAll(`file:${input.path}`, input.filename).replaceAll(input.path, input.filename).slice(0, 300) || 'ffprobe gave no reason'
  )
}

type Json = Readonly<Record<string, unknown>>
const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

function propertiesOf(answer: unknown): MediaProperties {
  const { format, streams } = objectOf(answer)
  const whole = objectOf(format)
  const tags = new Map(Object.entries(objectOf(whole.tags)).map(([key, value]) => [key.toLowerCase(), value]))
  const tracks = Array.isArray(streams) ? streams.slice(0, maxStreams) : []
  const created = new Date(String(tags.get('creation_time')))
  return without({
    container: text(whole.format_name) ?? 'unknown',
    durationSeconds: number(whole.duration),
    bitRate: number(whole.bit_rate),
    streams: tracks.map(track => streamOf(objectOf(track))),
    title: text(tags.get('title')),
    artist: text(tags.get('artist')),
    album: text(tags.get('album')),
    comment: text(tags.get('comment')),
    created: Number.isNaN(created.getTime()) ? undefined : created.toISOString(),
  })
}

const streamOf = (track: Json): MediaStream =>
  without({
    kind: text(track.codec_type) ?? 'unknown',
    codec: text(track.codec_name) ?? 'unknown',
    durationSeconds: number(track.duration),
    bitRate: number(track.bit_rate),
    language: text(objectOf(track.tags).language),
    channels: number(track.channels),
    sampleRate: number(track.sample_rate),
    bitsPerSample: number(track.bits_per_sample) || undefined,
    width: number(track.width),
    height: number(track.height),
    framesPerSecond: rate(track.avg_frame_rate),
  })

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

const without = <T extends object>(properties: T): Present<T> =>
  Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as Present<T>

const text = (value: unknown): string | undefined =>
  typeof value === 'string'
    ? value
        .replace(/[\s\u0000-\u001f\u007f]+/g, ' ')
        .trim()
        .slice(0, maxTextLength) || undefined
    : undefined

function number(value: unknown): number | undefined {
  const found = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}

/** `30000/1001` as 29.97. */
function rate(value: unknown): number | undefined {
  const [frames = Number.NaN, seconds = Number.NaN] = typeof value === 'string' ? value.split('/').map(Number) : []
  return frames > 0 && seconds > 0 ? Math.round((frames / seconds) * 1000) / 1000 : undefined
}
