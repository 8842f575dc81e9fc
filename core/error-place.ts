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

/** The location in each stack line that has a file path. */
const inStack = /(?:^|\(|at )(?:async )?(?:file:\/\/)?((?:\/|[A-Za-z]:[\\/])[^\n()]*?:\d+)(?=:\d+\)?$|\)?$)/gm

const placesIn = (text: string): readonly string[] => Array.from(text.matchAll(inStack), ([, place = '']) => place)

/** The `file:line` that Node prints first when it only compiles the module. */
const syntaxErrorIn = (file: string): string | undefined => {
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: 10_000 })
  return placesIn(stderr)[0]
}

/** The folders of Pounce's own code: a mistake in a plugin often surfaces there, such as in `definePlugin`. */
const ownFolders = ['chunks/', 'core/', 'dist/', 'node_modules/', 'sdk/'].map(name => fileURLToPath(new URL(`../${name}`, import.meta.url)))

/** Node assumes CommonJS after an error in a module whose package has no type, and reports the `import` instead of that error. */
const hintOf = (error: unknown): string =>
  error instanceof SyntaxError && error.message.includes('import statement outside a module')
    ? '. The error may be another one: Node reports it once the package.json of the plugin has "type": "module"'
    : ''

/** The location of a plugin's error as a suffix of its message: ` (file:line)` of the first stack line outside Pounce, or empty if unknown. */
export const errorPlace = (error: unknown): string => {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const place =
    placesIn(stack).find(each => !ownFolders.some(folder => each.startsWith(folder))) ??
    (error instanceof SyntaxError && lastLoaded !== undefined ? syntaxErrorIn(lastLoaded) : undefined)
  return `${place === undefined ? '' : ` (${place})`}${hintOf(error)}`
}
