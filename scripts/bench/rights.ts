import { DocumentStore, Policy, Users } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { datasets } from '../../plugins/resources/datasets/collection.ts'
import { DatasetLists } from '../../plugins/resources/datasets/dataset-lists.ts'
import { load, percentile, request } from './load.ts'
import { datasetId, emailOf, type FullServer, folderOf, type Member, startFull, withoutSearch } from './many-datasets.ts'
import { cpuMsOf, newKey } from './servers.ts'
import { median, type Row, round } from './table.ts'

interface Scale {
  readonly count: number
  readonly rounds: number
  /** The plugins of the default configuration. */
  readonly plugins: readonly string[]
}

const figureOf = (p50: number, p99: number): string => `${round(p50)} ms, p99 ${round(p99)} ms`

/** Duration of repeated runs in milliseconds, after a warm-up. */
const timed = async (times: number, run: (n: number) => Promise<unknown>): Promise<readonly [p50: number, p99: number]> => {
  const taken: number[] = []
  for (let n = -Math.ceil(times / 4); n < times; n++) {
    const startedAt = performance.now()
    await run(n)
    if (n >= 0) taken.push(performance.now() - startedAt)
  }
  taken.sort((a, b) => a - b)
  return [percentile(taken, 0.5), percentile(taken, 0.99)]
}

const asking: Readonly<Record<Exclude<Member, 'some'>, string>> = {
  wide: 'member of 300 spaces',
  grouped: 'member of 300 spaces through a group',
  old: 'member of 300 spaces with the oldest datasets alone',
  none: 'member of none',
}

type Page = Awaited<ReturnType<DatasetLists['visible']>>
const pages: readonly (readonly [
  what: string,
  (lists: DatasetLists, caller: Parameters<DatasetLists['visible']>[0], first: Page) => Promise<Page>,
])[] = [
  ['12 newest datasets', (lists, caller) => lists.visible(caller, { limit: 12 })],
  ['the 12 after them', (lists, caller, { next }) => lists.visible(caller, { limit: 12, ...(next ? { after: next } : {}) })],
  ['12 newest of a title that very many have', (lists, caller) => lists.visible(caller, { limit: 12, title: 'set' })],
]

const callerOf = async (server: TestServer, member: Member) => {
  const users = server.get(Users)
  const user = await users.byEmail(emailOf(member))
  if (!user) throw new Error(`there is no ${member}`)
  return users.callerOf(user)
}

/** Pages and checks in one process, without HTTP. */
const inStore = async (server: TestServer, { count, rounds }: Scale): Promise<readonly Row[]> => {
  const rows: Row[] = []
  const lists = server.get(DatasetLists)
  for (const [member, subject] of Object.entries(asking) as [Exclude<Member, 'some'>, string][]) {
    const caller = await callerOf(server, member)
    const first = await lists.visible(caller, { limit: 12 })
    for (const [what, read] of pages) {
      const [p50, p99] = await timed(rounds * 100, () => read(lists, caller, first))
      rows.push({ workload: `Rights · ${what}, in the store`, subject, figure: figureOf(p50, p99), ratio: p50, goal: 2, isCeiling: true })
    }
  }
  const [policy, documents] = [server.get(Policy), server.get(DocumentStore)]
  const caller = await callerOf(server, 'grouped')
  const idAt = (n: number): string => datasetId((Math.abs(n) * 7919) % count)
  const [bare, bareLast] = await timed(rounds * 2000, n => documents.get(datasets, idAt(n)))
  const [checked, checkedLast] = await timed(rounds * 2000, async n => {
    await policy.canOn(caller, 'ViewDataset', { kind: 'dataset', id: idAt(n) })
    return documents.get(datasets, idAt(n))
  })
  const workload = 'Rights · a dataset by id, in the store'
  rows.push({ workload, subject: 'unchecked', figure: figureOf(bare, bareLast) })
  rows.push({
    workload,
    subject: `checked, ${asking.grouped}: ms more`,
    figure: figureOf(checked, checkedLast),
    ratio: checked - bare,
    goal: 0.1,
    isCeiling: true,
  })
  return rows
}

interface Answered {
  readonly p50: number
  readonly p99: number
  /** The server's processor time per request, which depends little on other load. */
  readonly cpu: number
}

const overHttp = async ({ server }: FullServer, key: string, path: string): Promise<Answered> => {
  const seconds = 1.5
  const cpu = await cpuMsOf(server.pid)
  const next = () => request('GET', path, { 'x-api-key': key })
  const shape = { port: server.port, connections: 1, seconds, warmUpSeconds: 0, newState: () => undefined, next, wantsBody: false }
  const measured = await load(shape)
  if (measured.errors > 0) throw new Error(`${path}: ${measured.errors} error responses`)
  return { ...measured, cpu: ((await cpuMsOf(server.pid)) - cpu) / (measured.requestsPerSecond * seconds) }
}

const middle = (all: readonly Answered[]): Answered => ({
  p50: median(all.map(({ p50 }) => p50)),
  p99: median(all.map(({ p99 }) => p99)),
  cpu: median(all.map(({ cpu }) => cpu)),
})
const answeredIn = ({ p50, p99, cpu }: Answered): string => `${figureOf(p50, p99)}, processor ${round(cpu)} ms`

const root = { email: 'root@example.org', password: 'bench-bench-bench' }

/** The newest dataset that a caller may view. */
const seenBy = async ({ server }: FullServer, key: string): Promise<string> => {
  const answer = await fetch(`${server.url}/api/datasets?limit=1`, { headers: { 'x-api-key': key } })
  const [newest] = (await answer.json()) as readonly { readonly id: string }[]
  return `/api/datasets/${newest?.id}`
}

/** The same dataset requested alternately by a caller who passes every check and by a member. */
const pointRead = async (full: FullServer, member: 'grouped' | 'wide', rounds: number): Promise<readonly Row[]> => {
  const [admin, key] = [await newKey(full.server, root), await full.keyOf(member)]
  const path = await seenBy(full, key)
  const taken: { all: Answered[]; checked: Answered[] } = { all: [], checked: [] }
  // Warm-up: unoptimized code is several times slower.
  await overHttp(full, key, path)
  for (let n = 0; n < rounds; n++) {
    taken.all.push(await overHttp(full, admin, `${path}?superAdmin=true`))
    taken.checked.push(await overHttp(full, key, path))
  }
  const [bare, checked] = [middle(taken.all), middle(taken.checked)]
  const workload = 'Rights · a dataset by id, by HTTP'
  return [
    { workload, subject: 'superadmin', figure: answeredIn(bare) },
    {
      workload,
      subject: `${asking[member]}: ms more`,
      figure: answeredIn(checked),
      ratio: checked.p50 - bare.p50,
      goal: 0.1,
      isCeiling: true,
    },
  ]
}

const throughHttp = async (full: FullServer, { rounds }: Scale): Promise<readonly Row[]> => {
  const rows: Row[] = []
  for (const member of ['grouped', 'wide'] as const) rows.push(...(await pointRead(full, member, rounds)))
  for (const [member, subject] of Object.entries(asking) as [Exclude<Member, 'some'>, string][]) {
    const key = await full.keyOf(member)
    await overHttp(full, key, '/api/datasets')
    rows.push({ workload: 'Rights · 12 newest datasets, by HTTP', subject, figure: answeredIn(await overHttp(full, key, '/api/datasets')) })
  }
  return rows
}

/** Cost of permission checks, and of lists for members of very many spaces. */
export const rights = async (scale: Scale): Promise<readonly Row[]> => {
  const config = { access: { private: true } }
  const server = await bootForTest({ folder: await folderOf(scale.count), plugins: withoutSearch(scale.plugins), config })
  const users = server.get(Users)
  if (!(await users.byEmail(root.email))) await users.create({ ...root, firstName: 'B', lastName: 'R', status: 'Admin' })
  const rows = await inStore(server, scale)
  await server.stop()
  const full = await startFull(scale.count, scale.plugins)
  const answered = await throughHttp(full, scale)
  await full.server.stop()
  return [...rows, ...answered]
}
