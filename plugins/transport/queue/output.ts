import { lstat, realpath } from 'node:fs/promises'
import { isAbsolute, join, resolve, sep } from 'node:path'
import type { DerivedFile, ExtractorOutput } from 'pounce/sdk'
import { RunFailure } from './run-failure.ts'

const mostPreviews = 20
const mediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(;.*)?$/i

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === 'string'

const wrong = (what: string): RunFailure => new RunFailure('refused', `The extractor's result is not right: ${what}`)

/**
 * Checks what an extractor process says it has found: nobody may point at a file outside `folder`, not even through a link.
 * Throws a `RunFailure` of kind `refused`.
 */
export async function checkOutput(text: string, folder: string, maxOutputBytes: number): Promise<ExtractorOutput> {
  const raw: unknown = JSON.parse(text)
  if (!isObject(raw)) throw wrong('it is not an object')
  const { metadata, tags, previews, thumbnail, skipped } = raw
  if (metadata !== undefined && !isObject(metadata)) throw wrong('metadata is not an object')
  if (tags !== undefined && !(Array.isArray(tags) && tags.every(isText))) throw wrong('tags is not a list of texts')
  if (skipped !== undefined && !isText(skipped)) throw wrong('skipped is not a text')
  if (previews !== undefined && !(Array.isArray(previews) && previews.length <= mostPreviews)) {
    throw wrong(`previews is not a list of at most ${mostPreviews} files`)
  }
  const files = [...(previews ?? []), ...(thumbnail === undefined ? [] : [thumbnail])]
  let sizeBytes = 0
  for (const file of files) sizeBytes += await sizeOfDerived(file, folder)
  if (sizeBytes > maxOutputBytes) throw wrong(`its files have ${sizeBytes} bytes, at most ${maxOutputBytes} are taken`)
  return {
    ...(metadata !== undefined && { metadata }),
    ...(tags !== undefined && { tags }),
    ...(previews !== undefined && { previews: previews.map(plain) }),
    ...(thumbnail !== undefined && { thumbnail: plain(thumbnail as DerivedFile) }),
    ...(skipped !== undefined && { skipped }),
  }
}

const plain = ({ path, contentType, title }: DerivedFile): DerivedFile => ({ path, contentType, ...(title !== undefined && { title }) })

async function sizeOfDerived(file: unknown, folder: string): Promise<number> {
  if (!isObject(file) || !isText(file['path']) || !isText(file['contentType'])) throw wrong('a file has no path or no contentType')
  const { path, contentType, title } = file
  if (!mediaType.test(contentType)) throw wrong('a contentType is not a media type')
  if (title !== undefined && !isText(title)) throw wrong('a title is not a text')
  const full = resolve(folder, path)
  if (isAbsolute(path) || !full.startsWith(folder + sep)) throw wrong('a file is outside the output folder')
  const facts = await lstat(full).catch(() => undefined)
  if (!facts?.isFile()) throw wrong('a file that it names was not written, or is no regular file')
  // A link to another name of a foreign file would pass as a regular file.
  if (facts.nlink > 1 || (await realpath(full)) !== join(await realpath(folder), full.slice(folder.length))) {
    throw wrong('a file is a link')
  }
  return facts.size
}
