import { unzipRaw, type ZipEntry } from 'unzipit'
import type { ViewerHost } from '../host.ts'

/** What is in a folder of an archive. */
export interface Member {
  readonly name: string
  readonly path: string
  readonly isFolder: boolean
  readonly sizeBytes: number
  readonly packedBytes: number
  readonly changed: Date | undefined
  readonly entry: ZipEntry | undefined
}

export interface Archive {
  readonly files: number
  readonly sizeBytes: number
  /** What is in a folder by its path, which ends in a slash; '' is the archive itself. */
  readonly inFolder: (path: string) => readonly Member[]
}

/** The list of an archive with a million files takes less. */
const maxListBytes = 128_000_000

/** The list of an archive would take more memory than a page should. */
export class TooManyFiles extends Error {}

/** Reads the list of an archive, which is at its end. Nothing is unpacked for it. */
export const archiveOf = async (host: ViewerHost): Promise<Archive> => {
  const { sizeBytes } = host.thing
  const { entries } = await unzipRaw({
    getLength: async () => sizeBytes,
    read: async (offset: number, length: number) => {
      if (length > maxListBytes) throw new TooManyFiles()
      return host.read(offset, offset + length)
    },
    sliceAsBlob: async (offset: number, length: number, type = '') =>
      new Blob([(await host.read(offset, offset + length)) as BlobPart], { type }),
  } as never)
  const folders = new Map<string, Map<string, Member>>([['', new Map()]])
  const folderAt = (path: string): Map<string, Member> => {
    const known = folders.get(path)
    if (known) return known
    const made = new Map<string, Member>()
    folders.set(path, made)
    const steps = path.slice(0, -1).split('/')
    const name = steps.at(-1) ?? ''
    const parent = path.slice(0, path.length - name.length - 1)
    folderAt(parent).set(`${name}/`, { name, path, isFolder: true, sizeBytes: 0, packedBytes: 0, changed: undefined, entry: undefined })
    return made
  }
  let files = 0
  let total = 0
  for (const entry of entries) {
    const steps = entry.name
      .split(/[/\\]/)
      .filter(step => step !== '' && step !== '.')
      .slice(-maxDepth)
    const name = steps.pop()
    if (name === undefined) continue
    const folder = steps.map(step => `${step}/`).join('')
    if (entry.isDirectory) {
      folderAt(`${folder}${name}/`)
      continue
    }
    files++
    total += entry.size
    folderAt(folder).set(name, {
      ...{ name, path: `${folder}${name}`, isFolder: false, sizeBytes: entry.size, packedBytes: entry.compressedSize, entry },
      changed: Number.isNaN(entry.lastModDate.getTime()) ? undefined : entry.lastModDate,
    })
  }
  return { files, sizeBytes: total, inFolder: path => [...(folders.get(path)?.values() ?? [])] }
}

const maxDepth = 100

const types: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  xml: 'application/xml',
  md: 'text/markdown',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ipynb: 'application/x-ipynb+json',
  parquet: 'application/vnd.apache.parquet',
}

/** The ending of a name, in lower case. */
export const endingOf = (name: string): string => (name.includes('.') ? (name.toLowerCase().split('.').at(-1) ?? '') : '')

/** The media type of a member by its name. */
export const typeOfMember = (name: string): string => types[endingOf(name)] ?? 'application/octet-stream'
