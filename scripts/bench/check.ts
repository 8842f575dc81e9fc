/**
 * `npm run bench:check`: a few workloads on this tree and on an earlier commit, on two servers at the same time, so that both run under the same
 * conditions. Fails if this tree takes more than 1/0.9 of the processor time of the earlier one; reports when the machine is too noisy to decide.
 * `--against` names another commit, `--only` selects workloads, `--slow 0.15` slows this tree down by that share, which the check must detect.
 * Takes one to four minutes; `.ci/run` runs it before the tests.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { unitsPerSecond, withoutExtractors } from './ingest.ts'
import { manyStreams, openStreams, post } from './live.ts'
import { load, onePart, request } from './load.ts'
import { cpuMsOf, newKey, type Server, startPounce } from './servers.ts'
import { median, round } from './table.ts'

/** The commit to compare with; update it to make an improvement the new baseline. */
const pinned = '281e7b5f'
const least = 0.9
const rounds = 7
/** An apparent regression may be noise: series are repeated until enough of them agree, up to the maximum. */
const [minSeries, agreeingSeries, maxSeries] = [2, 4, 8]
const burstSeconds = 0.5
const streams = 1000
const searched = 100
const fans = 20

const { values } = parseArgs({
  options: {
    against: { type: 'string', default: pinned },
    only: { type: 'string', default: '' },
    slow: { type: 'string', default: '0' },
  },
})

/** Repeats an operation for a while; resolves to the number of repetitions. */
type Burst = () => Promise<number>

const gets = ({ port }: Server, path: string, headers: Readonly<Record<string, string>>): Burst => {
  const bytes = request('GET', path, headers)
  return async () => {
    const measured = await load({
      port,
      connections: 32,
      seconds: burstSeconds,
      warmUpSeconds: 0,
      newState: () => undefined,
      next: () => bytes,
    })
    if (measured.errors > 0) throw new Error(`${path}: ${measured.errors} error responses`)
    return measured.requestsPerSecond * burstSeconds
  }
}

const newDataset = async (server: Server, key: string, name = 'checked'): Promise<string> =>
  (await post(server, key, '/api/datasets/createempty', { name, description: '' })).id

const newFile = async (server: Server, key: string, dataset: string, bytes: Buffer): Promise<string> => {
  const { type, body } = onePart('file.bin', 'application/octet-stream', bytes)
  const answer = await fetch(`${server.url}/api/uploadToDataset/${dataset}?extract=false`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': type },
    body: new Uint8Array(body),
  })
  return ((await answer.json()) as { id: string }).id
}

/** Creates a file of 4 kB; resolves to its path. */
const smallFile = async (server: Server, key: string): Promise<string> =>
  `/api/files/${await newFile(server, key, await newDataset(server, key), Buffer.alloc(4096, 'leaf '))}`

const large = Buffer.alloc(32 * 1024 * 1024, 'leaf ')

const workloads: Readonly<Record<string, (server: Server, key: string) => Promise<Burst>>> = {
  health: async server => gets(server, '/healthz', {}),
  dataset: async (server, key) => gets(server, `/api/datasets/${await newDataset(server, key)}`, { 'x-api-key': key }),
  download: async (server, key) => gets(server, await smallFile(server, key), { 'x-api-key': key }),
  transfer: async (server, key) => {
    const dataset = await newDataset(server, key)
    return async () => {
      const id = await newFile(server, key, dataset, large)
      const answer = await fetch(`${server.url}/api/files/${id}`, { headers: { 'x-api-key': key } })
      const { byteLength } = await answer.arrayBuffer()
      if (byteLength !== large.length) throw new Error(`${byteLength} of ${large.length} bytes were downloaded`)
      return 1
    }
  },
  list: async (server, key) => {
    for (let at = 0; at < 50; at += 1) await newDataset(server, key)
    return gets(server, '/api/datasets?limit=50', { 'x-api-key': key })
  },
  search: async (server, key) => {
    const path = '/api/search?query=leaf&size=20'
    for (let at = 0; at < searched; at += 1) await newDataset(server, key, `leaf ${at}`)
    const count = async (): Promise<number> => {
      const answer = await fetch(server.url + path, { headers: { 'x-api-key': key } })
      return ((await answer.json()) as { total_size: number }).total_size
    }
    while ((await count()) < searched) await pause(50)
    return gets(server, path, { 'x-api-key': key })
  },
  ingest: async (server, key) => async () => (await unitsPerSecond(server, key, 1, 0)).units,
  live: async (server, key) => {
    let received = 0
    const sockets = await openStreams(server, key, streams, text => {
      received += text.split('\ndata: ').length - 1
    })
    return async () => {
      if (sockets.some(socket => socket.destroyed)) throw new Error('a stream has ended')
      received = 0
      for (let at = 0; at < fans; at += 1) await newDataset(server, key)
      while (received < fans * streams) await pause(10)
      return fans
    }
  },
}

/** Burns a share of the main thread's processor time, 40 ms at a time, because the system's accounting has a resolution of some milliseconds. */
const slowdown = (share: number): readonly string[] =>
  share === 0
    ? []
    : [
        '--import',
        `data:text/javascript,${encodeURIComponent(`
          import { subscribe } from 'node:diagnostics_channel'
          const now = () => { const { user, system } = process.threadCpuUsage(); return user + system }
          let last = now()
          let requests = 0
          subscribe('pounce.http.request', () => {
            requests += 1
            if (requests % 16 !== 0) return
            const at = now()
            const due = (at - last) * ${share}
            if (due < 40_000) return
            while (now() < at + due);
            last = now()
          })`)}`,
      ]

const isHere = (root: string, commit: string): boolean =>
  spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root, stdio: 'ignore' }).status === 0

/** Checks out the earlier commit into its own folder, with the packages of this tree. */
const checkedOut = async (root: string, commit: string): Promise<string> => {
  const tree = await mkdtemp(join(tmpdir(), 'pounce-check-'))
  execFileSync('git', ['worktree', 'add', '--detach', '--force', tree, commit], { cwd: root, stdio: 'ignore' })
  if (!existsSync(join(tree, 'node_modules'))) await symlink(join(root, 'node_modules'), join(tree, 'node_modules'))
  return tree
}

const root = join(import.meta.dirname, '../..')

/** A server with its tree's default plugins except extractors, run from its sources. */
const startFrom = async (tree: string, flags: readonly string[] = []): Promise<Server> => {
  const { plugins } = JSON.parse(await readFile(join(tree, 'config/default.json'), 'utf8')) as { plugins: readonly string[] }
  const settings = plugins.includes('resources.live') ? manyStreams : {}
  return startPounce({ tree, flags, settings: { ...settings, POUNCE_PLUGINS: withoutExtractors(plugins), POUNCE_TEST_TREE: 'true' } })
}

/** Microseconds of processor time per repetition. */
const cpuUs = async ({ pid }: Server, burst: Burst): Promise<number> => {
  const before = await cpuMsOf(pid)
  const count = await burst()
  return (((await cpuMsOf(pid)) - before) * 1000) / count
}

/**
 * Medians of some rounds on new servers, because V8 compiles a program differently in each process. The two servers alternate in going first,
 * which may make a difference of some percent.
 */
const series = async (
  tree: string,
  prepare: (server: Server, key: string) => Promise<Burst>,
  isNowFirst: boolean,
): Promise<readonly [earlier: number, now: number]> => {
  const starts = [() => startFrom(tree), () => startFrom(root, slowdown(Number(values.slow)))]
  const order = isNowFirst ? [1, 0] : [0, 1]
  const sides: { readonly server: Server; readonly burst: Burst; readonly taken: number[] }[] = []
  for (const at of order) {
    const server = await (starts[at] as () => Promise<Server>)()
    sides[at] = { server, burst: await prepare(server, await newKey(server)), taken: [] }
  }
  const inOrder = order.map(at => sides[at] as (typeof sides)[number])
  // Warm-up: unoptimized code is several times slower.
  await Promise.all(inOrder.map(({ burst }) => burst()))
  for (let at = 0; at < rounds; at += 1)
    await Promise.all(inOrder.map(async ({ server, burst, taken }) => taken.push(await cpuUs(server, burst))))
  await Promise.all(sides.map(({ server }) => server.stop()))
  const [earlier = [], now = []] = sides.map(({ taken }) => taken)
  return [median(earlier), median(now)]
}

const logMean = (all: readonly number[]): number => all.reduce((sum, each) => sum + Math.log(each), 0) / all.length
const mean = (all: readonly number[]): number => Math.exp(logMean(all))

/** An upper confidence bound of the ratio: two standard errors above the mean. */
const upperBound = (all: readonly number[]): number => {
  const variance = all.reduce((sum, each) => sum + (Math.log(each) - logMean(all)) ** 2, 0) / (all.length - 1)
  return Math.exp(logMean(all) + 2 * Math.sqrt(variance / all.length))
}

if (!isHere(root, values.against)) {
  // A shallow clone or a source archive has no commit to compare with.
  process.stdout.write(`The commit ${values.against} is not in this clone (git fetch --unshallow): skipping the comparison\n`)
  process.exit(values.against === pinned ? 0 : 2)
}
const tree = await checkedOut(root, values.against)
const ratios: number[] = []
const slower: string[] = []
try {
  for (const name of values.only === '' ? Object.keys(workloads) : values.only.split(',')) {
    const prepare = workloads[name]
    if (!prepare) throw new Error(`Unknown workload ${name}; one of ${Object.keys(workloads).join(', ')} expected`)
    const all: (readonly [earlier: number, now: number])[] = []
    const found = (): readonly number[] => all.map(([earlier, now]) => earlier / now)
    const isSlower = (): boolean => all.length >= agreeingSeries && upperBound(found()) < least
    while (all.length < minSeries || (mean(found()) < least && !isSlower() && all.length < maxSeries))
      all.push(await series(tree, prepare, all.length % 2 === 1))
    ratios.push(mean(found()))
    if (isSlower()) slower.push(name)
    const verdict = isSlower() ? 'SLOWER' : mean(found()) < least ? 'noisy ' : 'ok    '
    const [earlier, now] = [mean(all.map(([one]) => one)), mean(all.map(([, other]) => other))]
    process.stdout.write(
      `${verdict} ${name}: ${mean(found()).toFixed(2)} (${round(earlier)} µs at ${values.against}, ${round(now)} µs now)\n`,
    )
  }
} finally {
  execFileSync('git', ['worktree', 'remove', '--force', tree], { cwd: root })
}
process.stdout.write(
  slower.length > 0 ? `slower than ${values.against}: ${slower.join(', ')}\n` : `mean of all: ${mean(ratios).toFixed(2)}\n`,
)
process.exit(slower.length > 0 ? 1 : 0)
