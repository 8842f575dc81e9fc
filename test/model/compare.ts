import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { type Entry, fromBuffer } from 'yauzl'
import { until } from '../support/until.ts'
import { archivesOf, type Expectation, expectationsOf } from './expectations.ts'
import { people, type Space } from './model-rights.ts'
import type { World } from './model-world.ts'

type Counts = Readonly<Record<'spaces' | 'collections' | 'datasets' | 'files' | 'bytes', number>>

/** The totals of the server. */
export const countsOf = async ({ admin }: World): Promise<Counts> => {
  const { counts } = (await (await admin('/api/status')).json()) as { readonly counts: Counts }
  const { spaces, collections, datasets, files, bytes } = counts
  return { spaces, collections, datasets, files, bytes }
}

const holds = async (world: World, { who, path, status, body }: Expectation): Promise<void> => {
  const answer = await world.calls[who](path)
  const text = await answer.text()
  if (answer.status !== status) assert.fail(`${who} GET ${path}: expected ${status}, had ${answer.status} ${text.slice(0, 300)}`)
  if (status !== 200 || !body) return
  const isJson = answer.headers.get('content-type')?.includes('json') ?? false
  const had = body.of((isJson ? JSON.parse(text) : text) as never)
  assert.deepEqual(had.toSorted(), body.is.toSorted(), `${who} GET ${path}`)
}

/** Compares the number of datasets, collections and members of each space with the report on spaces. */
const compareSpaces = async ({ admin, state }: World): Promise<void> => {
  const rows = (await (await admin('/api/reports/metrics/spaces', { headers: { accept: 'application/json' } })).json()) as readonly {
    readonly id: string
    readonly datasets: number
    readonly collections: number
    readonly users: number
  }[]
  const live = <T extends { readonly isGone: boolean; readonly isTrashed: boolean; readonly spaces: ReadonlySet<Space> }>(
    all: readonly T[],
    space: Space,
  ): number => all.filter(one => !one.isGone && !one.isTrashed && one.spaces.has(space)).length
  for (const space of state.spaces) {
    const row = rows.find(({ id }) => id === space.id)
    const had = row && [row.datasets, row.collections, row.users].map(Number)
    const is = [live(state.datasets, space), live(state.collections, space), space.members.size]
    assert.deepEqual(had, space.isGone ? undefined : is, `report on the space ${space.id}: datasets, collections, users`)
  }
}

const entriesOf = (bytes: Buffer): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    fromBuffer(bytes, { lazyEntries: false }, (error, zip) => {
      if (error) return reject(error)
      const names: string[] = []
      zip.on('entry', (entry: Entry) => names.push(entry.fileName))
      zip.on('end', () => resolve(names))
      zip.on('error', reject)
    })
  })

/** Compares all that each caller can read with the model. Rejects with the first difference. */
export const compare = async (world: World, before: Counts): Promise<void> => {
  for (const who of people) {
    const all = expectationsOf(world, who)
    for (let at = 0; at < all.length; at += 16) await Promise.all(all.slice(at, at + 16).map(each => holds(world, each)))
  }
  await compareSpaces(world)
  const totals = async () => {
    const now = Object.entries(await countsOf(world))
    return Object.fromEntries(now.map(([name, count]) => [name, count - before[name as keyof Counts]]))
  }
  // While the store is slow, the status page shows the last known totals.
  await until('the totals of GET /api/status to equal the model', totals, now => isDeepStrictEqual(now, world.state.counts()), 5_000)
}

/** Compares the ZIP of every dataset with the model. */
export const compareArchives = async (world: World): Promise<void> => {
  for (const { who, path, names } of archivesOf(world)) {
    const answer = await world.calls[who](path)
    assert.equal(answer.status, 200, `${who} GET ${path}`)
    const had = await entriesOf(Buffer.from(await answer.arrayBuffer()))
    // Files of the same name in one folder have their ids in their names.
    const isClear = new Set(names).size === names.length
    assert.deepEqual(isClear ? had.toSorted() : had.length, isClear ? names.toSorted() : names.length, `${who} GET ${path}`)
  }
}
