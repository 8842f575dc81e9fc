import { spawnSync } from 'node:child_process'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

let lastLoaded: string | undefined

/** Notes each module before it is compiled: a syntax error does not say where it is. */
export const noteLoadedModules = (): void => {
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context)
      if (url.startsWith('file:')) lastLoaded = fileURLToPath(url)
      return loaded
    },
  })
}

/** The program or its bundle, Node and packages are in a stack too; what is wanted is the first line that has a file at all. */
const inStack = /(?:^|\(|at )(?:async )?(?:file:\/\/)?((?:\/|[A-Za-z]:[\\/])[^\n()]*?:\d+)(?=:\d+\)?$|\)?$)/m

/** What Node says of the module when it compiles it alone: its first line is `file:line`. */
const syntaxErrorIn = (file: string): string | undefined => {
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: 10_000 })
  return inStack.exec(stderr)?.[1]
}

/** Where an error comes from, to follow its message: ` (file:line)`, or nothing when that cannot be found out. */
export const errorPlace = (error: unknown): string => {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const place =
    inStack.exec(stack)?.[1] ?? (error instanceof SyntaxError && lastLoaded !== undefined ? syntaxErrorIn(lastLoaded) : undefined)
  return place === undefined ? '' : ` (${place})`
}
