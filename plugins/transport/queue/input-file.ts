import { createWriteStream } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type BlobStore, CorruptContent } from 'pounce/sdk'
import { RunFailure } from './run-failure.ts'

const reserveBytes = 256 * 2 ** 20

/** Where the bytes of an input are, and how large it may be. */
export interface InputSource {
  readonly blob: string
  readonly sizeBytes: number
}

/**
 * A path under which an extractor can read a blob: the stored file itself, or a copy at `copyTo` when the store keeps no files.
 * Throws a `RunFailure` when the blob is gone, damaged, longer than it should be, or does not fit.
 */
export async function inputFile(
  blobs: BlobStore,
  source: InputSource,
  copyTo: string,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<string> {
  const local = await blobs.localPath?.(source.blob)
  if (local !== undefined) return local
  if (source.sizeBytes > maxBytes)
    throw new RunFailure('refused', `The file has more than ${maxBytes} bytes, which are the most that are copied`)
  const disk = await statfs(dirname(copyTo))
  if (disk.bavail * disk.bsize < source.sizeBytes + reserveBytes) throw new RunFailure('fault', 'There is no space for a copy of the file')
  const bytes = await blobs.get(source.blob)
  if (!bytes) throw new RunFailure('refused', 'The stored bytes are missing')
  try {
    await pipeline(bytes, atMost(source.sizeBytes), createWriteStream(copyTo, { mode: 0o600 }), { signal })
  } catch (error) {
    if (error instanceof CorruptContent) throw new RunFailure('refused', error.message, { cause: error })
    throw error
  }
  return copyTo
}

/** Fails as soon as more bytes come than the record says. */
function atMost(sizeBytes: number): Transform {
  let seen = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      if (seen > sizeBytes) done(new RunFailure('refused', 'The stored bytes are more than the file is said to have'))
      else done(null, chunk)
    },
  })
}
