import type { FileRecord, FolderRecord, Stored } from 'pounce/sdk'
import { compareKeys, type EntryKey, entryNameKey, sortOf, typeKey } from './entry-order.ts'
import { type EntryListQuery, type EntryRow, type EntryRows, fileRow, folderRow } from './entry-rows.ts'

type Folder = FolderRecord & Stored
type File = FileRecord & Stored

interface Listed {
  readonly row: EntryRow
  readonly key: EntryKey
}

const keyOf = (row: EntryRow, { sort }: EntryListQuery): EntryKey => {
  const by = sortOf(row.kind, sort)
  const nameKey = by === 'name' || by === 'type' ? entryNameKey(row.name) : ''
  const key = { name: nameKey, type: typeKey(row.type ?? '', nameKey), size: row.size ?? 0, created: row.created }[by]
  return [key, row.id]
}

/** Names of the folders from the listed one down to a folder, inclusive; none for a folder elsewhere or with a deleted ancestor. */
class FolderPaths {
  #folders: ReadonlyMap<string, Folder>
  #top: string
  #known = new Map<string, readonly string[] | undefined>()

  constructor(folders: ReadonlyMap<string, Folder>, top: string) {
    this.#folders = folders
    this.#top = top
  }

  to(place: string): readonly string[] | undefined {
    if (place === this.#top) return []
    if (this.#known.has(place)) return this.#known.get(place)
    // Two concurrent moves can briefly leave a cycle.
    this.#known.set(place, undefined)
    const folder = this.#folders.get(place)
    const above = folder && this.to(folder.parent.id)
    const path = folder && above && [...above, folder.displayName]
    this.#known.set(place, path)
    return path
  }
}

/** A page of a dataset with few entries, all of which were read. */
export const sortedEntries = (
  all: { readonly folders: readonly Folder[]; readonly files: readonly File[] },
  query: EntryListQuery,
): EntryRows => {
  const { dataset, folder, recursive, filter } = query
  const top = folder ?? dataset
  const paths = new FolderPaths(new Map(all.folders.map(each => [each.id, each])), top)
  const counts = new Map<string, number>()
  const placesOf = (file: File) => file.places.filter(place => place.dataset === dataset)
  for (const { parent } of all.folders) counts.set(parent.id, (counts.get(parent.id) ?? 0) + 1)
  for (const file of all.files) for (const place of placesOf(file)) counts.set(place.in, (counts.get(place.in) ?? 0) + 1)
  const pathTo = (place: string): readonly string[] | undefined => (recursive || place === top ? paths.to(place) : undefined)
  const shown = (path: readonly string[]) => (recursive ? path : undefined)
  const folders = all.folders.flatMap(each => {
    const path = pathTo(each.parent.id)
    return path ? [folderRow(each, shown(path), counts.get(each.id) ?? 0)] : []
  })
  const files = all.files.flatMap(each => {
    for (const place of placesOf(each)) {
      const path = pathTo(place.in)
      if (path) return [fileRow(each, place.folder, shown(path))]
    }
    return []
  })
  const wanted = filter?.toLowerCase()
  const fits = ({ name }: EntryRow): boolean => wanted === undefined || name.toLowerCase().includes(wanted)
  return pageOf([folders.filter(fits), files.filter(fits)], query)
}

const pageOf = (parts: readonly [readonly EntryRow[], readonly EntryRow[]], query: EntryListQuery): EntryRows => {
  const { order, after, skip, limit } = query
  const sign = order === 'descending' ? -1 : 1
  const [folders, files] = parts.map(rows =>
    rows.map((row): Listed => ({ row, key: keyOf(row, query) })).toSorted((a, b) => sign * compareKeys(a.key, b.key)),
  ) as [Listed[], Listed[]]
  const entries = [...folders, ...files]
  const isBeyond = ({ row, key }: Listed): boolean => {
    if (!after || row.kind !== after.kind) return row.kind === 'file'
    return after.after === undefined || sign * compareKeys(key, after.after) > 0
  }
  const found = after ? entries.findIndex(isBeyond) : skip
  const start = found === -1 ? entries.length : found
  const page = entries.slice(start, start + limit)
  const last = page.at(-1)
  return {
    rows: page.map(({ row }) => row),
    next: last && start + limit < entries.length ? { kind: last.row.kind, after: last.key } : undefined,
    total: entries.length,
    totalBytes: files.reduce((sum, { row }) => sum + (row.size ?? 0), 0),
  }
}
