import { existsSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Change, DocumentStore, Users } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { collections } from '../../plugins/resources/collections/collection.ts'
import { datasets } from '../../plugins/resources/datasets/collection.ts'
import { spaces } from '../../plugins/resources/spaces/collection.ts'
import { newKey, type Server, startPounce } from './servers.ts'

const spaceCount = 1000
/** Collections lie in each other, so many deep, each with as many datasets. */
export const depth = 10
const editor = '0000000000000000000000a2'
const author = '000000000000000000000001'
const hex = (n: number): string => n.toString(16).padStart(24, '0')
const time = (n: number): string => new Date(1_600_000_000_000 + n * 1000).toISOString()

const spaceId = (n: number): string => hex(0x10 + (n % spaceCount))
/** The collection at the top of a chain of them, or one below it; all in one space. */
export const collectionId = (chain: number, at: number): string => hex(0x9000_0000 + chain * depth + at)
/** A space that the member belongs to; the first chain of collections is in it with all its datasets, and so are as many in no collection. */
export const firstSpace = spaceId(0)
const inFirst = depth * depth
/** A title that one dataset has, whatever their number. */
export const needle = 'needle in the hay'

const spaceRecord = (n: number) => ({
  id: spaceId(n),
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
  spaces: [spaceId(n)],
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

const datasetRecord = (n: number) => {
  const chain = Math.floor(n / inFirst)
  const spread = n % 2 === 0 ? [spaceId(n * 7919)] : [spaceId(n * 7919), spaceId(n * 104_729)]
  return {
    id: hex(0x1_0000_0000 + n),
    name: n === inFirst ? needle : `set ${n}`,
    description: 'z'.repeat(150),
    author,
    created: time(n),
    modified: time(n),
    access: 'DEFAULT' as const,
    isPublic: false,
    spaces: n < 2 * inFirst ? [firstSpace] : [...new Set(spread)],
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

const insertAll = async <T extends object>(
  documents: DocumentStore,
  count: number,
  change: (n: number) => Change<T> & { readonly insert: T & { readonly id: string } },
): Promise<void> => {
  for (let n = 0; n < count; n += 1000) {
    const items = Array.from({ length: Math.min(1000, count - n) }, (_, at) => ({ change: change(n + at) }))
    for (const each of await documents.commitEach(items)) if (!each.ok) throw each.error
  }
}

const email = 'member@example.org'
const password = 'bench-bench-bench'

/** A data folder with so many datasets in a thousand spaces and in collections ten deep, and a member of thirty of the spaces. */
const fill = async (folder: string, count: number): Promise<void> => {
  const server = await bootForTest({ folder, config: { access: { private: true }, documents: { sqlite: { cacheMiB: 1024 } } } })
  const documents = server.get(DocumentStore)
  await insertAll(documents, spaceCount, n => ({ insert: spaceRecord(n), into: spaces }))
  await insertAll(documents, count / depth, n => ({ insert: collectionRecord(n), into: collections }))
  await insertAll(documents, count, n => ({ insert: datasetRecord(n), into: datasets }))
  const users = server.get(Users)
  const user = await users.create({ email, firstName: 'B', lastName: 'M', status: 'Active', password })
  const memberships = Array.from({ length: 30 }, (_, at) => ({ space: spaceId(at * 31), role: editor }))
  await users.change(user.id, { set: { memberships } }, [])
  await server.stop()
}

/** A private server over many datasets, and the key of a member of thirty of its thousand spaces. */
export interface FullServer {
  readonly server: Server
  readonly key: string
}

const made = new Map<number, Promise<string>>()

/** Made in memory where there is such a file system, for the millions of scattered writes are not what is measured. */
const workshop = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

const make = async (count: number): Promise<string> => {
  const [draft, folder] = [await mkdtemp(join(workshop, 'pounce-bench-')), await mkdtemp(join(tmpdir(), 'pounce-bench-'))]
  const at = performance.now()
  try {
    await fill(draft, count)
    await cp(draft, folder, { recursive: true })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  process.stderr.write(`${count} datasets made in ${Math.round((performance.now() - at) / 1000)} s\n`)
  return folder
}

/** The folder is made once for each number, as more than one workload reads it. */
const folderOf = (count: number): Promise<string> => {
  const known = made.get(count)
  if (known) return known
  const making = make(count)
  made.set(count, making)
  return making
}

/** A search index would be made of everything first, on the same two cores; lists and tree do not ask it. */
const withoutSearch = (plugins: readonly string[]): string =>
  JSON.stringify(plugins.filter(plugin => !/^(search|extractors)\.|^resources\.(search|status)$/.test(plugin)))

export const startFull = async (count: number, plugins: readonly string[]): Promise<FullServer> => {
  const settings = { POUNCE_ACCESS__PRIVATE: 'true', POUNCE_PLUGINS: withoutSearch(plugins) }
  const server = await startPounce({ folder: await folderOf(count), settings })
  return { server, key: await newKey(server, { email, password }) }
}

/** Removes what `startFull` read. */
export const removeFolders = async (): Promise<void> => {
  for (const folder of made.values()) await rm(await folder, { recursive: true, force: true })
  made.clear()
}
