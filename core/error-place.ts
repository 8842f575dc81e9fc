import { spawnSync } from 'node:child_process'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

let lastLoaded: string | undefined

/** Records each module before it is compiled, because a syntax error has no location. */
export const noteLoadedModules = (): void => {
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context)
      if (url.startsWith('file:')) lastLoaded = fileURLToPath(url)
      return loaded
    },
  })
}

/** The first stack line with a file path. */
const inStack = /(?:^|\(|at )(?:async )?(?:file:\/\/)?((?:\/|[A-Za-z]:[\\/])[^\n()]*?:\d+)(?=:\d+\)?$|\)?$)/m

/** The `file:line` that Node prints first when it only compiles the module. */
const syntaxErrorIn = (file: string): string | undefined => {
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: 10_000 })
  return inStack.exec(stderr)?.[1]
}

/** The location of an error as a suffix of its message: ` (file:line)`, or empty if unknown. */
export const errorPlace = (error: unknown): string => {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const place =
    inStack.exec(stack)?.[1] ?? (error instanceof SyntaxError && lastLoaded !== undefined ? syntaxErrorIn(lastLoaded) : undefined)
  return place === undefined ? '' : ` (${place})`
}
