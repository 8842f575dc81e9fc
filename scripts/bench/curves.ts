/**
 * `npm run bench:curves`: the cost of a request as the collection that it reads grows, with one server per size, measured alternately.
 * `--sizes 1000,100000` selects the sizes; `--write` draws docs/performance/curves.svg and updates the table in docs/performance.md. A million of
 * everything takes 5 GiB of disk.
 */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Datasets, DocumentStore, SearchIndex, Users } from 'pounce/sdk'
import type { SearchDocument } from 'pounce/sdk/search'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { activity } from '../../plugins/resources/activity/feed-names.ts'
import { datasets } from '../../plugins/resources/datasets/collection.ts'
import { EntryIndex, maxSorted } from '../../plugins/resources/entries/entry-index.ts'
import { files } from '../../plugins/resources/files/collection.ts'
import { spaces } from '../../plugins/resources/spaces/stored-spaces.ts'
import { users } from '../../plugins/resources/users/collections.ts'
import { type Curve, drawCurves, shownExponent } from './draw-curves.ts'
import { fileRecord } from './entry-records.ts'
import { load, request } from './load.ts'
import { datasetRecord, filledFolder, insertAll, spaceRecord, withoutSearch } from './many-datasets.ts'
import { account, cpuMsOf, newKey, type Server, startPounce } from './servers.ts'
import { median, round } from './table.ts'

const { values } = parseArgs({
  options: { sizes: { type: 'string', default: '1000,10000,100000,1000000' }, write: { type: 'boolean', default: false } },
})
const sizes = values.sizes.split(',').map(Number)
const rounds = 5
const seconds = 1
const root = join(import.meta.dirname, '../..')
const { plugins } = JSON.parse(await readFile(join(root, 'config/default.json'), 'utf8')) as { plugins: readonly string[] }
const viewer = '0000000000000000000000a1'
const idOf = (n: number): string => (0xd_0000_0000 + n).toString(16).padStart(24, '0')
const timeOf = (n: number): string => new Date(1_600_000_000_000 + n * 1000).toISOString()

/** A growing collection, and a request that reads a page of it. */
interface Growing {
  readonly name: string
  readonly path: string
}

interface Grown {
  readonly folder: string
  readonly plugins: readonly string[]
  readonly growing: readonly Growing[]
}

/** A new data folder, and the result of filling it. */
const filled = async <T>(plugins: readonly string[], fill: (server: TestServer) => Promise<T>): Promise<{ folder: string; result: T }> => {
  let result: T | undefined
  const folder = await filledFolder(async draft => {
    const server = await bootForTest({ folder: draft, plugins, config: { admin: account, documents: { sqlite: { cacheMiB: 1024 } } } })
    result = await fill(server)
    await server.drained(3_600_000)
    await server.stop()
  })
  return { folder, result: result as T }
}

/** Creates `count` datasets, files in one dataset, members of one space, and entries in one user's feed. */
const growRecords = async (count: number): Promise<Grown> => {
  const kept = withoutSearch(plugins)
  const { folder, result } = await filled(kept, async server => {
    const documents = server.get(DocumentStore)
    const author = await server.get(Users).byEmail(account.email)
    if (!author) throw new Error('There is no administrator')
    const { id: dataset } = await server.get(Datasets).create({ name: 'large', author: author.id })
    const space = idOf(0)
    const { id: _, revision: _revision, ...person } = author
    const named = (n: number) => ({ email: `p${n}@example.org`, firstName: `P${n}`, lastName: 'M', sortFirst: `p${n}`, sortLast: `m ${n}` })
    const memberships = [{ space, role: viewer }]
    const line = { user: author.id, type: 'create_dataset', objectName: 'set', source: null, sourceName: '', target: null }
    await documents.commit({ insert: { ...spaceRecord(0), id: space, author: author.id, spaces: [space] }, into: spaces })
    await insertAll(documents, count, n => ({ insert: datasetRecord(n, count), into: datasets }))
    await insertAll(documents, count, n => ({ insert: fileRecord(n, dataset, author.id), into: files }))
    await insertAll(documents, count, n => ({
      insert: { ...person, id: idOf(n + 1), ...named(n), status: 'Active' as const, created: timeOf(n), memberships },
      into: users,
    }))
    await insertAll(documents, count, n => ({
      insert: { ...line, id: idOf(n + 1), object: { kind: 'dataset' as const, id: dataset }, within: [], audience: [], at: timeOf(n) },
      into: activity,
    }))
    if (count > maxSorted) await server.get(EntryIndex).request(dataset)
    return { dataset, space }
  })
  const growing = [
    { name: 'datasets: the 50 newest', path: '/api/datasets?limit=50' },
    { name: 'files in one dataset: 100 by name', path: `/api/datasets/${result.dataset}/entries?limit=100` },
    { name: 'members of one space: the first 50', path: `/api/spaces/${result.space}/members?limit=50` },
    { name: 'events: the 50 newest of a feed', path: '/api/events?limit=50' },
  ]
  return { folder, plugins: kept, growing }
}

async function* taggedDocuments(count: number): AsyncGenerator<SearchDocument> {
  for (let n = 1; n <= count; n += 1) {
    yield {
      ...{ id: idOf(n), kind: 'dataset', revision: 1, name: `set ${n}`, description: 'tagged', created: new Date(timeOf(n)) },
      ...{ creator: idOf(0), creatorName: 'P M', creatorEmail: 'p@example.org', comments: [], metadata: [], childOf: [] },
      ...{ tags: [`tag ${n}`, 'common'], spaces: [idOf(0)], isPublic: true, isListed: true },
    }
  }
}

/** Creates `count` tags, each on one dataset in the search index. */
const growTags = async (count: number): Promise<Grown> => {
  const { folder } = await filled(plugins, server => server.get(SearchIndex).rebuild(taggedDocuments(count)))
  return { folder, plugins, growing: [{ name: 'tags: 50 that begin with the same letters', path: '/api/tags?prefix=tag%2010&limit=50' }] }
}

interface Asked extends Growing {
  readonly server: Server
  readonly key: string
  readonly cpuMs: number[]
}

const measure = async ({ server, key, path, cpuMs }: Asked): Promise<void> => {
  const next = () => request('GET', path, { 'x-api-key': key })
  const before = await cpuMsOf(server.pid)
  const measured = await load({ port: server.port, connections: 1, seconds, warmUpSeconds: 0, newState: () => undefined, next })
  if (measured.errors > 0) throw new Error(`${path}: ${measured.errors} error responses`)
  cpuMs.push(((await cpuMsOf(server.pid)) - before) / (measured.requestsPerSecond * seconds))
}

/** The curves of one kind of folder. All sizes run at the same time and are measured alternately, under the same conditions. */
const curvesOf = async (grow: (count: number) => Promise<Grown>): Promise<readonly Curve[]> => {
  const servers: Server[] = []
  const folders: string[] = []
  const requested: Asked[][] = []
  for (const count of sizes) {
    const from = performance.now()
    const grown = await grow(count)
    process.stderr.write(`${count.toLocaleString('en')} created in ${Math.round((performance.now() - from) / 1000)} s\n`)
    folders.push(grown.folder)
    const server = await startPounce({ folder: grown.folder, settings: { POUNCE_PLUGINS: JSON.stringify(grown.plugins) } })
    servers.push(server)
    const key = await newKey(server)
    requested.push(grown.growing.map(each => ({ ...each, server, key, cpuMs: [] })))
  }
  const curves: Curve[] = []
  for (const [at, { name, path }] of (requested[0] ?? []).entries()) {
    const line = requested.flatMap(each => each[at] ?? [])
    // Warm-up: unoptimized code is several times slower.
    for (const each of line) await measure({ ...each, cpuMs: [] })
    for (let n = 0; n < rounds; n += 1) for (const each of n % 2 === 0 ? line : line.toReversed()) await measure(each)
    curves.push({ name, path, points: line.map(({ cpuMs }, n) => ({ size: sizes[n] ?? 0, cost: median(cpuMs) })) })
  }
  for (const server of servers) await server.stop()
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
  return curves
}

const curves = [...(await curvesOf(growRecords)), ...(await curvesOf(growTags))]
const table = [
  `| Processor time of a request, ms | ${sizes.map(size => size.toLocaleString('en')).join(' | ')} | Exponent |`,
  `|---|${sizes.map(() => '---').join('|')}|---|`,
  ...curves.map(({ name, points }) => `| ${name} | ${points.map(({ cost }) => round(cost)).join(' | ')} | ${shownExponent(points)} |`),
].join('\n')
process.stdout.write(`${table}\n`)
if (values.write) {
  await writeFile(join(root, 'docs/performance/curves.svg'), drawCurves(curves))
  const page = join(root, 'docs/performance.md')
  const marked = /<!-- curves -->[\s\S]*<!-- \/curves -->/
  await writeFile(
    page,
    (await readFile(page, 'utf8')).replace(marked, () => `<!-- curves -->\n\n${table}\n\n<!-- /curves -->`),
  )
}
process.exit(0)
