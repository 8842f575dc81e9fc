/** A file as an archive remembers it while it is written: as little as that takes. */
export interface ShelvedFile {
  readonly id: string
  readonly name: string
  readonly blob: string
  readonly sizeBytes: number
  readonly sha256: string
  /** Milliseconds. */
  readonly modified: number
}

/** A folder of an archive: a folder, a dataset, a collection, or the top. */
export class ArchiveFolder {
  readonly kind: 'top' | 'collection' | 'dataset' | 'folder'
  readonly id: string
  readonly name: string
  readonly shelves: ArchiveFolder[] = []
  readonly files: ShelvedFile[] = []

  constructor(kind: ArchiveFolder['kind'], id = '', name = '') {
    this.kind = kind
    this.id = id
    this.name = name
  }

  /** How many files and folders are in it, at any depth, and how many bytes the files have. */
  get counts(): { readonly files: number; readonly folders: number; readonly fileBytes: number } {
    let files = 0
    let fileBytes = 0
    let folders = -1
    const waiting: ArchiveFolder[] = [this]
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      files += next.files.length
      for (const { sizeBytes } of next.files) fileBytes += sizeBytes
      folders += 1
      waiting.push(...next.shelves)
    }
    return { files, folders, fileBytes }
  }
}
