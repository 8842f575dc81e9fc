import { type FileRecord, Files, type FolderRecord, Folders, NotFound, type Stored, Unavailable, Users, wire } from 'pounce/sdk'
import { fullNameOf } from 'pounce/sdk/kit'
import { EntryIndex, maxSorted } from './entry-index.ts'
import { type EntryListQuery, type EntryRows, writeCursor } from './entry-rows.ts'
import { IndexedEntries } from './indexed-entries.ts'
import { sortedEntries } from './sorted-entries.ts'

type Folder = FolderRecord & Stored
type File = FileRecord & Stored

/** While a dataset is being indexed, at most this many entries are sorted for a request. */
const maxUnindexed = 5 * maxSorted

/** Lists the contents of a dataset or folder: folders first, then files. */
export class EntryListing {
  #index: EntryIndex
  #indexed: IndexedEntries
  #folders: Folders
  #files: Files
  #users: Users

  constructor(index: EntryIndex, indexed: IndexedEntries, folders: Folders, files: Files, users: Users) {
    this.#index = index
    this.#indexed = indexed
    this.#folders = folders
    this.#files = files
    this.#users = users
  }

  async page(query: EntryListQuery) {
    const { dataset, folder } = query
    if (folder !== undefined && (await this.#folders.datasetsOf([folder])).get(folder) !== dataset) throw new NotFound('folder')
    const { rows, next, ...totals } = await this.#rowsOf(query)
    const authors = await this.#users.getMany([...new Set(rows.map(({ author }) => author))])
    const entries = rows.map(row => {
      const author = authors.get(row.author)
      return { ...row, author: { id: row.author, fullName: author ? fullNameOf(author) : '' } }
    })
    return { entries, ...totals, next: next && writeCursor(next) }
  }

  async #rowsOf(query: EntryListQuery): Promise<EntryRows> {
    const { dataset } = query
    const state = await this.#index.stateOf(dataset)
    if (state === 'ready') return this.#indexed.page(query)
    const all = await this.#read(dataset)
    const count = all.folders.length + all.files.length
    if (state === 'none' && count > maxSorted) await this.#index.request(dataset)
    if (count > maxUnindexed) throw new Unavailable('The entries of this dataset are being indexed; try again')
    return sortedEntries(all, query)
  }

  /** All entries of a dataset, or one more than can be sorted. */
  async #read(dataset: string): Promise<{ readonly folders: readonly Folder[]; readonly files: readonly File[] }> {
    const [folders, files]: [Folder[], File[]] = [[], []]
    for await (const folder of this.#folders.ofDataset(dataset)) if (folders.push(folder) > maxUnindexed) break
    for await (const file of this.#files.ofDataset(dataset)) if (files.push(file) > maxUnindexed) break
    return { folders, files }
  }
}
wire(EntryListing, EntryIndex, IndexedEntries, Folders, Files, Users)
