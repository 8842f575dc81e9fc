import { type Command, Commands } from 'pounce/sdk'
import { DatabaseDoctor } from 'pounce/sdk/sqlite'
import type { TestServer } from 'pounce/sdk/testing'

type Row = Readonly<Record<string, unknown>>

type Options = Readonly<Record<string, string | boolean>>

const runParts = async (parts: readonly Command[], options: Options): Promise<readonly Row[]> =>
  (await Promise.all(parts.map(each => each.run({ arguments: {}, options }, () => undefined)))).flat()

const partsOf = (server: TestServer, name: string): readonly Command[] =>
  server
    .get(Commands)
    .all()
    .filter(each => each.name === name)

/** Runs all parts of a command of the plugins in the server. */
export const runCommand = (server: TestServer, name: string, options: Options = {}): Promise<readonly Row[]> =>
  runParts(partsOf(server, name), options)

/** The results for the databases. */
export const databaseRows = (server: TestServer, options: Options = {}): Promise<readonly Row[]> =>
  runParts(
    partsOf(server, 'doctor').filter(part => part instanceof DatabaseDoctor),
    options,
  )

/** The problems that `pounce doctor` finds in records and stored bytes, by check. Databases are left out: each check of one starts a process. */
export const problemsOf = async (server: TestServer, options: Options = {}): Promise<Readonly<Record<string, string>>> => {
  const rows = await runParts(
    partsOf(server, 'doctor').filter(part => !(part instanceof DatabaseDoctor)),
    options,
  )
  return Object.fromEntries(rows.filter(({ ok }) => ok !== true).map(({ check, detail }) => [String(check), String(detail)]))
}
