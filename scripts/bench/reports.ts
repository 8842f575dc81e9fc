import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Datasets, DocumentStore, Users } from 'pounce/sdk'
import { noStatistics } from 'pounce/sdk/kit'
import { bootForTest } from 'pounce/sdk/testing'
import { files } from '../../plugins/resources/files/collection.ts'
import { memoryOf, newKey, startCsvBaseline, startPounce } from './servers.ts'
import { readLines, type StreamedLines } from './streamed-lines.ts'
import { median, type Row, round, spread } from './table.ts'

const hex = (n: number): string => n.toString(16).padStart(24, '0')
const filesPerDataset = 100
const people = 50
/** The admin of a folder that was filled with `bootForTest`. */
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
  }
}

/** Fills a data folder with `count` files by 50 users, 100 files per dataset. */
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

/** Workload 12: FileMetrics over `count` files, compared with a row iterator with csv-stringify. */
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
    const ours: StreamedLines[] = []
    const theirs: StreamedLines[] = []
    for (let round = 0; round < rounds; round++) {
      theirs.push(await readLines(baseline, '/csv', {}, count))
      ours.push(await readLines(pounce, path, headers, count))
    }
    await pounce.stop()
    await baseline.stop()
    return rowsOf(count, ours, theirs, idleMiB)
  } finally {
    if (given === undefined) await rm(folder, { recursive: true, force: true })
  }
}

const rowsOf = (count: number, ours: readonly StreamedLines[], theirs: readonly StreamedLines[], idleMiB: number): readonly Row[] => {
  const workload = `12 · metrics CSV over ${count.toLocaleString('en')} files`
  const of = (all: readonly StreamedLines[], what: keyof StreamedLines): readonly number[] => all.map(each => each[what])
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
