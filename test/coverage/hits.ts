import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** How a request ended: with success, refused by a 4xx, or with a 404, which is a refusal too. */
export type Outcome = 'done' | 'refused' | 'absent'

/** One line of a record: that a test file had this answer from a route. */
export interface Hit {
  readonly route: string
  readonly outcome: Outcome
  /** Relative to the repository. */
  readonly file: string
}

/** What a run of the tests had from a route. */
export interface Tested {
  /** The test files that it answered with success, sorted; without those that walk over all routes. */
  readonly done: readonly string[]
  readonly refused: boolean
  readonly absent: boolean
}

/** By the name of the route, sorted. */
export type TestedRoutes = Readonly<Record<string, Tested>>

/** What a status means here; nothing for a fault of the server or an answer on the way. */
export const outcomeOf = (status: number): Outcome | undefined => {
  if (status === 404) return 'absent'
  if (status >= 400 && status < 500) return 'refused'
  return status >= 200 && status < 400 ? 'done' : undefined
}

/** These walk over all routes alike, or at random: that one of them had a success proves nothing about a route. */
const walkers = /^test\/(?:bad-input|wrong-key|api\/access|api\/canary|model\/|faults\/)/

/** Merges lines: the order and repeats do not matter. */
export const mergeHits = (hits: readonly Hit[]): TestedRoutes => {
  const of = Map.groupBy(hits, ({ route }) => route)
  const entries = [...of].map(([route, all]): [string, Tested] => {
    const files = all.filter(({ outcome, file }) => outcome === 'done' && !walkers.test(file)).map(({ file }) => file)
    return [
      route,
      {
        done: [...new Set(files)].sort(),
        refused: all.some(({ outcome }) => outcome !== 'done'),
        absent: all.some(({ outcome }) => outcome === 'absent'),
      },
    ]
  })
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Reads what the recorders of a run wrote into a folder. */
export const readHits = async (folder: string): Promise<TestedRoutes> => {
  const texts = await Promise.all((await readdir(folder)).map(name => readFile(join(folder, name), 'utf8')))
  return mergeHits(texts.flatMap(text => text.split('\n').filter(Boolean)).map(line => JSON.parse(line) as Hit))
}
