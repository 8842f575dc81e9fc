import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { type Archive, type Archives, BlobStore, type Bytes, CorruptContent, DamageReports, wire } from 'pounce/sdk'
import { type ArchiveMember, type FileInArchive, streamed } from 'pounce/sdk/kit'
import { ArchiveContents, type ArchiveFile, type ArchiveFolder } from './archive-contents.ts'
import { layout, plainNaming } from './archive-paths.ts'
import { ZipWithKnownLength, zip } from './zip.ts'
import type { ZipEntry } from './zip-members.ts'

/** Incremented whenever the same files produce different bytes. */
const formatVersion = 'zip 2'

const filesPerTurn = 2000

/** A stored file in a ZIP. */
class FileEntry implements ZipEntry {
  readonly path: string
  readonly #file: ArchiveFile
  readonly #writer: ArchiveWriter

  constructor(path: string, file: ArchiveFile, writer: ArchiveWriter) {
    this.path = path
    this.#file = file
    this.#writer = writer
  }

  get sizeBytes(): number {
    return this.#file.sizeBytes
  }

  get modified(): Date {
    return new Date(this.#file.modified)
  }

  open(): Promise<Readable> {
    return this.#writer.bytesOf(this.#file)
  }

  checksum(): Promise<number | undefined> {
    return this.#writer.checksumOf(this.#file)
  }
}

/** Writes ZIPs of archive folders as streams. */
export class ArchiveWriter {
  #blobs: BlobStore
  #damage: DamageReports

  constructor(blobs: BlobStore, damage: DamageReports) {
    this.#blobs = blobs
    this.#damage = damage
  }

  /** Only the files; `notes` are text files at the root, by name. */
  async plain(top: ArchiveFolder, filename: string, notes: ReadonlyMap<string, string> = new Map()): Promise<Archive> {
    const entries: ZipEntry[] = [...notes].map(([path, text]) => noteEntry(path, Buffer.from(text)))
    const digest = createHash('sha256').update(formatVersion)
    for (const text of notes.values()) digest.update(text)
    for (const placed of layout(top, { ...plainNaming, reserved: archiveFolder => (archiveFolder === top ? [...notes.keys()] : []) })) {
      if (!('file' in placed)) continue
      const { path, file } = placed
      // Yields to other requests: an archive can have a hundred thousand files.
      if (entries.length % filesPerTurn === 0) await setImmediate()
      entries.push(this.entryOf(path, file))
      digest.update(`${path}\0${file.blob}\0${file.sizeBytes}\0${file.modified}\n`)
    }
    const archive = new ZipWithKnownLength(entries)
    const { sizeBytes } = archive
    const etag = digest.digest('base64url')
    return { bytes: zipBytes(filename, range => archive.pieces(range), { sizeBytes, etag }), ...top.counts }
  }

  entryOf(path: string, file: ArchiveFile): ZipEntry {
    return new FileEntry(path, file, this)
  }

  /** Throws `CorruptContent` when they are missing: an archive never omits a file silently. */
  async bytesOf({ id, blob }: ArchiveFile): Promise<Readable> {
    const bytes = await this.#damage.open(blob, () => this.#blobs.get(blob))
    if (!bytes) throw new CorruptContent(undefined, { cause: new Error(`the bytes ${blob} of file ${id} are missing`) })
    return bytes
  }

  /** The store verifies the bytes against the same checksums. */
  async checksumOf({ blob }: ArchiveFile): Promise<number | undefined> {
    return this.#blobs.crc32?.(blob)
  }
}
wire(ArchiveWriter, BlobStore, DamageReports)

/** The modification time of generated text files, which have no lasting one of their own. */
const noTime = new Date(Date.UTC(1980, 0, 1))

/** A generated text file. */
export const noteEntry = (path: string, bytes: Buffer, modified = noTime): ZipEntry => ({
  path,
  sizeBytes: bytes.length,
  modified,
  open: () => bytes,
})

/** Passes the chunks on one by one: a byte stream would concatenate them, which costs a copy. */
export const zipBytes = (
  filename: string,
  pieces: (range?: Parameters<Bytes['open']>[0]) => AsyncIterable<Buffer>,
  known: { readonly sizeBytes?: number; readonly etag?: string } = {},
): Bytes => ({
  contentType: 'application/zip',
  filename,
  ...known,
  open: range => streamed(pieces(range), 1),
})

/** Creates ZIPs of files named by other plugins. */
export class StreamedArchives implements Archives {
  #contents: ArchiveContents
  #writer: ArchiveWriter

  constructor(contents: ArchiveContents, writer: ArchiveWriter) {
    this.#contents = contents
    this.#writer = writer
  }

  async ofDatasets(ids: readonly string[], filename: string): Promise<Archive> {
    return this.#writer.plain(await this.#contents.ofDatasets(ids), filename)
  }

  async ofFiles(files: Iterable<FileInArchive> | AsyncIterable<FileInArchive>, filename: string): Promise<Archive> {
    return this.#writer.plain(await this.#contents.ofFiles(files), filename)
  }

  ofMembers(members: AsyncIterable<ArchiveMember>, filename: string): Bytes {
    return zipBytes(filename, () => zip(entriesOf(members)))
  }
}
wire(StreamedArchives, ArchiveContents, ArchiveWriter)

async function* entriesOf(members: AsyncIterable<ArchiveMember>): AsyncGenerator<readonly ZipEntry[]> {
  const modified = new Date()
  for await (const { path, bytes } of members) yield [noteEntry(path, bytes, modified)]
}
