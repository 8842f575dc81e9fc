import { registerHooks } from 'node:module'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Plugin } from 'pounce/sdk'
import { apiVersion, didYouMean, withTimeLimit } from 'pounce/sdk/kit'
import { errorPlace, noteLoadedModules } from '../error-place.ts'
import { bundledPlugins, entryOf, isOwnPlugin, ownIdPattern, ownPluginFile, ownPluginIds, requireName } from '../own-plugins.ts'
import type { NamedPlugin } from './plugin-graph.ts'
import { messageOf, StartupError } from './startup-error.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A plugin to load, named in the configuration or passed by a test. */
export interface PluginRequest {
  readonly plugin: string | Plugin
  readonly as?: string
  /** The folder from which a package is resolved first, before the kernel's own packages. */
  readonly from?: string
}

/** Resolves relative sources early, while it is known where they were specified. */
export const absoluteSource = (source: string, from: string): string => (/^\.\.?(\/|$)/.test(source) ? resolve(from, source) : source)

/** Requested packages, and the folders to resolve them from. */
const packages = new Map<string, string>()
let isHooked = false
/** The module that contains the imports below: this file, or the bundle. */
const here = pathToFileURL(import.meta.filename).href

/**
 * An external plugin imports `pounce/sdk` or `@pounce/sdk` and must get the SDK of this kernel, wherever it is installed: the kernel would not
 * recognize classes wired with a second copy. Packages may also be installed next to the configuration.
 */
const hookResolution = (): void => {
  if (isHooked) return
  isHooked = true
  noteLoadedModules()
  registerHooks({
    resolve: (specifier, context, next) => {
      if (/^@?pounce\/sdk(\/|$)/.test(specifier)) return next(specifier.replace('@', ''), { ...context, parentURL: import.meta.url })
      const from = context.parentURL === here ? packages.get(specifier) : undefined
      if (from === undefined) return next(specifier, context)
      try {
        return next(specifier, { ...context, parentURL: pathToFileURL(join(from, 'pounce.json')).href })
      } catch {
        // Not installed there: try the kernel's own packages.
        return next(specifier, context)
      }
    },
  })
}

const isOutside = (file: string): boolean => {
  const path = relative(root, file)
  return path.startsWith('..') || isAbsolute(path)
}

const urlOf = (source: string, from: string | undefined): string => {
  const own = ownPluginFile(source)
  if (own !== undefined) return pathToFileURL(own).href
  if (isAbsolute(source)) {
    const file = entryOf(source)
    if (isOutside(file)) hookResolution()
    return pathToFileURL(file).href
  }
  if (ownIdPattern.test(source) && source.includes('.') && ownPluginIds().some(id => id.split('.')[0] === source.split('.')[0]))
    throw new StartupError(`${source} is not part of this version${didYouMean(source, ownPluginIds(), 0.4)}`)
  hookResolution()
  if (from !== undefined) packages.set(source, from)
  return source
}

const isPlugin = (value: unknown): value is Plugin =>
  typeof value === 'object' && value !== null && 'isPlugin' in value && value.isPlugin === true

const isMissing = (error: unknown, source: string): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes(`'${source}'`)

const importPlugin = async (source: string, from: string | undefined): Promise<Plugin> => {
  const url = bundledPlugins.has(source) ? '' : urlOf(source, from)
  const load = bundledPlugins.get(source) ?? ((): Promise<{ readonly plugin?: unknown }> => import(url))
  let module: { readonly plugin?: unknown }
  try {
    // A top-level `await` that is pending would end the process without a message.
    module = await withTimeLimit(load(), 60_000, 'its modules did not load within 60 s')
  } catch (error) {
    if (isMissing(error, source))
      throw new StartupError(
        `The plugin ${source} is neither part of this version nor an installed package${didYouMean(source, ownPluginIds(), 0.4)}`,
      )
    throw new StartupError(`The plugin ${source} cannot be loaded: ${messageOf(error)}${errorPlace(error)}`, { cause: error })
  }
  if (!isPlugin(module.plugin)) throw new StartupError(`The plugin ${source} does not export \`plugin\` made by definePlugin`)
  return module.plugin
}

const isInTree = (source: string): boolean => isOwnPlugin(source) || (isAbsolute(source) && !isOutside(source))

const load = async ({ plugin: source, as, from }: PluginRequest): Promise<NamedPlugin> => {
  const plugin = typeof source === 'string' ? await importPlugin(source, from) : source
  if (typeof source === 'string' && isOwnPlugin(source) && plugin.id !== source)
    throw new StartupError(`The plugin in the folder of ${source} has the id ${plugin.id}`)
  const name = as ?? plugin.id
  if ((plugin.apiVersion ?? apiVersion) !== apiVersion)
    throw new StartupError(
      `${plugin.id} is written for version ${plugin.apiVersion} of the SDK: install a release for version ${apiVersion}`,
    )
  // A plugin passed by a test may replace a built-in one.
  if (typeof source === 'string') requireName(source, plugin, name, isInTree(source))
  return { name, plugin }
}

/** Loads plugins one by one: CommonJS cannot require the SDK while another imports it. Rejects duplicate names: a second copy needs `as`. */
export const loadPlugins = async (requests: readonly PluginRequest[]): Promise<readonly NamedPlugin[]> => {
  const loaded = await Array.fromAsync(requests, load)
  for (const [at, { name, plugin }] of loaded.entries()) {
    const first = loaded.findIndex(other => other.name === name)
    if (first === at) continue
    const [one, two] = [requests[first], requests[at]].map(request => (typeof request?.plugin === 'string' ? request.plugin : name))
    if (loaded[first]?.plugin !== plugin && name === plugin.id)
      throw new StartupError(`${one} and ${two} are different plugins that both have the id ${name}: change it in one of them`)
    throw new StartupError(`${name} is listed twice in "plugins": give one of them another name, {"plugin": "${two}", "as": "…"}`)
  }
  return loaded
}
