import { existsSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DocumentStore, Users } from 'pounce/sdk'
import type { Change } from 'pounce/sdk/store-kit'
import { bootForTest } from 'pounce/sdk/testing'
import { collections } from '../../plugins/resources/collections/collection.ts'
import { datasets } from '../../plugins/resources/datasets/collection.ts'
import { groups } from '../../plugins/resources/groups/collection.ts'
import { spaces } from '../../plugins/resources/spaces/stored-spaces.ts'
import { newKey, type Server, startPounce } from './servers.ts'

const spaceCount = 1000
/** Number of additional spaces that hold only some of the oldest datasets: the worst case for a list of the newest. */
const oldSpaces = 300
const shareInOldSpaces = 0.003
/** Nesting depth of collections, each with the same number of datasets. */
export const depth = 10
const editor = '0000000000000000000000a2'
const author = '000000000000000000000001'
const hex = (n: number): string => n.toString(16).padStart(24, '0')
const time = (n: number): string => new Date(1_600_000_000_000 + n * 1000).toISOString()

const spaceId = (n: number): string => hex(0x10 + (n % spaceCount))
const oldSpaceId = (n: number): string => hex(0x10 + spaceCount + (n % oldSpaces))
/** The collection at the top of a chain of them, or one below it; all in one space. */
export const collectionId = (chain: number, at: number): string => hex(0x9000_0000 + chain * depth + at)
/** A space of the member. It holds the first chain of collections with all its datasets, and the same number of datasets without a collection. */
export const firstSpace = spaceId(0)
const inFirst = depth * depth
const firstInOldSpaces = 2 * inFirst
export const datasetId = (n: number): string => hex(0x1_0000_0000 + n)
/** The title of exactly one dataset, at any size. */
export const needle = 'needle in the hay'

export const spaceRecord = (n: number) => ({
  id: hex(0x10 + n),
  name: `space ${n}`,
  description: '',
  author,
  created: time(n),
  homePage: [],
  logoUrl: null,
  bannerUrl: null,
  access: 'PRIVATE' as const,
  isPublic: false,
  timeToLiveMs: 0,
  isTimeToLiveEnabled: false,
  requests: [],
  state: 'live' as const,
  spaces: [hex(0x10 + n)],
})

const collectionRecord = (n: number) => {
  const [chain, at] = [Math.floor(n / depth), n % depth]
  const inSpace = [spaceId(chain * 7919)]
  return {
    id: collectionId(chain, at),
    name: `group ${n}`,
    description: '',
    author,
    created: time(n),
    parents: at === 0 ? [] : [collectionId(chain, at - 1)],
    spaces: inSpace,
    rootSpaces: at === 0 ? inSpace : [],
    thumbnail: null,
    isPublic: false,
    isTopLevel: at === 0,
    tags: [],
    state: 'live' as const,
    trashedAt: null,
  }
}

export const datasetRecord = (n: number, count: number) => {
  const chain = Math.floor(n / inFirst)
  const spread = n % 2 === 0 ? [spaceId(n * 7919)] : [spaceId(n * 7919), spaceId(n * 104_729)]
  return {
    id: datasetId(n),
    name: n === inFirst ? needle : `set ${n}`,
    description: 'z'.repeat(150),
    author,
    created: time(n),
    modified: time(n),
    access: 'DEFAULT' as const,
    isPublic: false,
    spaces: n < 2 * inFirst ? [firstSpace] : n < firstInOldSpaces + shareInOldSpaces * count ? [oldSpaceId(n)] : [...new Set(spread)],
    collections: chain === 1 ? [] : [collectionId(chain, Math.floor(n / depth) % depth)],
    thumbnail: null,
    creators: [],
    license: { type: 'license1', url: '', text: 'All Rights Reserved', rightsHolder: '', allowDownload: false },
    tags: [],
    statistics: { views: 0, downloads: 0, lastViewed: null, lastDownloaded: null },
    state: 'live' as const,
    trashedAt: null,
  }
}

export const insertAll = async <T extends object>(
  documents: DocumentStore,
  count: number,
  change: (n: number) => Change<T> & { readonly insert: T & { readonly id: string } },
): Promise<void> => {
  for (let n = 0; n < count; n += 1000) {
    const items = Array.from({ length: Math.min(1000, count - n) }, (_, at) => ({ change: change(n + at) }))
    for (const each of await documents.commitEach(items)) if (!each.ok) throw each.error
  }
}

const password = 'bench-bench-bench'
const inSpaces = (count: number, idOf: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => ({ space: idOf(at), role: editor }))
const group = { name: 'people of 300 spaces', description: '', source: 'local', external: null, author, created: time(0) }
const groupId = hex(0xa000_0000)

/** Callers and the number of their spaces: direct members, members through a group, of spaces with only the oldest datasets, and of none. */
const members = {
  some: { memberships: inSpaces(30, at => spaceId(at * 31)) },
  wide: { memberships: inSpaces(300, at => spaceId(at * 3)) },
  grouped: { memberships: [], groups: [groupId] },
  old: { memberships: inSpaces(oldSpaces, oldSpaceId) },
  none: { memberships: [] },
} as const
export type Member = keyof typeof members
export const emailOf = (member: string): string => `${member}@example.org`

/** Fills a data folder with `count` datasets in spaces and in collections nested ten deep, and users who may view some of them. */
const fill = async (folder: string, count: number): Promise<void> => {
  const server = await bootForTest({ folder, config: { access: { private: true }, documents: { sqlite: { cacheMiB: 1024 } } } })
  const documents = server.get(DocumentStore)
  await insertAll(documents, spaceCount + oldSpaces, n => ({ insert: spaceRecord(n), into: spaces }))
  await insertAll(documents, count / depth, n => ({ insert: collectionRecord(n), into: collections }))
  await insertAll(documents, count, n => ({ insert: datasetRecord(n, count), into: datasets }))
  await documents.commit({ insert: { id: groupId, ...group, memberships: members.wide.memberships }, into: groups })
  const users = server.get(Users)
  for (const [name, held] of Object.entries(members)) {
    const user = await users.create({ email: emailOf(name), firstName: 'B', lastName: 'M', status: 'Active', password })
    await users.change(user.id, { set: held }, [])
  }
  await server.stop()
}

/** A private server with many datasets, and the key of a member of thirty of its spaces. */
export interface FullServer {
  readonly server: Server
  readonly key: string
  /** The key of another member. */
  keyOf(member: Member): Promise<string>
}

const made = new Map<number, Promise<string>>()

/** In memory if there is such a file system: the millions of random writes of the setup are not measured. */
const workshop = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** A data folder that is filled in memory and then copied. */
export const filledFolder = async (fill: (draft: string) => Promise<void>): Promise<string> => {
  const [draft, folder] = [await mkdtemp(join(workshop, 'pounce-bench-')), await mkdtemp(join(tmpdir(), 'pounce-bench-'))]
  try {
    await fill(draft)
    await cp(draft, folder, { recursive: true })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return folder
}

const make = async (count: number): Promise<string> => {
  const at = performance.now()
  const folder = await filledFolder(draft => fill(draft, count))
  process.stderr.write(`${count} datasets created in ${Math.round((performance.now() - at) / 1000)} s\n`)
  return folder
}

/** The folder for a number of datasets; created once, because several workloads read it. */
export const folderOf = (count: number): Promise<string> => {
  const known = made.get(count)
  if (known) return known
  const making = make(count)
  made.set(count, making)
  return making
}

/** Otherwise everything would be indexed first, on the same cores; the lists and the tree do not use the search index. */
export const withoutSearch = (plugins: readonly string[]): readonly string[] =>
  plugins.filter(plugin => !/^(search|extractors)\.|^resources\.(search|status)$/.test(plugin))

export const startFull = async (count: number, plugins: readonly string[]): Promise<FullServer> => {
  const settings = { POUNCE_ACCESS__PRIVATE: 'true', POUNCE_PLUGINS: JSON.stringify(withoutSearch(plugins)) }
  const server = await startPounce({ folder: await folderOf(count), settings })
  const keyOf = (member: Member) => newKey(server, { email: emailOf(member), password })
  return { server, key: await keyOf('some'), keyOf }
}

/** Removes the folders of `startFull`. */
export const removeFolders = async (): Promise<void> => {
  for (const folder of made.values()) await rm(await folder, { recursive: true, force: true })
  made.clear()
}
