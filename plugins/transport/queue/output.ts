import { constants, createWriteStream } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, realpath, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type DerivedFile, type ExtractorOutput, Problem } from 'pounce/sdk'
import { isJsonObject, type JsonLimits, parseJson } from 'pounce/sdk/kit'
import { RunFailure } from './run-failure.ts'

const maxPreviews = 20
/** What is stored as metadata has the same limits as metadata in requests. */
const limits: JsonLimits = { maxBytes: 64 * 1024 * 1024, maxDepth: 64, maxMembers: 100_000, maxLeaves: 500_000 }
const maxBufferedBytes = 2 ** 20
const mediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(;.*)?$/i

const isText = (value: unknown): value is string => typeof value === 'string'

const invalidResult = (what: string): RunFailure => new RunFailure('refused', `Invalid extractor result: ${what}`)

/** Where the files of a result are, where they are copied to under the same names, and the maximum size. */
export interface OutputTransfer {
  readonly from: string
  readonly to: string
  readonly maxOutputBytes: number
}

/**
 * Checks the output of an extractor process, and copies the files that it names. No output may refer to a file outside `from`, not even
 * through a link, and the process may still be running and changing them. Throws a `RunFailure` of kind `refused`.
 */
export async function takeOutput(text: string, { from, to, maxOutputBytes }: OutputTransfer): Promise<ExtractorOutput> {
  const raw = parsed(text)
  if (!isJsonObject(raw)) throw invalidResult('it is not an object')
  const { metadata, tags, previews, thumbnail, skipped } = raw
  if (metadata !== undefined && !isJsonObject(metadata)) throw invalidResult('metadata is not an object')
  if (tags !== undefined && !(Array.isArray(tags) && tags.every(isText))) throw invalidResult('tags is not a list of texts')
  if (skipped !== undefined && !isText(skipped)) throw invalidResult('skipped is not a text')
  if (previews !== undefined && !(Array.isArray(previews) && previews.length <= maxPreviews)) {
    throw invalidResult(`previews is not a list of at most ${maxPreviews} files`)
  }
  const files = [...(previews ?? []), ...(thumbnail === undefined ? [] : [thumbnail])]
  let sizeBytes = 0
  for (const file of files) {
    sizeBytes += await takeFile(pathIn(file), { from, to, maxOutputBytes: maxOutputBytes - sizeBytes })
  }
  return {
    ...(metadata !== undefined && { metadata }),
    ...(tags !== undefined && { tags }),
    ...(previews !== undefined && { previews: previews.map(plain) }),
    ...(thumbnail !== undefined && { thumbnail: plain(thumbnail as DerivedFile) }),
    ...(skipped !== undefined && { skipped }),
  }
}

function parsed(text: string): unknown {
  try {
    return parseJson(text, limits, 'it')
  } catch (error) {
    if (error instanceof Problem) throw invalidResult(error.message)
    throw error
  }
}

const plain = ({ path, contentType, title }: DerivedFile): DerivedFile => ({ path, contentType, ...(title !== undefined && { title }) })

/** The path of a file with a valid description. */
function pathIn(file: unknown): string {
  if (!isJsonObject(file) || !isText(file['path']) || !isText(file['contentType']))
    throw invalidResult('a file has no path or no contentType')
  const { path, contentType, title } = file
  if (!mediaType.test(contentType)) throw invalidResult('a contentType is not a media type')
  if (title !== undefined && !isText(title)) throw invalidResult('a title is not a text')
  return path
}

/** Copies one file and returns its length. The checks are made on the open file, since its name may refer to another file a moment later. */
async function takeFile(path: string, { from, to, maxOutputBytes }: OutputTransfer): Promise<number> {
  const full = resolve(from, path)
  if (isAbsolute(path) || path.includes('\0') || !full.startsWith(from + sep)) throw invalidResult('a file is outside the output folder')
  // So as not to block on the other end of a named pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const missing = 'a file that it names was not written, or is not a regular file'
  await using file = await open(full, flags).catch(() => {
    throw invalidResult(missing)
  })
  const stats = await file.stat()
  if (!stats.isFile()) throw invalidResult(missing)
  // A hard link to a foreign file would pass as a regular file.
  if (stats.nlink > 1 || !(await isOpenAt(file, join(await realpath(from), full.slice(from.length)))))
    throw invalidResult('a file is a link')
  if (stats.size > maxOutputBytes) throw invalidResult(`its files exceed the remaining ${maxOutputBytes} bytes`)
  const copy = join(to, full.slice(from.length))
  await mkdir(dirname(copy), { recursive: true })
  if (stats.size === 0) await writeFile(copy, '')
  // Not what is written beyond the length that was checked.
  else if (stats.size <= maxBufferedBytes) await writeFile(copy, await readWhole(file, stats.size))
  else await pipeline(file.createReadStream({ start: 0, end: stats.size - 1, autoClose: false }), createWriteStream(copy))
  return stats.size
}

/** Copies fewer bytes when the file has been truncated meanwhile. */
async function readWhole(file: FileHandle, sizeBytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(sizeBytes), 0, sizeBytes, 0)
  return buffer.subarray(0, bytesRead)
}

/** Whether an open file is the one at a path. Exact on Linux; elsewhere the path is checked once more. */
async function isOpenAt(file: FileHandle, path: string): Promise<boolean> {
  if (process.platform === 'linux') return (await readlink(`/proc/self/fd/${file.fd}`)) === path
  const [opened, named] = [await file.stat(), await lstat(path)]
  return (await realpath(path)) === path && opened.ino === named.ino && opened.dev === named.dev
}
