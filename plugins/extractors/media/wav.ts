import { type FileHandle, open } from 'node:fs/promises'
import type { MediaProperties } from './media-properties.ts'

const maxChunks = 1000
const extensible = 0xfffe

/** True for bytes that start with a WAV header. */
export const isWav = (head: Buffer): boolean => /^(RIFF|RF64)[\s\S]{4}WAVE/.test(head.toString('latin1', 0, 12))

/** Reads a WAV file's header. Throws when it is invalid. */
export async function readWav(path: string, sizeBytes: number): Promise<MediaProperties> {
  await using file = await open(path)
  let format: Buffer | undefined
  let at = 12
  for (let chunks = 0; chunks < maxChunks && at + 8 <= sizeBytes; chunks++) {
    const header = await bytesAt(file, at, 8)
    const [name, claimed] = [header.toString('latin1', 0, 4), header.readUInt32LE(4)]
    if (name === 'fmt ') format = await bytesAt(file, at + 8, Math.min(claimed, 40))
    if (name === 'data') return propertiesOf(format, claimed, sizeBytes - at - 8)
    at += 8 + claimed + (claimed % 2)
  }
  throw new Error('The WAV file has no data chunk.')
}

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at)
  if (bytesRead < length) throw new Error('The header of the WAV file is truncated.')
  return buffer
}

function propertiesOf(format: Buffer | undefined, claimedBytes: number, presentBytes: number): MediaProperties {
  if (!format || format.length < 16) throw new Error('The WAV file has no fmt chunk.')
  const channels = format.readUInt16LE(2)
  const sampleRate = format.readUInt32LE(4)
  const bytesPerSecond = format.readUInt32LE(8)
  const bitsPerSample = format.readUInt16LE(14)
  if (channels === 0 || sampleRate === 0 || bytesPerSecond === 0)
    throw new Error('The WAV file has zero channels or a sample rate of zero.')
  const isOpenEnded = claimedBytes === 0 || claimedBytes === 0xffffffff
  const bytes = isOpenEnded ? presentBytes : Math.min(claimedBytes, presentBytes)
  const durationSeconds = Math.round((bytes / bytesPerSecond) * 1e6) / 1e6
  const bitRate = bytesPerSecond * 8
  return {
    container: 'wav',
    durationSeconds,
    bitRate,
    streams: [{ kind: 'audio', codec: codecOf(format, bitsPerSample), durationSeconds, bitRate, channels, sampleRate, bitsPerSample }],
    ...(bytes < claimedBytes && !isOpenEnded && { problem: `The file is cut short: ${claimedBytes - bytes} bytes of sound are missing.` }),
  }
}

function codecOf(format: Buffer, bits: number): string {
  const plain = format.readUInt16LE(0)
  const tag = plain === extensible && format.length >= 26 ? format.readUInt16LE(24) : plain
  if (tag === 1) return bits === 8 ? 'pcm_u8' : `pcm_s${bits}le`
  if (tag === 3) return `pcm_f${bits}le`
  return { 2: 'adpcm_ms', 6: 'pcm_alaw', 7: 'pcm_mulaw', 17: 'adpcm_ima_wav', 85: 'mp3' }[tag] ?? `wav format ${tag}`
}
