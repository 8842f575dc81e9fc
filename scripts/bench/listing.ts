import { load, request } from './load.ts'
import { collectionId, depth, type FullServer, firstSpace, needle, startFull } from './many-datasets.ts'
import { cpuMsOf } from './servers.ts'
import { median, type Row, round } from './table.ts'

interface Asked {
  readonly workload: string
  readonly path: string
  /** The query to compare this one with at the larger size. */
  readonly like?: string
}

const listed: readonly Asked[] = [
  { workload: '5 · 50 newest datasets, member of 30 spaces', path: '/api/datasets?limit=50' },
  { workload: '5 · title that one dataset has', path: `/api/datasets?title=${encodeURIComponent(needle)}` },
  { workload: '5 · title that nothing has', path: '/api/datasets?title=nowhere%20to%20be%20found' },
  { workload: '5 · title that very many have', path: '/api/datasets?title=set' },
]
const tree = (type: string, id = ''): string => `/api/tree/getChildrenOfNode?nodeType=${type}${id ? `&nodeId=${id}` : ''}&limit=50`
const nodes: readonly Asked[] = [
  { workload: '6 · children of the root', path: tree('root') },
  { workload: '6 · children of a space', path: tree('space', firstSpace) },
  { workload: '6 · children of a collection at the top', path: tree('collection', collectionId(0, 0)) },
  {
    workload: `6 · children of a collection ${depth - 1} deep`,
    path: tree('collection', collectionId(0, depth - 2)),
    like: '6 · children of a collection at the top',
  },
]

interface Scale {
  readonly sizes: readonly [few: number, many: number]
  readonly rounds: number
  /** The plugins of the default configuration. */
  readonly plugins: readonly string[]
}

interface Times {
  readonly p50: number
  readonly p99: number
  /** The server's processor time per request, which depends little on other load. */
  readonly cpu: number
}

const measure = async ({ server, key }: FullServer, path: string, seconds: number): Promise<Times> => {
  const cpu = await cpuMsOf(server.pid)
  const next = () => request('GET', path, { 'x-api-key': key })
  const measured = await load({
    port: server.port,
    connections: 1,
    seconds,
    warmUpSeconds: 0,
    newState: () => undefined,
    next,
    wantsBody: false,
  })
  if (measured.errors > 0) throw new Error(`${path}: ${measured.errors} error responses`)
  const spent = (await cpuMsOf(server.pid)) - cpu
  return { ...measured, cpu: spent / (measured.requestsPerSecond * seconds) }
}

const middle = (all: readonly Times[]): Times => ({
  p50: median(all.map(({ p50 }) => p50)),
  p99: median(all.map(({ p99 }) => p99)),
  cpu: median(all.map(({ cpu }) => cpu)),
})
const figure = ({ p50, p99, cpu }: Times): string => `${round(p50)} ms, p99 ${round(p99)} ms, processor ${round(cpu)} ms`

/** Each path at two sizes, alternately on two servers that run at the same time, under the same conditions. */
const compare = async (requested: readonly Asked[], { sizes: [few, many], rounds, plugins }: Scale): Promise<readonly Row[]> => {
  const [small, large] = [await startFull(few, plugins), await startFull(many, plugins)]
  // Warm-up: unoptimized code is several times slower.
  for (const { path } of requested) for (const full of [small, large]) await measure(full, path, 2)
  const rows: Row[] = []
  const ofLarge = new Map<string, Times>()
  for (const { workload, path, like } of requested) {
    const taken: { small: Times[]; large: Times[] } = { small: [], large: [] }
    for (let n = 0; n < rounds; n++) {
      taken.small.push(await measure(small, path, 1.5))
      taken.large.push(await measure(large, path, 1.5))
    }
    const [a, b] = [middle(taken.small), middle(taken.large)]
    ofLarge.set(workload, b)
    rows.push({ workload, subject: `${few.toLocaleString('en')} datasets`, figure: figure(a) })
    rows.push({
      workload,
      subject: `${many.toLocaleString('en')} datasets`,
      figure: figure(b),
      ratio: b.p50 / a.p50,
      goal: 1.3,
      isCeiling: true,
    })
    const other = like === undefined ? undefined : ofLarge.get(like)
    if (other)
      rows.push({ workload, subject: 'against the top', figure: figure(other), ratio: b.p50 / other.p50, goal: 1.3, isCeiling: true })
  }
  await small.server.stop()
  await large.server.stop()
  return rows
}

/** Workload 5: permission-filtered lists, and titles, at two sizes. */
export const listing = (scale: Scale): Promise<readonly Row[]> => compare(listed, scale)

/** Workload 6: the children of a node, at two sizes and two depths. */
export const treeNodes = (scale: Scale): Promise<readonly Row[]> => compare(nodes, scale)
