import { RequestRefused, type ServerClient } from './server-client.ts'

/** A folder or file of a dataset. */
export interface ContentEntry {
  readonly kind: 'folder' | 'file'
  readonly id: string
  readonly name: string
  /** Names of the folders between the listed folder and the entry. */
  readonly path: readonly string[]
  readonly size: number | undefined
  readonly created: string
}

interface Listed {
  readonly id: string
  readonly kind: 'folder' | 'file'
  readonly name: string
  readonly size: number | null
  readonly created: string
  readonly path?: readonly string[]
}

interface ListedFileOfClowder {
  readonly id: string
  readonly filename: string
  readonly size: string
  readonly 'date-created': string
  readonly folders?: { readonly id: string; readonly name: string }
}

/** A location in a dataset: its root, or a folder with its path from the root. */
export interface ContentPlace {
  readonly dataset: string
  readonly folder?: { readonly id: string; readonly path: readonly string[] }
}

type PageQuery = Parameters<ServerClient['page']>[1]

const pageSize = 1000

/** Converts Clowder v1 dates, which are in Java's format; dates with an unknown time zone are returned unchanged. */
export const isoDate = (text: string): string => {
  const time = Date.parse(text)
  return Number.isNaN(time) ? text : new Date(time).toISOString()
}

const namesIn = (path: string): readonly string[] => path.split('/').filter(name => name !== '')

interface PathOfFolder {
  readonly id: string
  readonly path: readonly string[]
}

/** Viewers may not list folders in Clowder v1, so folder paths are derived from the path of one file in each. */
const foldersOf = async (
  client: ServerClient,
  dataset: string,
  files: readonly ListedFileOfClowder[],
): Promise<readonly PathOfFolder[]> => {
  try {
    const listed = await client.json<readonly { readonly id: string; readonly name: string }[]>('GET', `/api/datasets/${dataset}/folders`)
    return listed.map(({ id, name }) => ({ id, path: namesIn(name) }))
  } catch (error) {
    if (!(error instanceof RequestRefused) || ![401, 403].includes(error.status)) throw error
    const one = new Map(files.flatMap(file => (file.folders ? [[file.folders.id, file.id] as const] : [])))
    const found: PathOfFolder[] = []
    for (const [id, file] of one) {
      const { path } = await client.json<{ readonly path: string }>('GET', `/api/files/${file}/metadata`)
      found.push({ id, path: namesIn(path) })
    }
    return found
  }
}

const isBelow = (path: readonly string[], top: readonly string[]): boolean => top.every((name, at) => path[at] === name)

/** The complete contents of a dataset from Clowder v1, which has no pagination. */
const contentsByClowder = async (client: ServerClient, { dataset, folder }: ContentPlace): Promise<readonly ContentEntry[]> => {
  const files = await client.json<readonly ListedFileOfClowder[]>('GET', `/api/datasets/${dataset}/files`)
  const folders = await foldersOf(client, dataset, files)
  const paths = new Map(folders.map(({ id, path }) => [id, path]))
  const top = folder?.path ?? []
  const entries: ContentEntry[] = [
    ...folders.map(({ id, path }) => ({
      ...{ kind: 'folder' as const, id, name: path.at(-1) ?? '', path: path.slice(0, -1), size: undefined, created: '' },
    })),
    ...files.map(file => ({
      ...{ kind: 'file' as const, id: file.id, name: file.filename, size: Number(file.size), created: isoDate(file['date-created']) },
      path: file.folders ? (paths.get(file.folders.id) ?? [file.folders.name]) : [],
    })),
  ]
  return entries.filter(({ path }) => isBelow(path, top)).map(entry => ({ ...entry, path: entry.path.slice(top.length) }))
}

/** Folders and files at a location; with `isDeep` also in all folders below. `name` filters entries by name. */
export async function* contentsOf(
  client: ServerClient,
  place: ContentPlace,
  { isDeep = false, name }: { readonly isDeep?: boolean; readonly name?: string } = {},
): AsyncIterable<ContentEntry> {
  if (client.kind === 'clowder') {
    for (const entry of await contentsByClowder(client, place))
      if ((isDeep || entry.path.length === 0) && (name === undefined || entry.name === name)) yield entry
    return
  }
  const path = `/api/datasets/${place.dataset}/entries`
  const filter = name === undefined ? {} : { filter: name.slice(0, 200) }
  let query: PageQuery | undefined = {
    ...{ limit: pageSize, recursive: isDeep, ...filter },
    ...(place.folder && { folder: place.folder.id }),
  }
  while (query) {
    const page: { readonly body: { readonly entries: readonly Listed[] }; readonly next: PageQuery | undefined } = await client.page(
      path,
      query,
    )
    for (const { id, kind, name: own, size, created, path: above = [] } of page.body.entries)
      if (name === undefined || own === name) yield { kind, id, name: own, size: size ?? undefined, created, path: above }
    query = page.next
  }
}

/** All files below a location by relative path, and its folders. Of several files with one path `files` contains the newest: the others are older versions. */
export const treeOf = async (
  client: ServerClient,
  place: ContentPlace,
): Promise<{
  readonly files: ReadonlyMap<string, ContentEntry>
  readonly folders: ReadonlyMap<string, ContentEntry>
  /** The older versions of files, by path. */
  readonly older: ReadonlyMap<string, readonly ContentEntry[]>
}> => {
  const files = new Map<string, ContentEntry>()
  const folders = new Map<string, ContentEntry>()
  const older = new Map<string, ContentEntry[]>()
  for await (const entry of contentsOf(client, place, { isDeep: true })) {
    const path = [...entry.path, entry.name].join('/')
    if (entry.kind === 'folder') folders.set(path, entry)
    else {
      const known = files.get(path)
      const isNewest = !known || isNewer(entry, known)
      if (known) older.set(path, [...(older.get(path) ?? []), isNewest ? known : entry])
      if (isNewest) files.set(path, entry)
    }
  }
  return { files, folders, older }
}

/** Ids increase with time, which decides between files of the same second, or with dates in an unknown time zone. */
export const isNewer = (one: ContentEntry, other: ContentEntry): boolean => {
  const aheadMs = Date.parse(one.created) - Date.parse(other.created)
  return aheadMs === 0 || Number.isNaN(aheadMs) ? one.id > other.id : aheadMs > 0
}
