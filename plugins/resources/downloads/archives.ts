import { type Archive, type Archives, type FileInArchive, wire } from 'pounce/sdk'
import { type ArchiveWriter, ArchiveWriting } from './archive-writer.ts'
import { ArchiveContents, type Contents } from './contents.ts'

/** ZIPs of what other plugins name. */
export class StreamedArchives implements Archives {
  #contents: Contents
  #writer: ArchiveWriter

  constructor(contents: Contents, writer: ArchiveWriter) {
    this.#contents = contents
    this.#writer = writer
  }

  async ofDatasets(ids: readonly string[], filename: string): Promise<Archive> {
    return this.#writer.plain(await this.#contents.ofDatasets(ids), filename)
  }

  async ofFiles(files: Iterable<FileInArchive> | AsyncIterable<FileInArchive>, filename: string): Promise<Archive> {
    return this.#writer.plain(await this.#contents.ofFiles(files), filename)
  }
}
wire(StreamedArchives, ArchiveContents, ArchiveWriting)
