import type { ExecutionContext, TestFn } from 'ava'
import { bootForTest, skippedBecause, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { installPyclowder, type Outcome, Pyclowder, type Release } from './pyclowder.ts'

/** One release of pyclowder with a separate server. */
export interface Session {
  readonly server: TestServer
  readonly person: Person
  readonly python: Pyclowder
  readonly outcome: (name: string, ...rest: readonly unknown[]) => Promise<Outcome>
  /** The result of a function that must succeed. */
  readonly call: <T>(name: string, ...rest: readonly unknown[]) => Promise<T>
  readonly get: <T>(path: string) => Promise<T>
  readonly end: () => Promise<void>
}

const begin = async (release: Release): Promise<Session> => {
  const server = await bootForTest()
  const person = await newPerson(server, 'author')
  const python = new Pyclowder(release)
  const outcome: Session['outcome'] = (name, ...rest) => python.call(name, `${server.url}/`, person.key, ...rest)
  return {
    server,
    person,
    python,
    outcome,
    call: async <T>(name: string, ...rest: readonly unknown[]): Promise<T> => {
      const { error, body, result } = await outcome(name, ...rest)
      if (error !== undefined) throw new Error(`${name}: ${error} ${body ?? ''}`)
      return result as T
    },
    get: async <T>(path: string): Promise<T> => (await (await person.call(path)).json()) as T,
    end: async () => {
      python.end()
      await server.stop()
    },
  }
}

/** A test of every release, or of one. */
export type Group = readonly [title: string, work: (t: ExecutionContext, session: Session) => Promise<void>, only?: Release]

/** Registers the tests, with a separate server per release. */
export const pyclowderTests = async (test: TestFn, groups: readonly Group[]): Promise<void> => {
  const releases = await Promise.all(
    (['3.0.8', '2.7.0'] as const).map(async release => {
      const missing = await installPyclowder(release)
      // No server is started when all tests are skipped, since ava would not run the hook that stops it.
      return { release, missing, session: missing === undefined ? await begin(release) : undefined }
    }),
  )
  test.after.always(async () => {
    for (const { session } of releases) await session?.end()
  })

  for (const { release, missing, session } of releases) {
    const on = missing === undefined ? test : skippedBecause(test, missing)
    for (const [title, work, only] of groups) {
      if (only !== undefined && only !== release) continue
      on.serial(`pyclowder ${release}: ${title}`, async t => {
        if (session) await work(t, session)
      })
    }
  }
}
