import { mkdtemp, rm } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Datasets, DocumentStore, noStatistics, Users } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { files } from '../../plugins/resources/files/collection.ts'
import { percentile } from './load.ts'
import { memoryOf, newKey, type Server, startCsvBaseline, startPounce } from './servers.ts'
import { median, type Row, round, spread } from './table.ts'

const hex = (n: number): string => n.toString(16).padStart(24, '0')
const filesPerDataset = 100
const people = 50
/** Of a folder that was filled by `bootForTest`. */
const admin = { email: 'admin@example.org', password: 'correct-horse-battery' }

const record = (n: number, dataset: string, author: string) => {
  const created = new Date(1_600_000_000_000 + n * 1000).toISOString()
  return {
    id: hex(0x100000 + n),
    name: `measurement ${n}.csv`,
    originalName: `measurement ${n}.csv`,
    description: '',
    author,
    created,
    contentType: 'text/csv',
    sizeBytes: 4096 + n,
    sha256: hex(n).padStart(64, 'a'),
    blob: `files/${hex(n)}`,
    status: 'PROCESSED' as const,
    places: [{ dataset, folder: null, in: dataset }],
    thumbnail: null,
    showPreviews: 'DatasetLevel' as const,
    license: { type: 'license1', url: '', text: 'All Rights Reserved', rightsHolder: '', allowDownload: false },
    tags: [],
    statistics: { ...noStatistics, views: n % 7, lastViewed: n % 7 > 0 ? created : null },
    pendingJobs: [],
  }
}

/** A data folder with so many files of 50 people, 100 in a dataset. */
export const fillFiles = async (folder: string, count: number): Promise<void> => {
  const server = await bootForTest({ folder })
  const documents = server.get(DocumentStore)
  const users = server.get(Users)
  const authors: string[] = []
  for (let n = 0; n < people; n++) {
    const user = await users.create({ email: `p${n}@example.org`, firstName: 'Person', lastName: `Number ${n}`, status: 'Active' })
    authors.push(user.id)
  }
  let dataset = ''
  for (let n = 0; n < count; n += filesPerDataset * 5) {
    const items: { readonly change: { readonly insert: ReturnType<typeof record>; readonly into: typeof files } }[] = []
    for (let at = n; at < Math.min(count, n + filesPerDataset * 5); at++) {
      const author = authors[Math.floor(at / filesPerDataset) % people] ?? ''
      if (at % filesPerDataset === 0) dataset = (await server.get(Datasets).create({ name: `set ${at}`, author })).id
      items.push({ change: { insert: record(at, dataset, author), into: files } })
    }
    for (const each of await documents.commitEach(items)) if (!each.ok) throw each.error
  }
  await server.drained(600_000)
  await server.stop()
}

interface Measured {
  readonly rowsPerSecond: number
  readonly firstByteMs: number
  /** Of `/healthz`, asked all the while. */
  readonly healthP99Ms: number
  readonly peakMiB: number
}

/** Reads a whole answer; lines and the time to its first byte. */
const read = (url: string, headers: Readonly<Record<string, string>>): Promise<{ readonly lines: number; readonly firstByteMs: number }> =>
  new Promise((resolve, reject) => {
    const begin = performance.now()
    let firstByteMs = 0
    let lines = 0
    http
      .get(url, { headers, agent: false }, answer => {
        if (answer.statusCode !== 200) reject(new Error(`${answer.statusCode} ${url}`))
        answer.on('data', (chunk: Buffer) => {
          firstByteMs ||= performance.now() - begin
          for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1
        })
        answer.on('end', () => resolve({ lines, firstByteMs }))
        answer.on('error', reject)
      })
      .on('error', reject)
  })

const healthWhile = async (url: string, work: Promise<unknown>): Promise<number> => {
  const latencies: number[] = []
  let isOver = false
  const over = (): void => {
    isOver = true
  }
  work.then(over, over)
  const agent = new http.Agent({ keepAlive: true })
  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      http
        .get(`${url}/healthz`, { agent }, answer => {
          answer.resume()
          answer.on('end', resolve)
        })
        .on('error', reject)
    })
  while (!isOver) {
    const begin = performance.now()
    await ask()
    latencies.push(performance.now() - begin)
    await pause(2)
  }
  agent.destroy()
  return percentile(
    latencies.sort((a, b) => a - b),
    0.99,
  )
}

const measure = async (server: Server, path: string, headers: Readonly<Record<string, string>>, count: number): Promise<Measured> => {
  const begin = performance.now()
  const reading = read(server.url + path, headers)
  const healthP99Ms = await healthWhile(server.url, reading)
  const { lines, firstByteMs } = await reading
  const seconds = (performance.now() - begin) / 1000
  if (lines < count) throw new Error(`${lines} lines of ${count}`)
  return { rowsPerSecond: lines / seconds, firstByteMs, healthP99Ms, peakMiB: await memoryOf(server.pid, 'VmHWM') }
}

/** Workload 12: FileMetrics over so many files, beside a row iterator with csv-stringify. */
export const reports = async (rounds: number, count: number): Promise<readonly Row[]> => {
  const given = process.env['BENCH_FILES']
  const folder = given ?? (await mkdtemp(join(tmpdir(), 'pounce-bench-')))
  try {
    if (given === undefined) await fillFiles(folder, count)
    const baseline = await startCsvBaseline({ folder })
    const pounce = await startPounce({ folder })
    const headers = { 'x-api-key': await newKey(pounce, admin) }
    const idleMiB = await memoryOf(pounce.pid)
    const path = '/api/reports/metrics/files'
    const ours: Measured[] = []
    const theirs: Measured[] = []
    for (let round = 0; round < rounds; round++) {
      theirs.push(await measure(baseline, '/csv', {}, count))
      ours.push(await measure(pounce, path, headers, count))
    }
    await pounce.stop()
    await baseline.stop()
    return rowsOf(count, ours, theirs, idleMiB)
  } finally {
    if (given === undefined) await rm(folder, { recursive: true, force: true })
  }
}

const rowsOf = (count: number, ours: readonly Measured[], theirs: readonly Measured[], idleMiB: number): readonly Row[] => {
  const workload = `12 · metrics CSV over ${count.toLocaleString('en')} files`
  const of = (all: readonly Measured[], what: keyof Measured): readonly number[] => all.map(each => each[what])
  const peak = Math.max(...of(ours, 'peakMiB'))
  const ceiling = (subject: string, values: readonly number[], goal: number): Row => {
    const worst = median(values)
    return { workload, subject, figure: spread(values, 'ms'), ratio: worst, goal, isCeiling: true }
  }
  return [
    { workload, subject: 'row iterator and csv-stringify', figure: spread(of(theirs, 'rowsPerSecond'), 'rows/s') },
    {
      workload,
      subject: 'Pounce, with owners and parents',
      figure: spread(of(ours, 'rowsPerSecond'), 'rows/s'),
      ratio: median(of(ours, 'rowsPerSecond')) / 1000,
      goal: 500,
    },
    ceiling('first byte', of(ours, 'firstByteMs'), 10),
    ceiling('p99 of /healthz meanwhile', of(ours, 'healthP99Ms'), 20),
    {
      workload,
      subject: 'memory at its most over idle',
      figure: `${round(peak - idleMiB)} MiB`,
      ratio: peak - idleMiB,
      goal: 128,
      isCeiling: true,
    },
  ]
}
