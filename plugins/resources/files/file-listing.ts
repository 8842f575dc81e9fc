import { type After, type Caller, type FileRecord, Files, Folders, type Place, Policy, type Stored, type s, wire } from 'pounce/sdk'
import { FileDownloads } from './file-downloads.ts'
import { type ListedFile, toListedFile } from './file-json.ts'

type File = FileRecord & Stored
type Row = s.Static<typeof ListedFile>

const pageSize = 200

/** Lists the files of a dataset as in v1: those in the root first, then those in folders. */
export class FileListing {
  #files: Files
  #folders: Folders
  #downloads: FileDownloads
  #policy: Policy

  constructor(files: Files, folders: Folders, downloads: FileDownloads, policy: Policy) {
    this.#files = files
    this.#folders = folders
    this.#downloads = downloads
    this.#policy = policy
  }

  /** Files directly in the dataset, by name. */
  async *root(dataset: string, withPaths: boolean): AsyncIterable<Row> {
    let after: After | undefined
    do {
      const page = await this.#files.in(dataset, { limit: pageSize, ...(after ? { after } : {}) })
      for (const file of page.items) yield toListedFile(file, undefined, withPaths ? await this.#downloads.pathOf(file) : undefined)
      after = page.next
    } while (after)
  }

  /** All files of the dataset, one row for each location; at most `max` rows. */
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
    const foldersOf = ({ places }: File): readonly string[] =>
      places.flatMap(place => (place.dataset === dataset && place.folder !== null ? [place.folder] : []))
    const folders = await this.#folders.getMany([...new Set(batch.flatMap(foldersOf))])
    for (const file of batch) {
      const path = withPaths ? await this.#downloads.pathOf(file) : undefined
      for (const id of foldersOf(file)) {
        const folder = folders.get(id)
        yield toListedFile(file, folder && { id: folder.id, name: folder.displayName }, path)
      }
    }
  }

  /** The names of the folders that lead to a file, for each location that the caller may view. */
  async pathsOf(
    file: File,
    caller: Caller,
  ): Promise<readonly { readonly dataset: string; readonly folder: string | null; readonly folders: readonly string[] }[]> {
    const places = await this.#seenPlaces(file, caller)
    const paths = await this.#folders.paths(places.flatMap(({ folder }) => (folder === null ? [] : [folder])))
    return places.map(({ dataset, folder }) => ({ dataset, folder, folders: folder === null ? [] : (paths.get(folder) ?? []) }))
  }

  /** Another user's file is visible through a dataset only: if it is in a single one, there is nothing to check. */
  async #seenPlaces({ places, author }: File, caller: Caller): Promise<readonly Place[]> {
    const datasets = [...new Set(places.map(({ dataset }) => dataset))]
    if (datasets.length === 0 || (datasets.length === 1 && author !== caller.user?.id)) return places
    const seen = await this.#policy.allowed(caller, 'ViewDataset', 'dataset', datasets)
    return places.filter(({ dataset }) => seen.has(dataset))
  }
}
wire(FileListing, Files, Folders, FileDownloads, Policy)
