import {
  type Archive,
  anonymousUserId,
  authorize,
  type Caller,
  Clock,
  collection,
  type DatasetRecord,
  Datasets,
  DocumentStore,
  eq,
  type FileRecord,
  Files,
  Folders,
  Ids,
  NotFound,
  type Place,
  Policy,
  type Ref,
  range,
  type Stored,
  type Time,
  wire,
} from 'pounce/sdk'
import { allowsDownload, type FileInArchive, personalRecords, removeFound } from 'pounce/sdk/kit'
import { ArchiveContents, each } from './archive-contents.ts'
import { ArchiveWriter } from './archive-writer.ts'

type File = FileRecord & Stored

/** A selection of resources to download together. */
interface ChosenRecord {
  readonly owner: string
  readonly resources: readonly Ref[]
  /** The dataset whose path is used for files that are in several. */
  readonly dataset: string | null
  readonly name: string | null
  readonly expires: Time
}

export const chosenArchives = collection<ChosenRecord>()('chosen-archives', { byExpiry: { on: ['expires'] }, byOwner: { on: ['owner'] } })

export const PersonalArchives = personalRecords({
  name: 'archives',
  summary: 'Your selections of files and folders for download, from the last day.',
  in: chosenArchives,
  find: ({ id }) => ({ using: 'byOwner', where: eq('owner', id) }),
  isOf: ({ owner }, { id }) => owner === id,
  show: ({ id, resources, expires }) => ({ id, resources, expires }),
  erase: () => 'remove',
})

/** The contents of one archive. */
export interface ArchiveSelection {
  readonly resources: readonly Ref[]
  readonly dataset?: string | undefined
  readonly name?: string | undefined
}

/** The selected resources, before their contents are read. */
interface Roots {
  readonly files: readonly { readonly id: string; readonly place: Place | undefined }[]
  readonly folders: readonly string[]
  readonly datasets: readonly string[]
  /** Names of the folders for datasets, if there are several. */
  readonly tops: ReadonlyMap<string, readonly string[]>
  readonly filename: string
}

const lifeMs = 24 * 60 * 60 * 1000
const pageSize = 1000

/** One ZIP of selected files, folders and datasets, with their paths. */
export class ChosenArchives {
  readonly #documents: DocumentStore
  readonly #datasets: Datasets
  readonly #files: Files
  readonly #folders: Folders
  readonly #policy: Policy
  readonly #contents: ArchiveContents
  readonly #writer: ArchiveWriter
  readonly #ids: Ids
  readonly #clock: Clock

  constructor(
    documents: DocumentStore,
    datasets: Datasets,
    files: Files,
    folders: Folders,
    policy: Policy,
    contents: ArchiveContents,
    writer: ArchiveWriter,
    ids: Ids,
    clock: Clock,
  ) {
    this.#documents = documents
    this.#datasets = datasets
    this.#files = files
    this.#folders = folders
    this.#policy = policy
    this.#contents = contents
    this.#writer = writer
    this.#ids = ids
    this.#clock = clock
  }

  /** Stores a selection, of which the caller may download everything, with a summary of its contents. */
  async create(
    caller: Caller,
    chosen: ArchiveSelection,
  ): Promise<{ readonly id: string; readonly expires: Time; readonly archive: Archive }> {
    const archive = await this.#archive(caller, chosen)
    const id = this.#ids.next()
    const expires = new Date(this.#clock.now().getTime() + lifeMs).toISOString()
    const { resources, dataset = null, name = null } = chosen
    await this.#documents.commit({ insert: { id, owner: ownerOf(caller), resources, dataset, name, expires }, into: chosenArchives })
    return { id, expires, archive }
  }

  /** The archive with the current contents. Rights are checked again; another user's selection is `NotFound`. */
  async open(caller: Caller, id: string): Promise<Archive> {
    const chosen = await this.#documents.get(chosenArchives, id)
    if (chosen?.owner !== ownerOf(caller) || chosen.expires <= this.#clock.now().toISOString()) throw new NotFound('archive')
    const { resources, dataset, name } = chosen
    return this.#archive(caller, { resources, dataset: dataset ?? undefined, name: name ?? undefined })
  }

  /** Deletes expired archives. */
  async run(signal: AbortSignal): Promise<void> {
    const where = range('expires', { lte: this.#clock.now().toISOString() })
    await removeFound(this.#documents, chosenArchives, { using: 'byExpiry', where, signal })
  }

  async #archive(caller: Caller, chosen: ArchiveSelection): Promise<Archive> {
    await this.#authorizeAll(caller, chosen.resources)
    const roots = await this.#roots(caller, chosen)
    return this.#writer.plain(await this.#contents.ofFiles(this.#filesOf(roots)), roots.filename)
  }

  async #authorizeAll(caller: Caller, resources: readonly Ref[]): Promise<void> {
    for (const [kind, some] of Map.groupBy(resources, ref => ref.kind)) {
      const ids = some.map(({ id }) => id)
      const allowed = await this.#policy.allowed(caller, 'DownloadFiles', kind, ids)
      const refused = ids.filter(id => !allowed.has(id))
      const licensed = kind === 'file' ? await this.#licensed(caller, refused) : new Set<string>()
      const first = refused.find(id => !licensed.has(id))
      if (first !== undefined) await authorize(this.#policy, caller, 'DownloadFiles', { kind, id: first })
    }
  }

  /** Files whose license lets everyone who may view them download them. */
  async #licensed(caller: Caller, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const seen = await this.#policy.allowed(caller, 'ViewFile', 'file', ids)
    const files = await inPages([...seen], some => this.#files.getMany(some))
    return new Set([...files.values()].filter(({ license }) => allowsDownload(license)).map(({ id }) => id))
  }

  async #roots(caller: Caller, { resources, dataset, name }: ArchiveSelection): Promise<Roots> {
    const idsOf = (kind: Ref['kind']) => [...new Set(resources.filter(ref => ref.kind === kind).map(({ id }) => id))]
    const found = await inPages(idsOf('file'), ids => this.#files.getMany(ids))
    const places = [...new Set([...found.values()].flatMap(file => file.places.map(place => place.dataset)))]
    const seen = await this.#policy.allowed(caller, 'ViewDataset', 'dataset', places)
    const files = idsOf('file').map(id => ({ id, place: placeOf(existing(found, id, 'file'), dataset, seen) }))
    const folders = await inPages(idsOf('folder'), ids => this.#folders.getMany(ids))
    const owners = idsOf('folder').map(id => existing(folders, id, 'folder').dataset)
    const inside = [...new Set([...files.flatMap(({ place }) => place?.dataset ?? []), ...owners, ...idsOf('dataset')])]
    const datasets = await inPages(inside, ids => this.#datasets.getMany(ids))
    const [only, ...more] = datasets.values()
    const title = name ?? (only && more.length === 0 ? `${only.name} (Partial)` : 'files')
    const tops = new Map(more.length === 0 ? [] : topsOf([...datasets.values()]))
    return { files, folders: idsOf('folder'), datasets: idsOf('dataset'), tops, filename: `${title}.zip` }
  }

  /** Each file once per path. */
  async *#filesOf({ files, folders, datasets, tops }: Roots): AsyncIterable<FileInArchive> {
    const yielded = new Set<string>()
    const isNew = ({ file, folders: path }: FileInArchive): boolean => {
      const key = `${file.id} ${path.join('/')}`
      if (yielded.has(key)) return false
      yielded.add(key)
      return true
    }
    for await (const one of this.#chosenFiles(files, tops)) if (isNew(one)) yield one
    for (const id of folders) for await (const one of this.#inFolder(id, tops)) if (isNew(one)) yield one
    for (const id of datasets) for await (const one of this.#inDataset(id, tops)) if (isNew(one)) yield one
  }

  async *#chosenFiles(chosen: Roots['files'], tops: Roots['tops']): AsyncIterable<FileInArchive> {
    for (let at = 0; at < chosen.length; at += pageSize) {
      const some = chosen.slice(at, at + pageSize)
      const files = await this.#files.getMany(some.map(({ id }) => id))
      const paths = await this.#folders.paths([...new Set(some.flatMap(({ place }) => place?.folder ?? []))])
      for (const { id, place } of some) {
        const path = place?.folder == null ? [] : (paths.get(place.folder) ?? [])
        yield { file: existing(files, id, 'file'), folders: [...(tops.get(place?.dataset ?? '') ?? []), ...path] }
      }
    }
  }

  async *#inFolder(id: string, tops: Roots['tops']): AsyncIterable<FileInArchive> {
    const top = await this.#folders.get(id)
    const path = (await this.#folders.paths([id])).get(id)
    if (!top || !path) throw new NotFound('folder')
    const waiting = [{ id, folders: [...(tops.get(top.dataset) ?? []), ...path] }]
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { id: at, folders } = next
      for await (const file of each(after => this.#files.in(at, { limit: pageSize, ...after }))) yield { file, folders }
      for await (const below of each(after => this.#folders.childrenOf(at, { limit: pageSize, ...after })))
        waiting.push({ id: below.id, folders: [...folders, below.displayName] })
    }
  }

  async *#inDataset(id: string, tops: Roots['tops']): AsyncIterable<FileInArchive> {
    const top = tops.get(id) ?? []
    let some: File[] = []
    const placed = async (): Promise<readonly FileInArchive[]> => {
      const places = some.flatMap(file => file.places.filter(({ dataset }) => dataset === id).map(place => ({ file, place })))
      const paths = await this.#folders.paths([...new Set(places.flatMap(({ place }) => place.folder ?? []))])
      some = []
      // Files in deleted folders are omitted.
      return places.flatMap(({ file, place }) => {
        const path = place.folder === null ? [] : paths.get(place.folder)
        return path ? [{ file, folders: [...top, ...path] }] : []
      })
    }
    for await (const file of this.#files.ofDataset(id)) {
      some.push(file)
      if (some.length === pageSize) yield* await placed()
    }
    yield* await placed()
  }
}
wire(ChosenArchives, DocumentStore, Datasets, Files, Folders, Policy, ArchiveContents, ArchiveWriter, Ids, Clock)

const ownerOf = ({ user }: Caller): string => user?.id ?? anonymousUserId

const existing = <T>(found: ReadonlyMap<string, T>, id: string, kind: Ref['kind']): T => {
  const record = found.get(id)
  if (!record) throw new NotFound(kind)
  return record
}

/** The location in the given dataset, otherwise the first one; only locations that the caller may view. */
const placeOf = ({ places }: File, dataset: string | undefined, seen: ReadonlySet<string>): Place | undefined => {
  const visible = places.filter(place => seen.has(place.dataset))
  return visible.find(place => place.dataset === dataset) ?? visible[0]
}

/** Distinct folder names for several datasets. */
const topsOf = (datasets: readonly (DatasetRecord & Stored)[]): readonly (readonly [string, readonly string[]])[] => {
  const counts = Map.groupBy(datasets, ({ name }) => name)
  return datasets.map(({ id, name }) => [id, [(counts.get(name)?.length ?? 0) > 1 ? `${name}_${id}` : name]])
}

const inPages = async <T>(
  ids: readonly string[],
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
): Promise<ReadonlyMap<string, T>> => {
  const found = new Map<string, T>()
  for (let at = 0; at < ids.length; at += pageSize) for (const [id, one] of await read(ids.slice(at, at + pageSize))) found.set(id, one)
  return found
}
