import { isUtf8 } from 'node:buffer'
import { open } from 'node:fs/promises'
import type { ExtractorInput, ExtractorOutput } from 'pounce/sdk'
import { ffprobe } from './ffprobe.ts'
import { isWav, readWav } from './wav.ts'

const headBytes = 512

/** Describes audio and video by ffprobe; without that program WAV only, anything else is skipped. */
export const extract = (input: ExtractorInput): Promise<ExtractorOutput> => describeMedia(input, 'ffprobe')

/** `extract` with a program of the caller's choice in place of ffprobe. */
export async function describeMedia(input: ExtractorInput, command: string): Promise<ExtractorOutput> {
  if (input.sizeBytes === 0) throw new Error('The file is empty.')
  const head = await readHead(input.path)
  // TypeScript is often taken for an MPEG transport stream by its extension, and playlists are text, too.
  if (isUtf8(head) && !head.includes(0)) return { skipped: 'The file holds text, not audio or video.' }
  const properties = (await ffprobe(input, command)) ?? (isWav(head) ? await readWav(input.path, input.sizeBytes) : undefined)
  if (!properties)
    return { skipped: 'ffprobe was not found, so audio and video are not described (WAV excepted). Install ffmpeg on the server.' }
  return { metadata: { ...properties } }
}

async function readHead(path: string): Promise<Buffer> {
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
  return buffer.subarray(0, bytesRead)
}
