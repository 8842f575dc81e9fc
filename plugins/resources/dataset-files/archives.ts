import { Readable } from 'node:stream'
import {
  BlobStore,
  type Bytes,
  CorruptContent,
  type FileRecord,
  Files,
  Folders,
  Invalid,
  NotFound,
  port,
  type Stored,
  wire,
} from 'pounce/sdk'
import { archivePaths, type Placed } from './archive-paths.ts'
import { cut, type ZipEntry, zip, zipLength } from './zip.ts'

type File = FileRecord & Stored
type Item = Placed & { readonly file: File }

const batch = 500

/** Puts the files of datasets into ZIPs that are written while they are sent. */
export class Archives {
  #files: Files
  #folders: Folders
  #blobs: BlobStore

  constructor(files: Files, folders: Folders, blobs: BlobStore) {
    this.#files = files
    this.#folders = folders
    this.#blobs = blobs
  }

  /** All files of a dataset, in their folders; `entries` counts both. */
  async whole(dataset: string, filename: string): Promise<{ readonly bytes: Bytes; readonly entries: number }> {
    const { items, folders } = await this.#placed(dataset)
    return { bytes: this.#bytes(items, filename), entries: items.length + folders }
  }

  /** The files in a folder and below, with that folder at the top. `NotFound` for a folder of another dataset. */
  async folder(dataset: string, id: string, filename: (displayName: string) => string): Promise<Bytes> {
    const folder = await this.#folders.get(id)
    const path = folder?.dataset === dataset ? (await this.#folders.paths([id])).get(id) : undefined
    if (!folder || !path) throw new NotFound('folder')
    const { items: all } = await this.#placed(dataset)
    const below = all.filter(({ folders }) => path.every((name, at) => folders[at] === name))
    const items = below.map(item => ({ ...item, folders: item.folders.slice(path.length - 1) }))
    return this.#bytes(items, filename(folder.displayName))
  }

  /** Some files of a dataset, all in one folder. `NotFound` for a file that is not in the dataset. */
  async some(
    dataset: string,
    ids: readonly string[],
    filename: string,
  ): Promise<{ readonly bytes: Bytes; readonly files: readonly File[] }> {
    if (ids.length > 1000) throw new Invalid('At most 1,000 files can be named; download the dataset, or a folder of it')
    const found = await this.#files.getMany(ids)
    const files = ids.map(id => {
      const file = found.get(id)
      if (!file?.places.some(place => place.dataset === dataset)) throw new NotFound('file')
      return file
    })
    const items = files.map(file => ({ id: file.id, name: file.name, folders: [], file }))
    return { bytes: this.#bytes(items, filename), files }
  }

  /** Every file of a dataset at each place that it has there. What lies in a folder that is gone is gone as well. */
  async #placed(dataset: string): Promise<{ readonly items: readonly Item[]; readonly folders: number }> {
    const paths = new Map<string, readonly string[]>()
    let some: string[] = []
    const name = async (): Promise<void> => {
      for (const [id, path] of await this.#folders.paths(some)) paths.set(id, path)
      some = []
    }
    for await (const { id } of this.#folders.ofDataset(dataset)) {
      some.push(id)
      if (some.length === batch) await name()
    }
    await name()
    const items: Item[] = []
    for await (const file of this.#files.ofDataset(dataset)) {
      for (const place of file.places) {
        const folders = place.folder === null ? [] : paths.get(place.folder)
        if (place.dataset === dataset && folders) items.push({ id: file.id, name: file.name, folders, file })
      }
    }
    return { items, folders: paths.size }
  }

  #bytes(items: readonly Item[], filename: string): Bytes {
    const paths = archivePaths(items)
    const entries: ZipEntry[] = items.map(({ file }, at) => ({
      path: paths[at] as string,
      sizeBytes: file.sizeBytes,
      modified: new Date(file.created),
      open: () => this.#open(file),
    }))
    entries.sort((one, other) => (one.path < other.path ? -1 : 1))
    return {
      contentType: 'application/zip',
      filename,
      sizeBytes: zipLength(entries),
      // Pieces go through one by one: a stream of bytes would put them together again, which costs a copy.
      open: range => Readable.from(range ? cut(zip(entries), range) : zip(entries), { highWaterMark: 4 }),
    }
  }

  async #open(file: File): Promise<Readable> {
    const bytes = await this.#blobs.get(file.blob)
    if (!bytes) throw new CorruptContent(undefined, { cause: new Error(`the bytes ${file.blob} of file ${file.id} are gone`) })
    return bytes
  }
}
wire(Archives, Files, Folders, BlobStore)

export const DatasetArchives = port<Archives>('dataset-files.archives')
