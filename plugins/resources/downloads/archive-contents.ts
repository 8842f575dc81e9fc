import {
  type After,
  type DatasetRecord,
  Datasets,
  type FileRecord,
  Files,
  type FolderRecord,
  Folders,
  Invalid,
  NotFound,
  type Page,
  type Stored,
  wire,
} from 'pounce/sdk'
import { type FileInArchive, requireUsable } from 'pounce/sdk/kit'

/** The fields of a file that are needed while its archive is written. */
export interface ArchiveFile {
  readonly id: string
  readonly name: string
  readonly blob: string
  readonly sizeBytes: number
  readonly sha256: string
  /** Milliseconds. */
  readonly modified: number
}

/** A folder of an archive: a folder, dataset, collection, or the root. */
export class ArchiveFolder {
  readonly kind: 'top' | 'collection' | 'dataset' | 'folder'
  readonly id: string
  readonly name: string
  readonly subfolders: ArchiveFolder[] = []
  readonly files: ArchiveFile[] = []

  constructor(kind: ArchiveFolder['kind'], id = '', name = '') {
    this.kind = kind
    this.id = id
    this.name = name
  }

  /** Number of files and folders in it, at any depth, and total size of the files in bytes. */
  get counts(): { readonly files: number; readonly folders: number; readonly fileBytes: number } {
    let files = 0
    let fileBytes = 0
    let folders = -1
    const waiting: ArchiveFolder[] = [this]
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      files += next.files.length
      for (const { sizeBytes } of next.files) fileBytes += sizeBytes
      folders += 1
      waiting.push(...next.subfolders)
    }
    return { files, folders, fileBytes }
  }
}

type File = FileRecord & Stored

type Folder = FolderRecord & Stored

type Named = Pick<DatasetRecord & Stored, 'id' | 'name'>

const maxNamed = 1000

const pageSize = 1000

/** Throws `ScanPending` or `Quarantined` when the bytes may not be downloaded: an archive never omits a file silently. */
const archiveFileOf = (file: File): ArchiveFile => {
  requireUsable(file)
  const { id, name, blob, sizeBytes, sha256, created } = file
  return { id, name, blob, sizeBytes, sha256, modified: Date.parse(created) }
}

/** Collects the contents of archives. Reads in pages and keeps few fields of each file. */
export class ArchiveContents {
  #datasets: Datasets
  #files: Files
  #folders: Folders

  constructor(datasets: Datasets, files: Files, folders: Folders) {
    this.#datasets = datasets
    this.#files = files
    this.#folders = folders
  }

  /** All files of a dataset, each in every location that it has there. Files in deleted folders are omitted. */
  async ofDataset({ id, name }: Named): Promise<ArchiveFolder> {
    const root = new ArchiveFolder('dataset', id, name)
    const folders = new Map<string, ArchiveFolder>()
    const parents: string[] = []
    for await (const folder of this.#folders.ofDataset(id)) {
      folders.set(folder.id, new ArchiveFolder('folder', folder.id, folder.displayName))
      parents.push(folder.parent.id)
    }
    let at = 0
    for (const archiveFolder of folders.values()) {
      const parent = parents[at++] as string
      const above = parent === id ? root : folders.get(parent)
      above?.subfolders.push(archiveFolder)
    }
    for await (const file of this.#files.ofDataset(id)) {
      for (const { dataset, folder } of file.places) {
        if (dataset === id) (folder === null ? root : folders.get(folder))?.files.push(archiveFileOf(file))
      }
    }
    return root
  }

  /** A folder, at the top of the dataset's archive folder, and its contents. Throws `NotFound` for a folder of another dataset. */
  async ofFolder(dataset: Named, id: string): Promise<{ readonly top: ArchiveFolder; readonly folder: Folder }> {
    const folder = await this.#folders.get(id)
    if (folder?.dataset !== dataset.id || !(await this.#folders.paths([id])).has(id)) throw new NotFound('folder')
    const top = new ArchiveFolder('dataset', dataset.id, dataset.name)
    const waiting = [new ArchiveFolder('folder', id, folder.displayName)]
    top.subfolders.push(...waiting)
    for (let archiveFolder = waiting.pop(); archiveFolder; archiveFolder = waiting.pop()) {
      const at = archiveFolder.id
      for await (const file of each(after => this.#files.in(at, { limit: pageSize, ...after })))
        archiveFolder.files.push(archiveFileOf(file))
      for await (const below of each(after => this.#folders.childrenOf(at, { limit: pageSize, ...after }))) {
        archiveFolder.subfolders.push(new ArchiveFolder('folder', below.id, below.displayName))
      }
      waiting.push(...archiveFolder.subfolders)
    }
    return { top, folder }
  }

  /** Selected files of a dataset, without folders. Throws `NotFound` for a file that is not in the dataset. */
  async some(dataset: Named, ids: readonly string[]): Promise<{ readonly top: ArchiveFolder; readonly files: readonly File[] }> {
    if (ids.length > maxNamed) throw new Invalid('At most 1,000 files; download the dataset, or a folder of it')
    const found = await this.#files.getMany(ids)
    const files = ids.map(id => {
      const file = found.get(id)
      if (!file?.places.some(place => place.dataset === dataset.id)) throw new NotFound('file')
      return file
    })
    const top = new ArchiveFolder('dataset', dataset.id, dataset.name)
    top.files.push(...files.map(archiveFileOf))
    return { top, files }
  }

  /** Several datasets, one folder each; deleted ones and those in the trash are omitted. */
  async ofDatasets(ids: readonly string[]): Promise<ArchiveFolder> {
    const top = new ArchiveFolder('top')
    for (let at = 0; at < ids.length; at += pageSize) {
      const found = await this.#datasets.getMany(ids.slice(at, at + pageSize))
      for (const dataset of found.values()) if (dataset.state === 'live') top.subfolders.push(await this.ofDataset(dataset))
    }
    return top
  }

  /** Files at the paths that the caller specifies. */
  async ofFiles(files: Iterable<FileInArchive> | AsyncIterable<FileInArchive>): Promise<ArchiveFolder> {
    const top = new ArchiveFolder('top')
    const known = new Map<string, ArchiveFolder>()
    const folderAt = (folders: readonly string[]): ArchiveFolder => {
      const key = folders.join('\0')
      const name = folders.at(-1)
      if (name === undefined) return top
      const archiveFolder = known.get(key) ?? new ArchiveFolder('folder', String(known.size + 1), name)
      if (!known.has(key)) {
        known.set(key, archiveFolder)
        folderAt(folders.slice(0, -1)).subfolders.push(archiveFolder)
      }
      return archiveFolder
    }
    for await (const { file, folders } of files) folderAt(folders).files.push(archiveFileOf(file))
    return top
  }
}
wire(ArchiveContents, Datasets, Files, Folders)

/** All items of a paginated list. */
export async function* each<T>(page: (after: { readonly after?: After }) => Promise<Page<T>>): AsyncGenerator<T> {
  let after: After | undefined
  do {
    const { items, next } = await page(after ? { after } : {})
    yield* items
    after = next
  } while (after)
}
