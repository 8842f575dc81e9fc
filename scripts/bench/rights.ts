import { DocumentStore, Policy, Users } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { datasets } from '../../plugins/resources/datasets/collection.ts'
import { DatasetListings, type DatasetLists } from '../../plugins/resources/datasets/dataset-lists.ts'
import { load, percentile, request } from './load.ts'
import { datasetId, emailOf, type FullServer, firstInOldSpaces, folderOf, type Member, startFull, withoutSearch } from './many-datasets.ts'
import { newKey } from './servers.ts'
import { median, type Row, round } from './table.ts'

interface Scale {
  readonly count: number
  readonly rounds: number
  /** Of the default configuration. */
  readonly plugins: readonly string[]
}

const figureOf = (p50: number, p99: number): string => `${round(p50)} ms, p99 ${round(p99)} ms`

/** Milliseconds that something takes, again and again; what runs for the first times takes longer. */
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
  const lists = server.get(DatasetListings)
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

const overHttp = async ({ server }: FullServer, key: string, path: string, seconds: number) => {
  const next = () => request('GET', path, { 'x-api-key': key })
  const shape = { port: server.port, connections: 1, seconds, warmUpSeconds: 0.5, newState: () => undefined, next, wantsBody: false }
  const measured = await load(shape)
  if (measured.errors > 0) throw new Error(`${path}: ${measured.errors} answers were errors`)
  return measured
}

const root = { email: 'root@example.org', password: 'bench-bench-bench' }

/** The same question by two callers in turn, so that both see the same machine. */
const throughHttp = async (full: FullServer, { rounds }: Scale): Promise<readonly Row[]> => {
  const rows: Row[] = []
  const admin = await newKey(full.server, root)
  const path = `/api/datasets/${datasetId(firstInOldSpaces)}`
  const point = { all: [] as number[], old: [] as number[], oldLast: [] as number[] }
  const oldKey = await full.keyOf('old')
  for (let n = 0; n < rounds; n++) {
    point.all.push((await overHttp(full, admin, `${path}?superAdmin=true`, 1.5)).p50)
    const { p50, p99 } = await overHttp(full, oldKey, path, 1.5)
    point.old.push(p50)
    point.oldLast.push(p99)
  }
  const [bare, checked] = [median(point.all), median(point.old)]
  const workload = 'Rights · a dataset by id, by HTTP'
  rows.push({ workload, subject: 'superadmin', figure: `${round(bare)} ms` })
  const more = { ratio: checked - bare, goal: 0.1, isCeiling: true }
  rows.push({ workload, subject: 'member of 300 spaces: ms more', figure: figureOf(checked, median(point.oldLast)), ...more })
  for (const [member, subject] of Object.entries(asking) as [Exclude<Member, 'some'>, string][]) {
    const { p50, p99 } = await overHttp(full, await full.keyOf(member), '/api/datasets', 1.5)
    rows.push({ workload: 'Rights · 12 newest datasets, by HTTP', subject, figure: figureOf(p50, p99) })
  }
  return rows
}

/** What the check of rights costs, and lists for people of very many spaces. */
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
