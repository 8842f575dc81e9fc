import { Invalid } from 'pounce/sdk'
import type { Entry } from 'yauzl'

const mostEntries = 100_000
const mostPathBytes = 8192
const bombRatio = 100
const bombBytes = 100 * 1024 * 1024
const unix = { mask: 0o170000, file: 0o100000, folder: 0o040000, none: 0 }

/** What a ZIP claims of a file in it. That the claims hold is found out when it is read. */
export interface ZipFileEntry {
  readonly path: string
  readonly sizeBytes: number
  readonly entry: Entry
}

/** The directory of an archive that does no harm. */
export interface ZipDirectory {
  /** By path. */
  readonly files: ReadonlyMap<string, ZipFileEntry>
  /** Paths of the folders that have an entry of their own, without a slash at the end. */
  readonly folders: ReadonlySet<string>
}

const shown = (name: string): string => JSON.stringify(name.length > 300 ? `${name.slice(0, 300)}…` : name)

const refuse = (name: string, reason: string): never => {
  throw new Invalid(`The archive is refused: the entry ${shown(name)} ${reason}`)
}

/** The name as a path; v1 writes two slashes where one is meant. */
const pathOf = (name: string): string => {
  if (/[\u0000-\u001f\u007f]/.test(name)) refuse(name, 'has control characters in its name')
  if (!name.isWellFormed()) refuse(name, 'has a name that is no Unicode text')
  if (name.includes('\\')) refuse(name, 'has a backslash in its name')
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) refuse(name, 'has an absolute path')
  if (Buffer.byteLength(name) > mostPathBytes) refuse(name, `has a path of more than ${mostPathBytes} bytes`)
  const path = name.replace(/\/{2,}/g, '/')
  if (path.split('/').some(part => part === '..' || part === '.')) refuse(name, 'leads out of its folder')
  return path
}

const checkKind = (entry: Entry, name: string): void => {
  const type = (entry.externalFileAttributes >>> 16) & unix.mask
  const isFolder = name.endsWith('/')
  if (type !== unix.none && type !== (isFolder ? unix.folder : unix.file)) {
    refuse(name, isFolder || type === unix.folder ? 'is a folder by its type or its name, but not by both' : 'is a link or a device')
  }
  if (isFolder && entry.uncompressedSize > 0) refuse(name, 'is a folder with bytes')
  if (entry.isEncrypted()) refuse(name, 'is encrypted')
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8) {
    refuse(name, `is compressed by method ${entry.compressionMethod}; only stored and deflated entries are read`)
  }
}

const checkRatio = (what: string, unpacked: number, packed: number): void => {
  if (unpacked <= bombBytes || unpacked <= packed * bombRatio) return
  throw new Invalid(`The archive is refused: ${what} would unpack to more than ${bombRatio} times its size`)
}

/** Reads entries one by one and refuses what could do harm, naming the entry. */
export class ZipDirectoryReader implements ZipDirectory {
  readonly files = new Map<string, ZipFileEntry>()
  readonly folders = new Set<string>()
  readonly #archiveBytes: number
  #count = 0
  #packedBytes = 0
  #unpackedBytes = 0

  constructor(archiveBytes: number) {
    this.#archiveBytes = archiveBytes
  }

  /** The name is as the entry has it, whatever it looks like. */
  add(entry: Entry, name: string): void {
    this.#count += 1
    if (this.#count > mostEntries) throw new Invalid(`The archive is refused: it has more than ${mostEntries} entries`)
    const path = pathOf(name)
    if (path === '' || path === '/') refuse(name, 'has no name')
    checkKind(entry, name)
    if (path.endsWith('/')) {
      this.folders.add(path.slice(0, -1))
      return
    }
    if (this.files.has(path)) refuse(name, 'is there twice')
    this.#packedBytes += entry.compressedSize
    this.#unpackedBytes += entry.uncompressedSize
    checkRatio(`the entry ${shown(name)}`, entry.uncompressedSize, entry.compressedSize)
    this.files.set(path, { path, sizeBytes: entry.uncompressedSize, entry })
  }

  /** What only all entries together show. */
  finish(): void {
    if (this.#packedBytes > this.#archiveBytes) {
      throw new Invalid('The archive is refused: its entries claim more bytes than it has, so they overlap or lie')
    }
    checkRatio('it', this.#unpackedBytes, this.#archiveBytes)
    for (const path of [...this.files.keys(), ...this.folders]) {
      for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
        if (this.files.has(path.slice(0, slash))) refuse(path.slice(0, slash), 'is a file, and a folder with something in it')
      }
    }
    for (const path of this.folders) if (this.files.has(path)) refuse(path, 'is a file and a folder')
  }
}
