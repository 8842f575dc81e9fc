/**
 * `npm run bench`: the workloads of the performance goals, each interleaved with its baseline.
 * `--write` updates the table in docs/benchmarks.md; `--only ingest,start` selects workloads; `--quick` runs each once, at a small size.
 */
import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { browserUploads } from './browser-uploads.ts'
import { burst } from './burst.ts'
import { dispatch, heartbeats } from './bus.ts'
import { deletion } from './deletion.ts'
import { entries } from './entries.ts'
import { extraction } from './extraction.ts'
import { geostreams } from './geostreams.ts'
import { ingest, ingestOnServers } from './ingest.ts'
import { listing, treeNodes } from './listing.ts'
import { liveEvents } from './live.ts'
import { logins } from './logins.ts'
import { removeFolders } from './many-datasets.ts'
import { reports } from './reports.ts'
import { rights } from './rights.ts'
import { search } from './search.ts'
import { smallRequests } from './small-requests.ts'
import { start } from './start.ts'
import { type Row, toMarkdown } from './table.ts'
import { transfer } from './transfer.ts'
import { web } from './web.ts'
import { zip } from './zip.ts'

const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
})
const root = join(import.meta.dirname, '../..')
const { plugins } = JSON.parse(await readFile(join(root, 'config/default.json'), 'utf8')) as { plugins: readonly string[] }
const rounds = values.quick ? 1 : 3
const mebibyte = 1024 * 1024
const sizes = values.quick ? ([1000, 20_000] as const) : ([1000, 1_000_000] as const)

const workloads: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  start: () => start(values.quick ? 2 : 5),
  burst: () => burst(rounds),
  ingest: () => ingest(rounds, values.quick ? 3 : 8, plugins),
  transfer: () => transfer(rounds, (values.quick ? 128 : 1024) * mebibyte),
  small: () => smallRequests(values.quick ? 1 : 5, values.quick ? 1 : 3),
  zip: () => zip(rounds, (values.quick ? 256 : 2048) * mebibyte),
  servers: () => ingestOnServers(rounds, values.quick ? 3 : 8, plugins),
  search: () => (values.quick ? search(20_000, 3, 50) : search(1_000_000, 20, 500)),
  dispatch: () => dispatch(rounds, values.quick ? 5000 : 20_000),
  heartbeats: () => heartbeats(values.quick ? 1 : 5),
  extraction: () => extraction(rounds, values.quick ? 50 : 300),
  deletion: () => deletion(values.quick ? 5000 : 100_000),
  listing: () => listing({ sizes, rounds, plugins }),
  tree: () => treeNodes({ sizes, rounds, plugins }),
  entries: () => entries(rounds, values.quick ? [1000, 20_000] : [1000, 100_000]),
  web: () => web(rounds, values.quick ? 20_000 : 100_000),
  'browser-uploads': () => browserUploads(rounds, values.quick ? 200 : 2000, (values.quick ? 128 : 1024) * mebibyte),
  live: () =>
    liveEvents(
      values.quick
        ? { streams: 1000, rounds: 1, seconds: 4, deliveries: 2000, plugins }
        : { streams: 5000, rounds, seconds: 8, deliveries: 10_000, plugins },
    ),
  logins: () => logins(values.quick ? 1 : 5, 4),
  rights: () => rights({ count: sizes[1], rounds, plugins }),
  geostreams: () =>
    geostreams(
      values.quick
        ? [{ count: 50_000, rounds: 1, boxGoalMs: 2 }]
        : [
            { count: 1_000_000, rounds, boxGoalMs: 2 },
            { count: 10_000_000, rounds, boxGoalMs: 5, boxesOnly: true },
          ],
    ),
  reports: () => reports(rounds, values.quick ? 50_000 : 1_000_000),
}
const wanted = values.only === '' ? Object.keys(workloads) : values.only.split(',')

const machine = (): string => {
  const [cpu] = os.cpus()
  const memory = Math.round(os.totalmem() / 1024 ** 3)
  return `${os.cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${memory} GiB, ${os.type()} ${os.release()}, Node ${process.version}`
}

const revision = (): string => execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()

const rows: Row[] = []
for (const name of wanted) {
  const workload = workloads[name]
  if (!workload) throw new Error(`Unknown workload ${name}; one of ${Object.keys(workloads).join(', ')} expected`)
  process.stderr.write(`${name} …\n`)
  rows.push(...(await workload()))
}
await removeFolders()
const table = toMarkdown(rows)
process.stdout.write(`${table}\n`)

if (values.write) {
  const path = join(root, 'docs/benchmarks.md')
  const text = await readFile(path, 'utf8')
  const measured = `<!-- measured -->\n\nMeasured ${new Date().toISOString().slice(0, 10)} at ${revision()} on ${machine()}.\n\n${table}\n\n<!-- /measured -->`
  await writeFile(
    path,
    text.replace(/<!-- measured -->[\s\S]*<!-- \/measured -->/, () => measured),
  )
}
process.exit(0)
