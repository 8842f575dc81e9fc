import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'pounce/sdk'
import { didYouMean } from 'pounce/sdk/kit'
import { type CheckedPart, checkPart, type Origin } from './config/check.ts'
import { coerce } from './config/coerce.ts'
import { type Environment, fromAliases, fromEnvironment, unknownSetting, usedByAliases } from './config/environment.ts'
import { type KernelConfig, kernelSchema, type PluginEntry } from './config/kernel-schema.ts'
import { choosePlugins, type PluginChoice, type PluginLayer, withoutReplacedPlugins, withUsed } from './config/plugin-choice.ts'
import * as tree from './config/schema-tree.ts'
import type { NamedPlugin } from './plugin-graph.ts'
import { absoluteSource, loadPlugins, type PluginRequest } from './plugins.ts'
import { messageOf, StartupError } from './startup-error.ts'

/** Sources of settings, lowest precedence first. */
export interface ConfigSources {
  /** Replaces `config/default.json`. */
  readonly defaults?: tree.Settings
  /** Path of a JSON file. */
  readonly file?: string
  readonly environment?: Environment
  /** Setting names and values as typed: `{'http.port': '0'}`. */
  readonly flags?: Readonly<Record<string, string>>
  /** The flags as typed, by setting name, if not given with `--set`. */
  readonly flagSpellings?: Readonly<Record<string, string>>
  /** Highest precedence. For tests. */
  readonly settings?: tree.Settings
  /** Overrides by a command of the settings and plugin lists in the files. */
  readonly overrule?: {
    readonly settings: (layer: tree.Settings) => tree.Settings
    readonly choice: (choice: PluginChoice) => PluginChoice
  }
  /** Instead of the configured list. For tests. */
  readonly plugins?: readonly (PluginEntry | Plugin)[]
}

/** A plugin with its validated settings. */
export interface ConfiguredPlugin extends NamedPlugin {
  readonly config: unknown
  readonly request: PluginRequest
}

/** A validated configuration. */
export interface Config {
  readonly kernel: KernelConfig
  readonly plugins: readonly ConfiguredPlugin[]
  /** Settings that have no effect, for the log. */
  readonly warnings: readonly string[]
  /** All settings including defaults, with secrets masked. */
  print(): tree.Settings
}

/** One layer, not yet validated against the plugins' schemas. */
interface Layer extends PluginLayer {
  readonly source: string
  readonly typed?: Origin['typed']
}

const kernelNode = tree.nodeOf(kernelSchema)
const defaultFile = fileURLToPath(new URL('../../config/default.json', import.meta.url))

const readLayer = async (file: string): Promise<Layer> => {
  const path = resolve(file)
  try {
    const settings = JSON.parse(await readFile(path, 'utf8')) as unknown
    if (!tree.isSettings(settings)) throw new Error('it is not a JSON object')
    return { source: file, settings, folder: dirname(path) }
  } catch (error) {
    throw new StartupError(`The configuration file ${file} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

export const fileLayers = async ({ defaults, file, overrule }: ConfigSources): Promise<Layer[]> =>
  [
    defaults ? { source: 'the defaults', settings: defaults, folder: process.cwd() } : await readLayer(defaultFile),
    ...(file === undefined ? [] : [await readLayer(file)]),
  ].map(layer => ({ ...layer, settings: overrule ? overrule.settings(layer.settings) : layer.settings }))

const requestsOf = (plugins: readonly (PluginEntry | Plugin)[]): readonly PluginRequest[] =>
  plugins.map(one => {
    if (typeof one === 'string') return { plugin: absoluteSource(one, process.cwd()) }
    return 'isPlugin' in one ? { plugin: one } : { ...one, plugin: absoluteSource(one.plugin, process.cwd()) }
  })

/** Loads the plugins that the layers choose; their schemas are known only afterwards. */
const loadChosen = async (sources: ConfigSources, files: readonly Layer[]) => {
  const { layers } = outsideLayers(sources, tree.mergeParts([{ name: 'kernel', path: [], schema: choiceOnly }]))
  const known = files.map(layer => ({ ...layer, settings: tree.toPresentNames(layer.settings, choiceOnly, layer.source) }))
  const configured = choosePlugins([...known, ...layers], sources.plugins && requestsOf(sources.plugins))
  const loaded = await loadPlugins(configured.requests)
  const aliased = usedByAliases(loaded, sources.environment ?? {})
  if (aliased.length === 0 && !sources.overrule) return withoutReplacedPlugins(loaded, configured)
  const used = withUsed(
    configured,
    aliased.map(plugin => ({ plugin })),
  )
  const choice = sources.overrule ? sources.overrule.choice(used) : used
  return withoutReplacedPlugins(await loadPlugins(choice.requests), choice)
}

/** The part of the kernel's schema for these settings. */
export const settingsOnly = (...names: readonly string[]): tree.Node => ({
  type: 'object',
  properties: Object.fromEntries(names.map(name => [name, kernelNode.properties?.[name] ?? {}])),
})
const choiceOnly = settingsOnly('plugins', 'replacePlugins', 'basePlugins')

/** The path of a plugin's settings. */
const pathOf = ({ name, plugin }: NamedPlugin): readonly string[] => ((name === plugin.id && plugin.configPath) || name).split('.')

const rejectionOf = (name: string, schema: tree.Node): string => {
  const { reason, candidates } = unknownSetting(name, schema)
  if (candidates.includes(name)) return `must be nested: ${JSON.stringify(tree.put({}, name.split('.'), '…'))}`
  return reason ?? `is not a setting${didYouMean(name, candidates)}`
}

/** Layers of the environment, the flags and the settings of tests, in this order. */
export const outsideLayers = (sources: ConfigSources, present: tree.Node, plugins: readonly NamedPlugin[] = []) => {
  const schema = tree.withFormerNames(present)
  const environment = fromEnvironment(sources.environment ?? {}, schema, name => unknownSetting(name, schema))
  const nodeAt = (path: readonly string[]) => path.reduce<tree.Node | undefined>((node, key) => node?.properties?.[key], schema)
  const aliased = fromAliases(plugins, sources.environment ?? {}, path => nodeAt(path) !== undefined)
  const problems: (() => string)[] = []
  const layers: Layer[] = []
  const add = (source: string, path: readonly string[], value: unknown, text: string): void => {
    layers.push({
      source,
      settings: tree.toPresentNames(tree.put({}, path, value), present, source),
      folder: process.cwd(),
      typed: { name: path.join('.'), text },
    })
  }
  for (const { variable, path, text } of aliased.settings) add(variable, path, coerce(text, nodeAt(path) ?? {}), text)
  for (const { variable, path, value, text } of environment.settings) add(variable, path, value, text)
  for (const [name, text] of Object.entries(sources.flags ?? {})) {
    const node = nodeAt(name.split('.'))
    if (node) add(sources.flagSpellings?.[name] ?? `--set ${name}`, name.split('.'), coerce(text, node), text)
    else problems.push(() => `${name} ${rejectionOf(name, schema)}`)
  }
  if (sources.settings)
    layers.push({ source: 'the test', settings: tree.toPresentNames(sources.settings, present, 'the test'), folder: process.cwd() })
  return { layers, problems: () => [...environment.problems(), ...problems.map(describe => describe())], warnings: aliased.warnings }
}

/** If a whole kind of plugins is unknown, its members make a better message. */
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
    .map(name => `${name} in ${layer.source} ${rejectionOf(name, schema)}`)

const refuse = (problems: readonly string[]): void => {
  if (problems.length > 0) throw new StartupError(`Invalid configuration:\n${problems.map(problem => `  - ${problem}`).join('\n')}`)
}

/** Reads and validates all layers: defaults < file < environment < flags. Loads the plugins, because they declare their settings. */
export const loadConfig = async (sources: ConfigSources = {}): Promise<Config> => {
  const read = await fileLayers(sources)
  const plugins = await loadChosen(sources, read)
  const kernelPart: tree.Part = { name: 'kernel', path: [], schema: kernelNode }
  const pluginParts = plugins.map(one => ({ name: one.name, path: pathOf(one), schema: tree.nodeOf(one.plugin.config) }))
  const schema = tree.mergeParts([kernelPart, ...pluginParts])
  const files = read.map(layer => ({ ...layer, settings: tree.toPresentNames(layer.settings, schema, layer.source) }))
  const outside = outsideLayers(sources, schema, plugins)
  // The defaults of this version are validated by a test.
  const set = [...files.slice(sources.defaults ? 0 : 1), ...outside.layers]
  refuse([...outside.problems(), ...[...files, ...outside.layers].flatMap(layer => unknownIn(layer, schema))])

  const merged = [...files, ...outside.layers].reduce<unknown>((below, layer) => tree.overlay(below, layer.settings), {})
  const originOf = (name: string): Origin | undefined => set.findLast(layer => tree.at(layer.settings, name.split('.')) !== undefined)
  const configured = set.reduce<unknown>((below, layer) => tree.overlay(below, layer.settings), {})
  const check = (part: tree.Part) => checkPart(part, tree.at(merged, part.path), tree.at(configured, part.path), originOf)

  const kernel = await check(kernelPart)
  const own = await Promise.all(pluginParts.map(check))
  refuse([kernel, ...own].flatMap(({ problems }) => problems))
  return assemble(kernel.value as KernelConfig, plugins, own, outside.warnings, schema)
}

const assemble = (
  kernel: KernelConfig,
  plugins: readonly (NamedPlugin & { readonly request: PluginRequest })[],
  own: readonly CheckedPart[],
  warnings: readonly string[],
  schema: tree.Node,
): Config => {
  const configured = plugins.map((one, at) => ({ ...one, config: Object.freeze(own[at]?.value ?? {}) }))
  const listed = plugins.map(({ name, request: { plugin, as } }) =>
    as === undefined ? (typeof plugin === 'string' ? plugin : name) : { plugin, as },
  )
  return {
    kernel: Object.freeze({ ...kernel, data: resolve(kernel.data) }),
    plugins: configured,
    warnings,
    print: () => {
      const whole = configured.reduce<tree.Settings>(
        (settings, one) =>
          tree.isSettings(one.config) && Object.keys(one.config).length > 0
            ? tree.put(settings, pathOf(one), tree.overlay(tree.at(settings, pathOf(one)) ?? {}, one.config))
            : settings,
        { ...kernel, plugins: listed, data: resolve(kernel.data) } as tree.Settings,
      )
      return tree.maskSecrets(whole, schema) as tree.Settings
    },
  }
}
