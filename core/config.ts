import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { didYouMean, type Plugin } from 'pounce/sdk'
import { checkPart } from './config/check.ts'
import { fromClowder } from './config/clowder-names.ts'
import { coerce } from './config/coerce.ts'
import { type Environment, fromEnvironment } from './config/environment.ts'
import { type KernelConfig, kernelSchema, type PluginEntry } from './config/kernel-schema.ts'
import { chooseInstead, choosePlugins, idleReason, withoutReplaced } from './config/plugin-choice.ts'
import * as tree from './config/schema-tree.ts'
import { environmentWithout, flagsWithout, settingsWithout } from './config/without.ts'
import type { NamedPlugin } from './plan.ts'
import { absoluteSource, loadPlugins, ownPluginFile, type PluginRequest } from './plugins.ts'
import { messageOf, StartRefused } from './start-refused.ts'

/** Where settings come from, weakest first. */
export interface ConfigSources {
  /** Instead of `config/default.json`. */
  readonly defaults?: tree.Settings
  /** Path of a JSON file. */
  readonly file?: string
  readonly environment?: Environment
  /** Dotted names with text, as typed: `{'http.port': '0'}`. */
  readonly flags?: Readonly<Record<string, string>>
  /** Above everything else: for tests. */
  readonly settings?: tree.Settings
  /** Plugins that run in the place of others, whatever the layers say; settings of the others are left out. For moving from store to store. */
  readonly instead?: { readonly of: readonly string[]; readonly these: readonly string[] }
  /** Instead of the configured list: for tests. */
  readonly plugins?: readonly (PluginEntry | Plugin)[]
}

/** A plugin with its own checked settings. */
export interface ConfiguredPlugin extends NamedPlugin {
  readonly config: unknown
}

/** A checked configuration. */
export interface Config {
  readonly kernel: KernelConfig
  readonly plugins: readonly ConfiguredPlugin[]
  /** For the log: settings that have no effect. */
  readonly warnings: readonly string[]
  /** Everything that is set, with defaults, secrets masked. */
  print(): tree.Settings
}

/** One layer before it is known what the plugins allow. */
interface Layer {
  readonly source: string
  readonly settings: tree.Settings
  /** What relative plugin folders start from. */
  readonly folder: string
}

const kernelNode = tree.nodeOf(kernelSchema)
const defaultFile = fileURLToPath(new URL('../config/default.json', import.meta.url))

const readLayer = async (file: string): Promise<Layer> => {
  const path = resolve(file)
  try {
    const settings = JSON.parse(await readFile(path, 'utf8')) as unknown
    if (!tree.isSettings(settings)) throw new Error('it does not hold an object')
    return { source: file, settings, folder: dirname(path) }
  } catch (error) {
    throw new StartRefused(`The configuration file ${file} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

const fileLayers = async ({ defaults, file, instead }: ConfigSources): Promise<Layer[]> =>
  [
    defaults ? { source: 'the defaults', settings: defaults, folder: process.cwd() } : await readLayer(defaultFile),
    ...(file === undefined ? [] : [await readLayer(file)]),
  ].map(layer => ({ ...layer, settings: settingsWithout(layer.settings, instead?.of ?? []) }))

const handedOver = (plugins: readonly (PluginEntry | Plugin)[]): readonly PluginRequest[] =>
  plugins.map(one => {
    if (typeof one === 'string') return { plugin: absoluteSource(one, process.cwd()) }
    return 'isPlugin' in one ? { plugin: one } : { ...one, plugin: absoluteSource(one.plugin, process.cwd()) }
  })

/** Loads what the layers choose. Which settings there are is known only afterwards. */
const loadChosen = async (sources: ConfigSources, files: readonly Layer[]) => {
  const { layers } = outsideLayers(sources, tree.mergeParts([{ name: 'kernel', path: [], schema: choiceOnly }]))
  const choice = choosePlugins([...files, ...layers], sources.environment ?? {}, sources.plugins && handedOver(sources.plugins))
  const { requests, used } = sources.instead ? chooseInstead(choice, sources.instead) : choice
  const loaded = await loadPlugins(requests)
  const chosen = loaded.map((one, at) => ({ ...one, request: requests[at] as PluginRequest }))
  return withoutReplaced(chosen, ({ request }) => used.has(request))
}

const choiceOnly: tree.Node = {
  type: 'object',
  properties: { plugins: kernelNode.properties?.['plugins'] ?? {}, use: kernelNode.properties?.['use'] ?? {} },
}

/** Environment, flags and tests' settings as layers, in this order. */
const outsideLayers = (sources: ConfigSources, schema: tree.Node) => {
  const environment = fromEnvironment(sources.environment ?? {}, schema, id =>
    ownPluginFile(id) === undefined ? undefined : `belongs to the plugin ${id}, which ${idleReason}`,
  )
  const nodeAt = (path: readonly string[]) => path.reduce<tree.Node | undefined>((node, key) => node?.properties?.[key], schema)
  const clowder = fromClowder(sources.environment ?? {}, path => nodeAt(path) !== undefined)
  const problems = [...environment.problems]
  const layers: Layer[] = []
  const add = (source: string, path: readonly string[], value: unknown): void => {
    layers.push({ source, settings: tree.put({}, path, value), folder: process.cwd() })
  }
  for (const { variable, path, text } of clowder.settings) add(variable, path, coerce(text, nodeAt(path) ?? {}))
  for (const { variable, path, value } of environment.settings) add(variable, path, value)
  for (const [name, text] of Object.entries(sources.flags ?? {})) {
    const node = nodeAt(name.split('.'))
    if (node) add(`--${name}`, name.split('.'), coerce(text, node))
    else problems.push(`${name} is no setting${didYouMean(name, tree.settingNames(schema))}`)
  }
  if (sources.settings) layers.push({ source: 'the test', settings: sources.settings, folder: process.cwd() })
  return { layers, problems, warnings: clowder.warnings }
}

/** A whole kind of plugins may be unknown: then its members say more. */
const expanded = (name: string, settings: tree.Settings): string[] => {
  const value = tree.at(settings, name.split('.'))
  return !name.includes('.') && tree.isSettings(value) && Object.keys(value).length > 0
    ? Object.keys(value).map(key => `${name}.${key}`)
    : [name]
}

const unknownIn = (layer: Layer, schema: tree.Node): string[] =>
  tree
    .unknownNames(layer.settings, schema)
    .flatMap(name => expanded(name, layer.settings))
    .map(name => {
      const id = name.split('.').slice(0, 2).join('.')
      if (ownPluginFile(id) !== undefined) return `${name} in ${layer.source} belongs to the plugin ${id}, which ${idleReason}`
      return `${name} in ${layer.source} is no setting${didYouMean(name, tree.settingNames(schema))}`
    })

const refuse = (problems: readonly string[]): void => {
  if (problems.length > 0) throw new StartRefused(`The configuration is refused:\n${problems.map(problem => `  - ${problem}`).join('\n')}`)
}

const withoutReplacedSettings = (sources: ConfigSources): ConfigSources => {
  const { of = [] } = sources.instead ?? {}
  if (of.length === 0) return sources
  const { environment = {}, flags = {} } = sources
  return { ...sources, environment: environmentWithout(environment, of), flags: flagsWithout(flags, of) }
}

/** Reads and checks all layers: defaults < file < environment < flags. Loads the plugins on the way, because they say which settings there are. */
export const loadConfig = async (given: ConfigSources = {}): Promise<Config> => {
  const sources = withoutReplacedSettings(given)
  const files = await fileLayers(sources)
  const plugins = await loadChosen(sources, files)
  const kernelPart: tree.Part = { name: 'kernel', path: [], schema: kernelNode }
  const pluginParts = plugins.map(({ name, plugin }) => ({
    name,
    path: name.split('.'),
    schema: tree.nodeOf(plugin.config),
  }))
  const schema = tree.mergeParts([kernelPart, ...pluginParts])
  const outside = outsideLayers(sources, schema)
  // The defaults of this version are as they should be; a test sees to that.
  const set = [...files.slice(sources.defaults ? 0 : 1), ...outside.layers]
  refuse([...outside.problems, ...[...files, ...outside.layers].flatMap(layer => unknownIn(layer, schema))])

  const merged = [...files, ...outside.layers].reduce<unknown>((below, layer) => tree.overlay(below, layer.settings), {})
  const sourceOf = (name: string): string | undefined =>
    set.findLast(layer => tree.at(layer.settings, name.split('.')) !== undefined)?.source
  const touched = set.reduce<unknown>((below, layer) => tree.overlay(below, layer.settings), {})
  const check = (part: tree.Part) => checkPart(part, tree.at(merged, part.path), tree.at(touched, part.path), sourceOf)

  const kernel = await check(kernelPart)
  const own = await Promise.all(pluginParts.map(check))
  refuse([kernel, ...own].flatMap(({ problems }) => problems))
  return assemble(
    kernel.value as KernelConfig,
    plugins,
    own.map(({ value }) => value),
    outside.warnings,
    schema,
  )
}

const assemble = (
  kernel: KernelConfig,
  plugins: readonly (NamedPlugin & { readonly request: PluginRequest })[],
  configs: readonly unknown[],
  warnings: readonly string[],
  schema: tree.Node,
): Config => {
  const configured = plugins.map(({ name, plugin }, at) => ({ name, plugin, config: Object.freeze(configs[at] ?? {}) }))
  const listed = plugins.map(({ name, request: { plugin, as } }) =>
    as === undefined ? (typeof plugin === 'string' ? plugin : name) : { plugin, as },
  )
  return {
    kernel: Object.freeze({ ...kernel, data: resolve(kernel.data) }),
    plugins: configured,
    warnings,
    print: () => {
      const whole = configured.reduce<tree.Settings>(
        (settings, { name, config }) =>
          tree.isSettings(config) && Object.keys(config).length > 0
            ? tree.put(settings, name.split('.'), tree.overlay(tree.at(settings, name.split('.')) ?? {}, config))
            : settings,
        { ...kernel, plugins: listed, data: resolve(kernel.data) } as tree.Settings,
      )
      return tree.maskSecrets(whole, schema) as tree.Settings
    },
  }
}
