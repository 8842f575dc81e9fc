import { type After, type FileRecord, Files, Folders, port, type Stored, type s, wire } from 'pounce/sdk'
import { type Downloads, FileDownloads } from './downloads.ts'
import { type ListedFile, toListedFile } from './file-json.ts'

type File = FileRecord & Stored
type Row = s.Static<typeof ListedFile>

const pageSize = 200

/** Lists the files of a dataset as v1 does: those in the root first, then those in folders. */
export class Listing {
  #files: Files
  #folders: Folders
  #downloads: Downloads

  constructor(files: Files, folders: Folders, downloads: Downloads) {
    this.#files = files
    this.#folders = folders
    this.#downloads = downloads
  }

  /** Files right in the dataset, by name. */
  async *root(dataset: string, withPaths: boolean): AsyncIterable<Row> {
    let after: After | undefined
    do {
      const page = await this.#files.in(dataset, { limit: pageSize, ...(after ? { after } : {}) })
      for (const file of page.items) yield toListedFile(file, undefined, withPaths ? await this.#downloads.pathOf(file) : undefined)
      after = page.next
    } while (after)
  }

  /** Every file of the dataset; `max` rows at most. */
  async *all(dataset: string, withPaths: boolean, max: number): AsyncIterable<Row> {
    let left = max
    for await (const row of this.root(dataset, withPaths)) {
      if (left-- <= 0) return
      yield row
    }
    let batch: File[] = []
    for await (const file of this.#files.ofDataset(dataset)) {
      if (!file.places.some(place => place.dataset === dataset && place.folder !== null)) continue
      batch.push(file)
      if (batch.length < pageSize) continue
      for await (const row of this.#inFolders(dataset, batch, withPaths)) {
        if (left-- <= 0) return
        yield row
      }
      batch = []
    }
    for await (const row of this.#inFolders(dataset, batch, withPaths)) {
      if (left-- <= 0) return
      yield row
    }
  }

  async *#inFolders(dataset: string, batch: readonly File[], withPaths: boolean): AsyncIterable<Row> {
    const folderOf = (file: File): string => file.places.find(place => place.dataset === dataset && place.folder !== null)?.folder ?? ''
    const folders = await this.#folders.getMany([...new Set(batch.map(folderOf))])
    for (const file of batch) {
      const folder = folders.get(folderOf(file))
      const path = withPaths ? await this.#downloads.pathOf(file) : undefined
      yield toListedFile(file, folder && { id: folder.id, name: folder.displayName }, path)
    }
  }

  /** The names of the folders that lead to a file, for each place it has. */
  async pathsOf(file: File): Promise<readonly { readonly dataset: string; readonly folders: readonly string[] }[]> {
    const ids = file.places.flatMap(place => (place.folder === null ? [] : [place.folder]))
    const paths = await this.#folders.paths(ids)
    return file.places.map(place => ({ dataset: place.dataset, folders: place.folder === null ? [] : (paths.get(place.folder) ?? []) }))
  }
}
wire(Listing, Files, Folders, FileDownloads)

export const FileListing = port<Listing>('files.listing')
