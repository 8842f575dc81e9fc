import { type Archive, type ArchiveMember, type Archives, type Bytes, type FileInArchive, wire } from 'pounce/sdk'
import { ArchiveContents } from './archive-contents.ts'
import { ArchiveWriter, noteEntry, zipBytes } from './archive-writer.ts'
import { zip } from './zip.ts'
import type { ZipEntry } from './zip-members.ts'

/** ZIPs of what other plugins name. */
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

async function* entriesOf(members: AsyncIterable<ArchiveMember>): AsyncGenerator<ZipEntry> {
  const modified = new Date()
  for await (const { path, bytes } of members) yield noteEntry(path, bytes, modified)
}
