import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Datasets, DocumentStore, Users } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { EntryIndex, maxSorted } from '../../plugins/resources/entries/entry-index.ts'
import { files } from '../../plugins/resources/files/collection.ts'
import { fileRecord } from './entry-records.ts'
import { load, type Measured, request } from './load.ts'
import { account, newKey, type Server, startEntriesBaseline, startPounce } from './servers.ts'
import { median, type Row, round } from './table.ts'

const rows = 1000
const goalMs = 30

/** A data folder with one dataset of `count` files, and the dataset's id. */
export const fill = async (count: number) => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-bench-'))
  const server = await bootForTest({ folder, config: { admin: account } })
  const documents = server.get(DocumentStore)
  const author = (await server.get(Users).byEmail(account.email))?.id ?? ''
  const { id: dataset } = await server.get(Datasets).create({ name: 'large', author })
  for (let from = 0; from < count; from += 1000) {
    const items = Array.from({ length: Math.min(1000, count - from) }, (_, at) => {
      const insert = fileRecord(from + at, dataset, author)
      return { change: { insert, into: files } }
    })
    for (const each of await documents.commitEach(items)) if (!each.ok) throw each.error
  }
  const from = performance.now()
  if (count > maxSorted) await server.get(EntryIndex).request(dataset)
  await server.drained(600_000)
  process.stderr.write(`${count} entries indexed in ${Math.round(performance.now() - from)} ms\n`)
  await server.stop()
  return { folder, dataset }
}

interface Full {
  readonly server: Server
  readonly dataset: string
  readonly key: string
  readonly count: number
}

const ask = async ({ server, key }: Full, path: string) => {
  const answer = await fetch(server.url + path, { headers: { 'x-api-key': key } })
  if (!answer.ok) throw new Error(`${answer.status} ${path}`)
  return { link: /<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1], body: (await answer.json()) as { total: number | null } }
}

/** The URL of the page in the middle of the list. */
const middlePage = async (full: Full): Promise<string> => {
  let path = `/api/datasets/${full.dataset}/entries?limit=${rows}`
  for (let n = 0; n < full.count / rows / 2; n++) {
    const { link } = await ask(full, path)
    if (!link) break
    path = new URL(link).pathname + new URL(link).search
  }
  return path
}

/** `isBounded`: the cost is constant beyond a certain size, which is larger than the smaller dataset. */
const workloads: readonly {
  readonly name: string
  readonly isBounded?: boolean
  readonly pathIn: (full: Full) => string | Promise<string>
}[] = [
  { name: `${rows} entries by name`, pathIn: ({ dataset }) => `/api/datasets/${dataset}/entries?limit=${rows}` },
  { name: `${rows} entries from the middle`, pathIn: middlePage },
  {
    name: `a jump to the middle, 100 entries`,
    pathIn: ({ dataset, count }) => `/api/datasets/${dataset}/entries?limit=100&skip=${count / 2}`,
  },
  {
    name: `a jump to the middle of the files by size, largest first, 100 entries`,
    pathIn: ({ dataset, count }) =>
      `/api/datasets/${dataset}/entries?limit=100&recursive=true&sort=size&order=descending&skip=${count / 2}`,
  },
  {
    name: `${rows} largest files of all folders`,
    pathIn: ({ dataset }) => `/api/datasets/${dataset}/entries?limit=${rows}&recursive=true&sort=size&order=descending`,
  },
  {
    name: '4,000 names that a filter does not fit',
    isBounded: true,
    pathIn: ({ dataset }) => `/api/datasets/${dataset}/entries?limit=${rows}&filter=nowhere`,
  },
]

const measure = (port: number, path: string, key: string, seconds = 2): Promise<Measured> =>
  load({
    ...{ port, connections: 1, seconds, warmUpSeconds: 0, wantsBody: false },
    newState: () => undefined,
    next: () => request('GET', path, { 'x-api-key': key }),
  })

const figureOf = (all: readonly Measured[]) => {
  if (all.some(({ errors }) => errors > 0)) throw new Error('Some responses were errors')
  const [p50, p95] = [median(all.map(each => each.p50)), median(all.map(each => each.p95))]
  return { p50, p95, figure: `${round(p50)} ms, p95 ${round(p95)} ms` }
}

/** Lists of a dataset's files at two sizes, compared with the same rows from a bare index. All servers run at once and are measured alternately. */
export const entries = async (rounds: number, sizes: readonly [few: number, many: number]): Promise<readonly Row[]> => {
  const fulls: Full[] = []
  for (const count of sizes) {
    const { folder, dataset } = await fill(count)
    const server = await startPounce({ folder })
    fulls.push({ server, dataset, count, key: await newKey(server) })
  }
  const [few, many] = fulls as [Full, Full]
  if ((await ask(many, `/api/datasets/${many.dataset}/entries?limit=1`)).body.total !== many.count) throw new Error('The total is wrong')
  const bare = await startEntriesBaseline(many.count)
  const found: Row[] = []
  for (const { name, pathIn, isBounded } of workloads) {
    const paths = { few: await pathIn(few), many: await pathIn(many) }
    const taken = { few: [] as Measured[], many: [] as Measured[], bare: [] as Measured[] }
    for (let n = -1; n < rounds; n++) {
      const each = { few: await measure(few.server.port, paths.few, few.key), many: await measure(many.server.port, paths.many, many.key) }
      const beside = await measure(bare.port, '/', '')
      // Warm-up: unoptimized code is several times slower.
      if (n < 0) continue
      taken.few.push(each.few)
      taken.many.push(each.many)
      taken.bare.push(beside)
    }
    const workload = `entries · ${name}`
    const [a, b, c] = [figureOf(taken.few), figureOf(taken.many), figureOf(taken.bare)]
    const sizeOf = ({ count }: Full): string => `${count.toLocaleString('en')} files`
    found.push({ workload, subject: 'node:sqlite and node:http, 1,000 rows', figure: c.figure })
    found.push({ workload, subject: sizeOf(few), figure: a.figure })
    if (isBounded) {
      found.push({ workload, subject: sizeOf(many), figure: b.figure })
      continue
    }
    found.push({ workload, subject: `${sizeOf(many)}, to the smaller`, figure: b.figure, ratio: b.p50 / a.p50, goal: 1.3, isCeiling: true })
    found.push({
      workload,
      subject: `${sizeOf(many)}, p95 to ${goalMs} ms`,
      figure: b.figure,
      ratio: b.p95 / goalMs,
      goal: 1,
      isCeiling: true,
    })
  }
  for (const { stop, folder } of [few.server, many.server, bare]) {
    await stop()
    await rm(folder, { recursive: true, force: true })
  }
  return found
}
