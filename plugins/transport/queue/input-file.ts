import { createWriteStream } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type BlobStore, CorruptContent } from 'pounce/sdk'
import { RunFailure } from './run-failure.ts'

const reserveBytes = 256 * 2 ** 20

/** Where the bytes of an input are, and its maximum size. */
export interface InputSource {
  readonly blob: string
  readonly sizeBytes: number
}

/**
 * A path under which an extractor can read a blob: the stored file itself, or a copy at `copyTo` when the store keeps no files.
 * Throws a `RunFailure` when the blob is missing, corrupt, longer than recorded, or does not fit.
 */
export async function inputFile(
  blobs: BlobStore,
  source: InputSource,
  copyTo: string,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<string> {
  const local = await blobs.localPath?.(source.blob)
  if (local !== undefined) return local
  if (source.sizeBytes > maxBytes) throw new RunFailure('refused', `The file exceeds the maximum of ${maxBytes} bytes for a temporary copy`)
  await ensureSpaceFor(source.sizeBytes, dirname(copyTo))
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

/** Throws a `RunFailure` when the disk of a folder has no room for a copy. */
export async function ensureSpaceFor(sizeBytes: number, folder: string): Promise<void> {
  const disk = await statfs(folder)
  if (disk.bavail * disk.bsize < sizeBytes + reserveBytes) throw new RunFailure('fault', 'No space left for a copy of the file')
}

/** Fails as soon as there are more bytes than recorded. */
function atMost(sizeBytes: number): Transform {
  let seen = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      if (seen > sizeBytes) done(new RunFailure('refused', 'The stored bytes exceed the size of the file'))
      else done(null, chunk)
    },
  })
}
