import { type FileHandle, open, statfs } from 'node:fs/promises'
import { NoSpace, Problem, Unavailable } from 'pounce/sdk'
import { isDiskFull } from 'pounce/sdk/kit'

/** The system calls whose failures are worth testing. */
export interface Disk {
  /** Resolves with the bytes written, which may be fewer than given. */
  write(file: FileHandle, pieces: readonly Uint8Array[], position: number): Promise<number>
  /** Resolves when what was written to the file, or to the folder, survives a power failure. */
  sync(file: FileHandle): Promise<void>
  /** The disk that contains the folder: its size, and what this user may still write. */
  space(folder: string): Promise<{ readonly freeBytes: number; readonly sizeBytes: number }>
}

export const realDisk: Disk = {
  async write(file, pieces, position) {
    return (await file.writev(pieces, position)).bytesWritten
  },
  sync: file => file.datasync(),
  async space(folder) {
    const { bavail, blocks, bsize } = await statfs(folder)
    return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize }
  },
}

/** Writes all pieces, repeating short writes. */
export async function writeAll(disk: Disk, file: FileHandle, pieces: readonly Uint8Array[], position: number): Promise<void> {
  let rest = pieces
  let at = position
  while (rest.length > 0) {
    const written = await disk.write(file, rest, at)
    at += written
    rest = after(rest, written)
  }
}

function after(pieces: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let skip = bytes
  let first = 0
  while (first < pieces.length && skip >= (pieces[first]?.length ?? 0)) {
    skip -= pieces[first]?.length ?? 0
    first += 1
  }
  const [head, ...tail] = pieces.slice(first)
  return head ? [head.subarray(skip), ...tail] : []
}

/** Reads until the buffer is full or the file ends; returns the number of bytes. */
export async function readFully(file: FileHandle, into: Uint8Array, position: number): Promise<number> {
  let got = 0
  while (got < into.length) {
    const { bytesRead } = await file.read(into, got, into.length - got, position + got)
    if (bytesRead === 0) return got
    got += bytesRead
  }
  return got
}

/** Makes a file, or new names in a folder, survive a power failure. */
export async function syncPath(disk: Disk, folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await disk.sync(handle)
}

/** The system's error code, such as `ENOENT`. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

const away = new Set(['EIO', 'EROFS', 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'ENODEV', 'ENXIO', 'ESTALE', 'EMFILE', 'ENFILE', 'ETIMEDOUT'])

/** The error for a caller of the store; errors that are not the system's are returned unchanged. */
export function asProblem(error: unknown): unknown {
  if (error instanceof Problem) return error
  if (isDiskFull(error)) return new NoSpace(undefined, { cause: error })
  if (away.has(codeOf(error))) return new Unavailable('The disk of the blob store is not working', { cause: error })
  return error
}
