import { spawnSync } from 'node:child_process'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

let lastLoaded: string | undefined

/** Records each module before it is compiled: a syntax error does not include its location. */
export const noteLoadedModules = (): void => {
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context)
      if (url.startsWith('file:')) lastLoaded = fileURLToPath(url)
      return loaded
    },
  })
}

/** The program or its bundle, Node and packages are also in a stack; the first line with any other file is the location. */
const inStack = /(?:^|\(|at )(?:async )?(?:file:\/\/)?((?:\/|[A-Za-z]:[\\/])[^\n()]*?:\d+)(?=:\d+\)?$|\)?$)/m

/** Node's error when it compiles the module alone: its first line is `file:line`. */
const syntaxErrorIn = (file: string): string | undefined => {
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: 10_000 })
  return inStack.exec(stderr)?.[1]
}

/** The origin of an error, to append to its message: ` (file:line)`, or an empty string if unknown. */
export const errorPlace = (error: unknown): string => {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const place =
    inStack.exec(stack)?.[1] ?? (error instanceof SyntaxError && lastLoaded !== undefined ? syntaxErrorIn(lastLoaded) : undefined)
  return place === undefined ? '' : ` (${place})`
}
