import { Commands } from 'pounce/sdk'
import type { TestServer } from 'pounce/sdk/testing'

type Row = Readonly<Record<string, unknown>>

/** Runs all parts of a command of the plugins in the server. */
export const runCommand = async (
  server: TestServer,
  name: string,
  options: Readonly<Record<string, string | boolean>> = {},
): Promise<readonly Row[]> => {
  const parts = server
    .get(Commands)
    .all()
    .filter(each => each.name === name)
  return (await Promise.all(parts.map(each => each.run({ arguments: {}, options }, () => undefined)))).flat()
}

/** The problems that `pounce doctor` finds, by check. */
export const problemsOf = async (
  server: TestServer,
  options: Readonly<Record<string, string | boolean>> = {},
): Promise<Readonly<Record<string, string>>> => {
  const rows = await runCommand(server, 'doctor', options)
  return Object.fromEntries(rows.filter(({ ok }) => ok !== true).map(({ check, detail }) => [String(check), String(detail)]))
}
