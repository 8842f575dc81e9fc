import { and, contains, DocumentStore, eq, Files, type Find, Folders, Invalid, isIn, type Stored, type Where, wire } from 'pounce/sdk'
import { type EntryRecord, entries, entryIdOf, listed } from './entry-index.ts'
import { sortOf } from './entry-order.ts'
import { type EntryCursor, type EntryListQuery, type EntryRow, type EntryRows, fileRow, folderRow } from './entry-rows.ts'
import { EntryTotals } from './entry-totals.ts'

type Kind = 'folder' | 'file'
type Entry = EntryRecord & Stored

const indexes = { name: 'byName', size: 'bySize', created: 'byCreated', type: 'byType' } as const
const fields = { name: 'name', size: 'sizeBytes', created: 'created', type: 'type' } as const

/** Maximum number of folders whose lists are merged and summed. Beyond it, the entries of the whole dataset are read and filtered. */
const maxMerged = 999
/** Maximum number of descendant folders that are looked up. */
const maxFolders = 20_000
/** Entries are read and filtered in batches of this size, and in a limited number of batches per request. */
const maxScanned = 1000
const maxRounds = 4
/** Maximum number of files in several locations of a dataset that are queried separately. */
const maxSeveral = 1000

/** The location of the requested entries. */
interface Scope {
  /** The lists that contain them, by kind. */
  readonly at: (kind: Kind) => Where
  /** The lists contain other entries too; the requested ones are in one of these locations. */
  readonly within?: ReadonlySet<string>
  /** The listed folder and its descendants, if their lists are merged. */
  readonly merged?: readonly string[]
}

/** Lists the entries of an indexed dataset. */
export class IndexedEntries {
  #documents: DocumentStore
  #folders: Folders
  #files: Files
  #totals: EntryTotals

  constructor(documents: DocumentStore, folders: Folders, files: Files, totals: EntryTotals) {
    this.#documents = documents
    this.#folders = folders
    this.#files = files
    this.#totals = totals
  }

  async page(query: EntryListQuery): Promise<EntryRows> {
    const scope = await this.#scopeOf(query)
    const start = query.skip > 0 ? await this.#skipped(query, scope) : (query.after ?? { kind: 'folder' as const })
    const [found, totals] = await Promise.all([
      start ? this.#from(query, scope, start) : { items: [], next: undefined },
      this.#totalOf(query, scope),
    ])
    return { rows: await this.#rowsOf(query, found.items), next: found.next, ...totals }
  }

  async #scopeOf({ dataset, folder, recursive }: EntryListQuery): Promise<Scope> {
    if (!recursive) return { at: kind => eq('at', listed.in(kind, folder ?? dataset)) }
    const anywhere = (kind: Kind): Where => eq('at', listed.anywhere(kind, dataset))
    if (folder === undefined) return { at: anywhere }
    const places = await this.#below(folder)
    if (places.length > maxMerged + 1) return { at: anywhere, within: new Set(places) }
    return {
      at: kind =>
        isIn(
          'at',
          places.map(place => listed.in(kind, place)),
        ),
      merged: places,
    }
  }

  /** A folder and all its descendants. */
  async #below(folder: string): Promise<readonly string[]> {
    const found = [folder]
    let level: readonly string[] = found
    while (level.length > 0) {
      const next: string[] = []
      for (let from = 0; from < level.length; from += 500) {
        const where = isIn(
          'at',
          level.slice(from, from + 500).map(place => listed.in('folder', place)),
        )
        for await (const { entry } of this.#documents.scan(entries, { using: 'byName', where })) next.push(entry)
        if (found.length + next.length > maxFolders)
          throw new Invalid(`More than ${maxFolders} folders are below this one; list the dataset with recursive`)
      }
      found.push(...next)
      level = next
    }
    return found
  }

  /** Stored, not counted. Null with a name filter, and below more folders than are summed. */
  async #totalOf({ dataset, folder, recursive, filter }: EntryListQuery, { merged, within }: Scope) {
    if (filter !== undefined || within) return { total: null, totalBytes: null }
    const sums = await this.#totals.of(merged ?? [folder ?? dataset])
    if (merged) return this.#once(dataset, merged, { total: sums.folders + sums.files, totalBytes: sums.bytes })
    if (recursive) return { total: sums.allFolders + sums.allFiles, totalBytes: sums.allBytes }
    return { total: sums.folders + sums.files, totalBytes: sums.bytes }
  }

  /** Subtracts the repeated counts of files in several of these folders. */
  async #once(dataset: string, places: readonly string[], sums: { readonly total: number; readonly totalBytes: number }) {
    const where = eq('at', listed.severally(dataset))
    const { items, next } = await this.#documents.find(entries, { using: 'byName', where, limit: maxSeveral })
    if (next) return { total: null, totalBytes: null }
    const among = new Set(places)
    let { total, totalBytes } = sums
    for (const { places: all, sizeBytes } of items) {
      const more = Math.max(0, all.filter(place => among.has(place)).length - 1)
      total -= more
      totalBytes -= more * sizeBytes
    }
    return { total, totalBytes }
  }

  /** The start of the page after skipping this many entries; undefined when there are no more. */
  async #skipped(query: EntryListQuery, { at, within }: Scope): Promise<EntryCursor | undefined> {
    if (query.filter !== undefined || within)
      throw new Invalid('skip cannot be combined with filter, or with recursive below this many folders')
    let left = query.skip
    for (const kind of ['folder', 'file'] as const) {
      const count = kind === 'folder' ? await this.#documents.count(entries, { using: 'byName', where: at(kind), upTo: left }) : left
      if (kind === 'folder' && count < left) {
        left -= count
        continue
      }
      const after = await this.#documents.seek(entries, { ...inOrder(kind, query), where: at(kind), position: left })
      return after && cursorOf(kind, query, after)
    }
    return undefined
  }

  async #from(query: EntryListQuery, scope: Scope, start: EntryCursor) {
    const { dataset, limit, filter } = query
    const items: Entry[] = []
    let rounds = 0
    let after = start.after
    for (const kind of start.kind === 'folder' ? (['folder', 'file'] as const) : (['file'] as const)) {
      let isEnd = false
      while (!isEnd) {
        if (items.length >= limit || rounds === maxRounds) return { items, next: { kind, ...(after ? { after } : {}) } }
        rounds += 1
        const page: Awaited<ReturnType<typeof this.read>> = await this.read({
          ...inOrder(kind, query),
          where: and(scope.at(kind), ...(filter === undefined ? [] : [contains('text', filter)])),
          limit: limit - items.length,
          ...(after ? { after: [after[0], entryIdOf(dataset, after[1])] as const } : {}),
          ...(filter === undefined ? {} : { maxScanned }),
        })
        const { within } = scope
        items.push(...(within ? page.items.filter(({ places }) => places.some(place => within.has(place))) : page.items))
        after = page.next && cursorOf(kind, query, page.next).after
        isEnd = page.next === undefined
      }
    }
    return { items, next: undefined }
  }

  read(find: Find) {
    return this.#documents.find(entries, find)
  }

  /** Reads the current records: entries that were deleted or moved since are omitted. */
  async #rowsOf(query: EntryListQuery, items: readonly Entry[]): Promise<readonly EntryRow[]> {
    const idsOf = (kind: Kind) => items.flatMap(each => (each.kind === kind ? [each.entry] : []))
    const [folders, files] = await Promise.all([this.#folders.getMany(idsOf('folder')), this.#files.getMany(idsOf('file'))])
    const counts = await this.#totals.ofEach([...folders.keys()])
    const paths = await this.#pathsTo(query, items)
    return items.flatMap(({ kind, entry, places }): readonly EntryRow[] => {
      const place = places.find(each => paths.has(each))
      const path = place === undefined ? undefined : paths.get(place)
      if (place === undefined || path === undefined) return []
      const shown = query.recursive ? path : undefined
      const folder = folders.get(entry)
      const count = counts.get(entry)
      if (kind === 'folder')
        return folder?.parent.id === place ? [folderRow(folder, shown, (count?.folders ?? 0) + (count?.files ?? 0))] : []
      const file = files.get(entry)
      return file?.places.some(each => each.in === place) ? [fileRow(file, place === query.dataset ? null : place, shown)] : []
    })
  }

  /** Names of the folders from the listed one down to each entry's folder; absent if one of them is deleted. */
  async #pathsTo({ dataset, folder, recursive }: EntryListQuery, items: readonly Entry[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const top = folder ?? dataset
    if (!recursive) return new Map([[top, []]])
    const others = [...new Set(items.flatMap(({ places }) => places))].filter(place => place !== dataset)
    const ids = folder === undefined ? others : [...new Set([folder, ...others])]
    const all = new Map<string, readonly string[]>()
    for (let from = 0; from < ids.length; from += 1000)
      for (const [id, path] of await this.#folders.paths(ids.slice(from, from + 1000))) all.set(id, path)
    if (folder === undefined) return all.set(dataset, [])
    const above = all.get(folder)
    if (!above) return new Map()
    const isBelow = (path: readonly string[]): boolean => above.every((name, at) => path[at] === name)
    return new Map([...all].flatMap(([id, path]) => (isBelow(path) ? [[id, path.slice(above.length)] as const] : [])))
  }
}
wire(IndexedEntries, DocumentStore, Folders, Files, EntryTotals)

const inOrder = (kind: Kind, { sort, order }: EntryListQuery) => {
  const by = sortOf(kind, sort)
  return { using: indexes[by], sort: { by: fields[by], order } }
}

const cursorOf = (kind: Kind, { dataset }: EntryListQuery, after: readonly unknown[]): EntryCursor => ({
  kind,
  after: [after[0] as string | number, String(after[1]).slice(dataset.length + 1)],
})
