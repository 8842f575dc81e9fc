import { Invalid } from 'pounce/sdk'
import type { Entry } from 'yauzl'

const maxEntries = 100_000
const maxPathBytes = 8192
/** 100 folders of a dataset, and the location of the bag in the archive. */
const maxDepth = 120
/** Maximum number of folders that exist only in paths; each entry allows one more. */
const maxImpliedFolders = 1000
const bombRatio = 100
const bombBytes = 100 * 1024 * 1024
const unix = { mask: 0o170000, file: 0o100000, folder: 0o040000, none: 0 }

/** The metadata of a file in a ZIP. It is verified when the file is read. */
export interface ZipFileEntry {
  readonly path: string
  readonly sizeBytes: number
  readonly entry: Entry
}

/** The directory of an archive that passed the checks. */
export interface ZipDirectory {
  /** By path. */
  readonly files: ReadonlyMap<string, ZipFileEntry>
  /** Paths of the folders that have an entry of their own, without a trailing slash. */
  readonly folders: ReadonlySet<string>
}

const shown = (name: string): string => JSON.stringify(name.length > 300 ? `${name.slice(0, 300)}…` : name)

const refuse = (name: string, reason: string): never => {
  throw new Invalid(`Invalid archive: the entry ${shown(name)} ${reason}`)
}

const tooMany = (): Invalid => new Invalid(`Invalid archive: more than ${maxEntries} entries and folders`)

const refuseBoth = (path: string): never => refuse(path, 'is a file, and a folder')

/** The name as a path; v1 writes two slashes in place of one. */
const pathOf = (name: string, raw: Uint8Array): string => {
  // The code page for names that are not marked as UTF-8 maps control characters to graphic ones.
  if (/[\u0000-\u001f\u007f]/.test(name) || raw.some(byte => byte < 0x20 || byte === 0x7f))
    refuse(name, 'has control characters in its name')
  if (!name.isWellFormed()) refuse(name, 'has a name that is not Unicode text')
  if (name.includes('\\')) refuse(name, 'has a backslash in its name')
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) refuse(name, 'has an absolute path')
  if (Buffer.byteLength(name) > maxPathBytes) refuse(name, `has a path of more than ${maxPathBytes} bytes`)
  const path = name.replace(/\/{2,}/g, '/')
  const parts = path.split('/')
  if (parts.some(part => part === '..' || part === '.')) refuse(name, 'leads outside its folder')
  if (parts.length > maxDepth) refuse(name, `is nested deeper than ${maxDepth} folders`)
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
  throw new Invalid(`Invalid archive: ${what} would unpack to more than ${bombRatio} times its size`)
}

/** Reads entries one by one and refuses malicious ones, naming the entry. */
export class ZipDirectoryReader implements ZipDirectory {
  readonly files = new Map<string, ZipFileEntry>()
  readonly folders = new Set<string>()
  readonly #archiveBytes: number
  /** All folders, including those that only occur in paths. */
  readonly #allFolders = new Set<string>()
  #count = 0
  #packedBytes = 0
  #unpackedBytes = 0

  /** Throws `Invalid` when the archive declares too many entries. No more than declared are read. */
  constructor(archiveBytes: number, entryCount: number) {
    if (entryCount > maxEntries) throw tooMany()
    this.#archiveBytes = archiveBytes
  }

  /** `name` is the raw name of the entry. */
  add(entry: Entry, name: string): void {
    this.#count += 1
    this.#checkCount()
    const path = pathOf(name, entry.fileNameRaw)
    if (path === '' || path === '/') refuse(name, 'has no name')
    checkKind(entry, name)
    if (path.endsWith('/')) {
      this.folders.add(path.slice(0, -1))
      this.#addFolders(path.slice(0, -1))
      return
    }
    if (this.files.has(path)) refuse(name, 'occurs twice')
    if (this.#allFolders.has(path)) refuseBoth(path)
    this.#addFolders(path.slice(0, Math.max(0, path.lastIndexOf('/'))))
    this.#packedBytes += entry.compressedSize
    this.#unpackedBytes += entry.uncompressedSize
    checkRatio(`the entry ${shown(name)}`, entry.uncompressedSize, entry.compressedSize)
    this.files.set(path, { path, sizeBytes: entry.uncompressedSize, entry })
  }

  /** Checks that require all entries. */
  finish(): void {
    if (this.#packedBytes > this.#archiveBytes) {
      throw new Invalid('Invalid archive: its entries overlap')
    }
    checkRatio('it', this.#unpackedBytes, this.#archiveBytes)
    if (this.#impliedFolders > this.#count + maxImpliedFolders) {
      throw new Invalid(`Invalid archive: too many folders (${this.#allFolders.size}) for its ${this.#count} entries`)
    }
  }

  get #impliedFolders(): number {
    return this.#allFolders.size - this.folders.size
  }

  /** Folders that only occur in paths are created like any other, so they count towards the limit. */
  #checkCount(): void {
    if (this.#count + this.#impliedFolders > maxEntries) throw tooMany()
  }

  /** Adds a folder and its ancestors. The ancestors of a known folder are known too. */
  #addFolders(path: string): void {
    for (
      let folder = path;
      folder !== '' && !this.#allFolders.has(folder);
      folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))
    ) {
      if (this.files.has(folder)) refuseBoth(folder)
      this.#allFolders.add(folder)
    }
    this.#checkCount()
  }
}
