import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The outcome of a request: success, a 4xx other than 404, or 404 (which is also a refusal). */
export type Outcome = 'done' | 'refused' | 'absent'

/** One line of a record: a test file got this outcome from a route. */
export interface Hit {
  readonly route: string
  readonly outcome: Outcome
  /** Relative to the repository. */
  readonly file: string
}

/** The outcomes of a route in a test run. */
export interface Tested {
  /** The test files with a successful response, sorted; without those that cover all routes generically. */
  readonly done: readonly string[]
  readonly refused: boolean
  readonly absent: boolean
}

/** By the name of the route, sorted. */
export type TestedRoutes = Readonly<Record<string, Tested>>

/** The outcome for a status; undefined for server errors and informational responses. */
export const outcomeOf = (status: number): Outcome | undefined => {
  if (status === 404) return 'absent'
  if (status >= 400 && status < 500) return 'refused'
  return status >= 200 && status < 400 ? 'done' : undefined
}

/** Tests that cover all routes generically or at random: their success does not show that a route is tested. */
const walkers = /^test\/(?:bad-input|wrong-key|api\/access|api\/canary|model\/|faults\/)/

/** Merges records, regardless of order and repetitions. */
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

/** Reads the records of a run from a folder. */
export const readHits = async (folder: string): Promise<TestedRoutes> => {
  const texts = await Promise.all((await readdir(folder)).map(name => readFile(join(folder, name), 'utf8')))
  return mergeHits(texts.flatMap(text => text.split('\n').filter(Boolean)).map(line => JSON.parse(line) as Hit))
}
