import { takesMany } from 'pounce/sdk'
import { didYouMean } from 'pounce/sdk/kit'
import { isOwnPlugin } from '../../own-plugins.ts'
import type { NamedPlugin } from '../plugin-graph.ts'
import { absoluteSource, type PluginRequest } from '../plugins.ts'
import { StartupError } from '../startup-error.ts'
import type { PluginEntry } from './kernel-schema.ts'
import { isSettings, type Settings } from './schema-tree.ts'

/** Settings from one source, with the base folder of relative plugin folders. */
export interface PluginLayer {
  readonly settings: Settings
  readonly folder: string
  /** Present if the list was given as text. */
  readonly typed?: unknown
}

const nameOf = ({ plugin, as }: PluginRequest): string => as ?? (typeof plugin === 'string' ? plugin : plugin.id)
const requestOf = (entry: PluginEntry, from: string): PluginRequest =>
  typeof entry === 'string' ? { plugin: absoluteSource(entry, from), from } : { ...entry, plugin: absoluteSource(entry.plugin, from), from }

/** A list of `+name` and `-name` modifies the list below it, and copies in it are added; any other list replaces it. Empty text is ignored. */
const nextPlugins = (below: readonly PluginRequest[], { settings, folder, typed }: PluginLayer): readonly PluginRequest[] => {
  const listed = settings['plugins']
  if (!Array.isArray(listed) || (typed && listed.length === 0)) return below
  const entries = (listed as readonly PluginEntry[]).filter(entry => typeof entry === 'string' || isSettings(entry))
  const texts = entries.filter(entry => typeof entry === 'string')
  const [change, plain] = [texts.find(text => /^[+-]/.test(text)), texts.find(text => !/^[+-]/.test(text))]
  if (change === undefined) return entries.map(entry => requestOf(entry, folder))
  if (plain !== undefined)
    throw new StartupError(`"plugins" mixes ${change}, which modifies the list, with ${plain}, which replaces it: prefix it with + or -`)
  return entries.reduce<readonly PluginRequest[]>((list, entry) => {
    const changed = requestOf(typeof entry === 'string' ? entry.slice(1) : entry, folder)
    const without = list.filter(one => nameOf(one) !== nameOf(changed))
    if (typeof entry !== 'string' || entry.startsWith('+')) return [...without, changed]
    if (without.length < list.length || isOwnPlugin(nameOf(changed))) return without
    const candidates = list.map(one => `-${nameOf(one)}`)
    throw new StartupError(`${entry} does not match any listed plugin${didYouMean(entry, candidates, 0.4)}`)
  }, below)
}

/** The entries of the highest layer that sets this list. */
const highestEntries = (layers: readonly PluginLayer[], name: 'replacePlugins' | 'basePlugins'): readonly PluginRequest[] => {
  const layer = layers.findLast(({ settings }) => Array.isArray(settings[name]))
  const entries = (layer?.settings[name] ?? []) as readonly unknown[]
  return entries.filter(entry => typeof entry === 'string').map(entry => requestOf(entry, layer?.folder ?? ''))
}

/** The plugins to load: the list, and plugins that are added to it or replace listed ones. */
export interface PluginChoice {
  readonly requests: readonly PluginRequest[]
  /** Plugins that may replace others. */
  readonly used: ReadonlySet<PluginRequest>
  /** Plugins that any other may replace. */
  readonly base: ReadonlySet<PluginRequest>
}

/** The same choice with additional used plugins. */
export const withUsed = ({ requests, used, base }: PluginChoice, wanted: readonly PluginRequest[]): PluginChoice => {
  const named = new Map(
    wanted.map(one => [one.plugin, requests.find(other => other.plugin === one.plugin && other.as === undefined) ?? one]),
  )
  const added = [...named.values()].filter(one => !requests.includes(one))
  const listed = requests.filter(one => !base.has(one))
  return { requests: [...listed, ...added, ...base], used: new Set([...used, ...named.values()]), base }
}

/** Evaluates `plugins`, `replacePlugins` and `basePlugins` of all layers, lowest precedence first. */
export const choosePlugins = (layers: readonly PluginLayer[], given?: readonly PluginRequest[]): PluginChoice => {
  const listed = given ?? layers.reduce(nextPlugins, [])
  const chosen = withUsed({ requests: listed, used: new Set(), base: new Set() }, highestEntries(layers, 'replacePlugins'))
  const isChosen = ({ plugin }: PluginRequest): boolean => chosen.requests.some(one => one.plugin === plugin && one.as === undefined)
  const base = highestEntries(layers, 'basePlugins').filter(one => !isChosen(one))
  return { ...chosen, requests: [...chosen.requests, ...base], base: new Set(base) }
}

const singlePorts = ({ plugin }: NamedPlugin): readonly string[] =>
  (plugin.provides ?? []).map(({ port }) => port).filter(port => !takesMany(port))

/** Without the plugins that provide the same port as one of the stronger ones. */
const withoutReplaced = <T extends NamedPlugin>(plugins: readonly T[], hasPriority: (one: T) => boolean): readonly T[] => {
  const taken = new Set(plugins.filter(hasPriority).flatMap(singlePorts))
  return plugins.filter(one => hasPriority(one) || !singlePorts(one).some(port => taken.has(port)))
}

/** The loaded plugins in request order, without those that others replace. */
export const withoutReplacedPlugins = <T extends NamedPlugin>(loaded: readonly T[], { requests, used, base }: PluginChoice) => {
  const chosen = loaded.map((one, at) => ({ ...one, request: requests[at] as PluginRequest }))
  const listed = withoutReplaced(chosen, ({ request }) => used.has(request))
  return withoutReplaced(listed, ({ request }) => !base.has(request))
}
