import { bagZip } from '../support/bags.ts'
import { changes, fingerprint } from '../support/fingerprint.ts'
import { eachOf } from '../support/killed-server.ts'
import { until } from '../support/until.ts'
import { accountOf } from './callers.ts'
import { type Cell, idOf } from './cell.ts'
import { callerNames, expectation, isAlikeTo, isReading, type Standing, slotsOf, standingsOf } from './cells.ts'
import { faultOf, isSuccess, sameAnswer } from './check-response.ts'
import type { Got } from './http-client.ts'
import { leakIn } from './leaks.ts'
import { newResources } from './new-resources.ts'
import { isProp, newProp } from './props.ts'
import { requestContents } from './request-content.ts'
import { type Filling, requestOf } from './requests.ts'
import type { MatrixRoute } from './routes.ts'
import type { State, World } from './world.ts'

export interface Counts {
  cells: number
  refusals: number
  actions: number
  /** Number of successful requests, by route. */
  readonly done: Map<string, number>
  readonly requested: Set<string>
  readonly disagreements: string[]
}

export const newCounts = (): Counts => ({ cells: 0, refusals: 0, actions: 0, done: new Map(), requested: new Set(), disagreements: [] })

const bag = bagZip({ 'a.txt': 'words' })
const width = 12

/** All cells of a route, and the reasons why the oracle has no expectation for others. */
export const cellsOf = (world: World, route: MatrixRoute): { readonly cells: readonly Cell[]; readonly faults: readonly string[] } => {
  const slots = slotsOf(route)
  const { skips = [] } = requestContents[route.name] ?? {}
  const faults = new Set<string>()
  const cells: Cell[] = []
  for (const caller of callerNames) {
    if (!world.credentials.has(caller)) continue
    for (const at of standingsOf(slots)) {
      // Callers who are refused everywhere are refused for any resource: one request per state is enough.
      if (isAlikeTo(caller) && new Set(Object.values(at)).size > 1) continue
      if (skips.some(state => Object.values(at).includes(state as State))) continue
      if (slots.some(({ kind, parameter }) => idOf(world, kind, at[parameter] ?? 'unknown', caller) === undefined)) continue
      const expected = expectation(world.mode, route, caller, at)
      if (typeof expected === 'string') faults.add(`${route.name}: ${expected}`)
      else for (const address of route.addresses) cells.push({ route, address, caller, slots, at, expected })
    }
  }
  return { cells, faults: [...faults] }
}

const shown = ({ route, address, caller, at }: Cell): string =>
  `${caller} ${address.method} ${address.path} (${route.name}) ${Object.entries(at)
    .map(([slot, state]) => `${slot}=${state}`)
    .join(' ')}`

const fillingOf =
  (ids: Readonly<Record<string, string | undefined>>, props: ReadonlyMap<string, string>): Filling =>
  name =>
    name.startsWith('$') ? ids[name.slice(1)] : props.get(name.slice(1))

const ask = async (world: World, cell: Cell, filling: Filling, own = world.credentials.get(cell.caller)): Promise<Got> => {
  const sent = requestOf(cell.route, cell.address, filling, () => bag)
  const { headers, query } = own ?? { headers: {}, query: '' }
  const path = query === '' ? sent.path : `${sent.path}${sent.path.includes('?') ? '&' : '?'}${query}`
  return world.send({ ...sent, path, headers: { ...sent.headers, ...headers, 'x-forwarded-for': nextAddress() } })
}

let requested = 0

/** Each request has a different client address, because failed credentials are counted by network. */
const nextAddress = (): string => {
  requested += 1
  return `10.${(requested >> 16) & 255}.${(requested >> 8) & 255}.${requested & 255}`
}

const propsIn = (route: MatrixRoute): readonly string[] =>
  [...JSON.stringify(requestContents[route.name] ?? {}).matchAll(/@([a-zA-Z]+)/g)].map(([, name = '']) => name).filter(isProp)

const propsFor = async (world: World, { route, caller }: Pick<Cell, 'route' | 'caller'>, kept?: Map<string, string>) => {
  const found = new Map<string, string>()
  for (const name of propsIn(route)) {
    const key = ['key', 'self', 'tile', 'context'].includes(name) ? `${name} ${accountOf[caller]}` : name
    const value = kept?.get(key) ?? (await newProp(world, name, caller))
    kept?.set(key, value)
    found.set(name, value)
  }
  return found
}

const isMixed = ({ route, at }: Cell): boolean => new Set(Object.values(at)).size > 1 || requestContents[route.name]?.isLoose === true

const refuses = ({ route, expected: { letter } }: Cell): boolean => letter === 'refused' || isReading(route)

/** Whether two slots would be the same resource, because there is only one of that kind and state. */
const isOne = ({ route, slots, at }: Cell): boolean =>
  requestContents[route.name]?.isApart === true &&
  slots.some(({ kind, parameter }, n) => slots.slice(n + 1).some(other => other.kind === kind && at[other.parameter] === at[parameter]))

const judge = (world: World, counts: Counts, cell: Cell, got: Got): void => {
  counts.cells += 1
  counts.requested.add(cell.route.name)
  if (cell.expected.letter === 'refused') counts.refusals += 1
  if (isSuccess(got)) counts.done.set(cell.route.name, (counts.done.get(cell.route.name) ?? 0) + 1)
  const fault = faultOf(cell.expected, got, requestContents[cell.route.name] ?? {}, isMixed(cell))
  if (fault !== undefined) counts.disagreements.push(`${shown(cell)}: ${fault}`)
  if (!isReading(cell.route) || !isSuccess(got)) return
  const leak = leakIn(world, cell, got.text)
  if (leak !== undefined) counts.disagreements.push(`${shown(cell)}: shows ${leak}`)
}

/** Verifies that responses for hidden resources and for unknown ids are indistinguishable. */
const compare = (counts: Counts, cells: readonly Cell[], answers: ReadonlyMap<string, Got>): void => {
  const keyOf = ({ route, address, caller }: Cell, at: Standing): string =>
    `${route.name} ${address.method} ${address.path} ${caller} ${JSON.stringify(at)}`
  for (const cell of cells) {
    const got = answers.get(keyOf(cell, cell.at))
    const [unseen, ...others] = cell.expected.unseen
    if (unseen === undefined || others.length > 0 || got === undefined) continue
    // Of two wrong ids either may be reported.
    if (Object.entries(cell.at).some(([slot, state]) => slot !== unseen && state === 'malformed')) continue
    const missing = answers.get(keyOf(cell, { ...cell.at, [unseen]: 'unknown' }))
    if (missing !== undefined && sameAnswer(missing) !== sameAnswer(got))
      counts.disagreements.push(
        `${shown(cell)}: not the answer for an unknown id: ${sameAnswer(got).slice(0, 160)} / ${sameAnswer(missing).slice(0, 160)}`,
      )
  }
}

const answerKey = ({ route, address, caller, at }: Cell): string =>
  `${route.name} ${address.method} ${address.path} ${caller} ${JSON.stringify(at)}`

const askAll = async (world: World, counts: Counts, cells: readonly Cell[], kept: Map<string, string>): Promise<void> => {
  const answers = new Map<string, Got>()
  await eachOf(
    cells,
    async cell => {
      const ids = Object.fromEntries(
        cell.slots.map(({ kind, parameter }) => [parameter, idOf(world, kind, cell.at[parameter] ?? 'unknown', cell.caller)]),
      )
      const got = await ask(world, cell, fillingOf(ids, await propsFor(world, cell, kept)))
      answers.set(answerKey(cell), got)
      judge(world, counts, cell, got)
    },
    width,
  )
  compare(counts, cells, answers)
}

/** Routes of a batch that change something although all requests are refused. */
const changedBy = async (world: World, batch: readonly MatrixRoute[], keep: (cell: Cell) => boolean, kept: Map<string, string>) => {
  const found: string[] = []
  for (const route of batch) {
    const before = await stored(world)
    await askAll(
      world,
      newCounts(),
      cellsOf(world, route).cells.filter(cell => refuses(cell) && !isOne(cell) && keep(cell)),
      kept,
    )
    const changed = changes(before, await stored(world))
    if (Object.keys(changed).length > 0) found.push(`${route.name} changes what it should not: ${JSON.stringify(changed).slice(0, 400)}`)
  }
  return found
}

/** Collections that any request may write to: failed credentials, ended sessions, refusals and superadmin mode. */
const aside: readonly string[] = ['users.tries', 'users.sessions', 'audit', 'audit.chains', 'live.log']

const stored = async ({ server, received }: World): Promise<Readonly<Record<string, readonly string[]>>> => {
  const documents = Object.entries(await fingerprint(server)).filter(([name]) => !aside.includes(name))
  return { ...Object.fromEntries(documents), events: [...received] }
}

/** Waits until all extractors have finished. */
const settled = async (world: World): Promise<void> => {
  await until(
    'the extractors to finish',
    async () => (await stored(world))['transport.jobs'],
    jobs => (jobs?.length ?? 0) === 0,
  )
}

/** Sends all requests that must be refused, and all reads, and verifies that nothing stored has changed. */
export const runRefusals = async (
  world: World,
  counts: Counts,
  routes: readonly MatrixRoute[],
  keep: (cell: Cell) => boolean = () => true,
): Promise<void> => {
  const kept = new Map<string, string>()
  // Created now, so that it is not detected as a change.
  for (const route of routes) for (const caller of world.credentials.keys()) await propsFor(world, { route, caller }, kept)
  await settled(world)
  for (let at = 0; at < routes.length; at += 40) {
    const batch = routes.slice(at, at + 40)
    const before = await stored(world)
    for (const route of batch) {
      const { cells, faults } = cellsOf(world, route)
      counts.disagreements.push(...faults)
      await askAll(
        world,
        counts,
        cells.filter(cell => refuses(cell) && !isOne(cell) && keep(cell)),
        kept,
      )
    }
    const changed = changes(before, await stored(world))
    if (Object.keys(changed).length > 0) {
      const found = await changedBy(world, batch, keep, kept)
      counts.disagreements.push(...(found.length > 0 ? found : [`once: ${JSON.stringify(changed).slice(0, 600)}`]))
    }
  }
}

const isAction = (cell: Cell): boolean => {
  if (refuses(cell)) return false
  const stands = new Set(Object.values(cell.at))
  return stands.size <= 1 || [...stands].every(state => state === 'own' || state === 'lab')
}

/** Sends all allowed requests that change something, each on new resources. */
export const runActions = async (
  world: World,
  counts: Counts,
  routes: readonly MatrixRoute[],
  keep: (cell: Cell) => boolean = () => true,
): Promise<void> => {
  const cells = routes.flatMap(route => cellsOf(world, route).cells.filter(cell => isAction(cell) && keep(cell)))
  const isLast = ({ route }: Cell): boolean => requestContents[route.name]?.isLast === true
  const done = async (cell: Cell): Promise<void> => {
    const { ids, credentials } = await newResources(world, cell)
    const got = await ask(world, cell, fillingOf(ids, await propsFor(world, cell)), credentials)
    counts.actions += 1
    judge(world, counts, cell, got)
  }
  await eachOf(
    cells.filter(cell => !isLast(cell)),
    done,
    4,
  )
  await eachOf(cells.filter(isLast), done, 1)
}
