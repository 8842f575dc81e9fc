import { StartupError } from '../../kernel/startup-error.ts'
import { type ContentPlace, contentsOf, isNewer } from './dataset-contents.ts'
import type { ServerClient } from './server-client.ts'

/** Kinds that can be specified by id or page URL. */
type NamedKind = 'space' | 'collection' | 'dataset' | 'file'

/** A resource as specified on the command line. */
export interface TargetText {
  readonly text: string
  /** The page URL that it was specified by. */
  readonly page?: string
  readonly start?: { readonly kind: NamedKind; readonly id: string }
  readonly names: readonly string[]
  /** True for `photos/`: the contents rather than the folder itself. */
  readonly isContent: boolean
}

/** An existing resource. */
export type ResolvedTarget =
  | { readonly kind: 'root' }
  | { readonly kind: 'space' | 'collection'; readonly id: string; readonly name: string }
  | { readonly kind: 'dataset'; readonly id: string; readonly name: string }
  | { readonly kind: 'folder'; readonly id: string; readonly name: string; readonly dataset: string; readonly path: readonly string[] }
  | { readonly kind: 'file'; readonly id: string; readonly name: string; readonly size: number | undefined }

interface Found {
  readonly kind: string
  readonly id: string
  readonly name: string
  readonly created: string
}

const pages: Readonly<Record<string, NamedKind>> = { spaces: 'space', collections: 'collection', datasets: 'dataset', files: 'file' }

const namesIn = (path: string): readonly string[] =>
  path
    .split('/')
    .filter(name => name !== '')
    .map(name => name.normalize('NFC'))

const targetOfPage = (text: string): TargetText => {
  const url = URL.parse(text)
  const found = /\/(spaces|collections|datasets|files)\/([0-9a-f]{24})(?:\/|$)/.exec(url?.pathname ?? '')
  const kind = pages[found?.[1] ?? '']
  const id = found?.[2]
  if (!url || kind === undefined || id === undefined)
    throw new StartupError(`${text} is not the address of a space, collection, dataset or file: copy it from the page`)
  return { text, page: text, start: { kind, id }, names: [], isContent: false }
}

/** Parses `/Space/Dataset/folder`, `dataset:ID/folder` or a page URL. */
export const readTarget = (text: string): TargetText => {
  if (/^https?:\/\//i.test(text)) return targetOfPage(text)
  const isContent = text.length > 1 && text.endsWith('/')
  const typed = /^\/?(space|collection|dataset|file):([^/]*)(.*)$/s.exec(text)
  if (!typed) return { text, names: namesIn(text), isContent }
  const [, kind, id = '', rest = ''] = typed
  if (!/^[0-9a-f]{24}$/.test(id)) throw new StartupError(`${kind}:${id} is not an id: an id has 24 hex digits`)
  return { text, start: { kind: kind as NamedKind, id }, names: namesIn(rest), isContent }
}

const isNamed = (name: string) => (one: { readonly name: string }) => one.name.normalize('NFC') === name

/** The `title` parameter: a regular expression in Clowder v1, the exact name in Pounce. */
const titleOf = ({ kind }: ServerClient, name: string): string => (kind === 'pounce' ? name : name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))

interface Listed {
  readonly id: string
  readonly name?: string
  /** The name in lists of collections. */
  readonly collectionname?: string
  readonly created: string
}

/** The resources of a list, filtered by title if the server supports that. */
export async function* resourcesOf(client: ServerClient, path: string, kind: string, title?: string): AsyncIterable<Found> {
  const limit = client.kind === 'pounce' ? 1000 : 0
  for await (const { id, name, collectionname, created } of client.items<Listed>(path, { limit, title }))
    yield { kind, id, name: name ?? collectionname ?? '', created }
}

/** Servers store these names in the Unicode form in which they were sent. */
const named = async (client: ServerClient, path: string, kind: string, name: string): Promise<readonly Found[]> => {
  const found = new Map<string, Found>()
  for (const form of new Set([name, name.normalize('NFD')]))
    for await (const item of resourcesOf(client, path, kind, titleOf(client, form))) if (isNamed(name)(item)) found.set(item.id, item)
  return [...found.values()]
}

const one = (found: readonly Found[], name: string, where: string): Found | undefined => {
  if (found.length < 2) return found[0]
  const choices = found.map(({ kind, id, created }) => `  ${kind}:${id}  ${created}`).join('\n')
  throw new StartupError(`Several in ${where} are named ${JSON.stringify(name)}. Specify one by its id:\n${choices}`)
}

const spaceOrTop = async (client: ServerClient, name: string): Promise<Found | undefined> => {
  const spaces = await named(client, '/api/spaces', 'space', name)
  if (spaces.length > 0) return one(spaces, name, 'the list of spaces')
  const found = [
    ...(await named(client, '/api/collections', 'collection', name)),
    ...(await named(client, '/api/datasets', 'dataset', name)),
  ]
  return one(found, name, 'the server')
}

const childOf = async (client: ServerClient, { kind, id }: { readonly kind: string; readonly id: string }, name: string, where: string) => {
  const lists =
    kind === 'space'
      ? ([
          [`/api/spaces/${id}/collections`, 'collection'],
          [`/api/spaces/${id}/datasets`, 'dataset'],
        ] as const)
      : ([
          [`/api/collections/${id}/getChildCollections`, 'collection'],
          [`/api/collections/${id}/datasets`, 'dataset'],
        ] as const)
  const found: Found[] = []
  for (const [path, kindOfList] of lists) found.push(...(await named(client, path, kindOfList, name)))
  return one(found, name, where)
}

interface Walk {
  readonly target: ResolvedTarget
  /** The remaining names after the target, which do not exist. */
  readonly missing: readonly string[]
}

/** Resolves names within a dataset. Of several files with one name it returns the newest, because the others are older versions. */
const withinDataset = async (
  client: ServerClient,
  dataset: { readonly id: string; readonly name: string },
  names: readonly string[],
): Promise<Walk> => {
  let at: ResolvedTarget = { kind: 'dataset', ...dataset }
  let place: ContentPlace = { dataset: dataset.id }
  for (const [count, name] of names.entries()) {
    const found = await Array.fromAsync(contentsOf(client, place, { name }))
    const folders = found.filter(({ kind }) => kind === 'folder')
    const files = found.filter(({ kind }) => kind === 'file').sort((one, other) => (isNewer(one, other) ? -1 : 1))
    const isLast = count === names.length - 1
    const [folder] = folders
    const [file] = files
    if (folders.length > 1 || (folder && file && isLast))
      one(
        found.map(entry => ({ ...entry })),
        name,
        `dataset:${dataset.id}`,
      )
    if (folder) {
      const path = names.slice(0, count + 1)
      at = { kind: 'folder', id: folder.id, name, dataset: dataset.id, path }
      place = { dataset: dataset.id, folder: { id: folder.id, path } }
    } else if (file && isLast) return { target: { kind: 'file', id: file.id, name: file.name, size: file.size }, missing: [] }
    else return { target: at, missing: names.slice(count) }
  }
  return { target: at, missing: [] }
}

const startOf = async (
  client: ServerClient,
  { kind, id }: { readonly kind: NamedKind; readonly id: string },
): Promise<Found & { readonly size?: string }> => {
  if (kind !== 'file')
    return { kind, created: '', ...(await client.json<{ readonly id: string; readonly name: string }>('GET', `/api/${kind}s/${id}`)) }
  const { filename, size } = await client.json<{ readonly filename: string; readonly size: string }>('GET', `/api/files/${id}/metadata`)
  return { kind, id, name: filename, created: '', size }
}

/** Resolves the names as far as the resources exist. */
export const walk = async (client: ServerClient, { start, names, text }: TargetText): Promise<Walk> => {
  const [first, ...others] = names
  if (!start && first === undefined) return { target: { kind: 'root' }, missing: [] }
  let at = start ? await startOf(client, start) : await spaceOrTop(client, first ?? '')
  let left = start ? [...names] : others
  if (!at) return { target: { kind: 'root' }, missing: names }
  while (at.kind === 'space' || at.kind === 'collection') {
    const [name] = left
    const { kind, id, name: own }: { readonly kind: 'space' | 'collection'; readonly id: string; readonly name: string } = at as never
    const child: Found | undefined = name === undefined ? undefined : await childOf(client, at, name, `${kind}:${id}`)
    if (!child) return { target: { kind, id, name: own }, missing: left }
    at = child
    left = left.slice(1)
  }
  if (at.kind === 'dataset') return withinDataset(client, { id: at.id, name: at.name }, left)
  if (left.length > 0) throw new StartupError(`${text}: a file contains nothing`)
  const { size } = at as { readonly size?: string }
  return { target: { kind: 'file', id: at.id, name: at.name, size: size === undefined ? undefined : Number(size) }, missing: [] }
}

const inWords = (target: ResolvedTarget): string =>
  target.kind === 'root' ? 'on the server' : `in the ${target.kind} ${JSON.stringify(target.name)}`

export const notFound = ({ target, missing }: Walk): StartupError => {
  const list =
    target.kind === 'root'
      ? 'pounce ls'
      : `pounce ls ${target.kind === 'folder' ? `dataset:${target.dataset}/${target.path.join('/')}` : `${target.kind}:${target.id}`}`
  return new StartupError(`Nothing named ${JSON.stringify(missing[0])} ${inWords(target)}. To list the contents: ${list}`)
}

/** The specified resource. Throws if it does not exist or is ambiguous. */
export const resolveTarget = async (client: ServerClient, text: TargetText): Promise<ResolvedTarget> => {
  const found = await walk(client, text)
  if (found.missing.length > 0) throw notFound(found)
  return found.target
}

/** The location of a target in a dataset. */
export const placeOf = (target: ResolvedTarget): ContentPlace | undefined => {
  if (target.kind === 'dataset') return { dataset: target.id }
  return target.kind === 'folder' ? { dataset: target.dataset, folder: { id: target.id, path: target.path } } : undefined
}
