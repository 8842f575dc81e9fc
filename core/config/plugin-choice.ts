import { takesMany } from 'pounce/sdk'
import type { NamedPlugin } from '../plan.ts'
import { absoluteSource, ownPluginFile, type PluginRequest } from '../plugins.ts'
import { StartRefused } from '../start-refused.ts'
import { brokerOf } from './clowder-names.ts'
import type { Environment } from './environment.ts'
import type { PluginEntry } from './kernel-schema.ts'
import { isSettings, type Settings } from './schema-tree.ts'

/** Settings from one source, with the folder that relative plugin folders start from. */
export interface PluginLayer {
  readonly settings: Settings
  readonly folder: string
}

/** Why settings of a plugin of ours can be unknown. */
export const idleReason = 'is in neither "plugins" nor "use", or has no such setting'

const requestOf = (entry: PluginEntry, from: string): PluginRequest =>
  typeof entry === 'string' ? { plugin: absoluteSource(entry, from), from } : { ...entry, plugin: absoluteSource(entry.plugin, from), from }

/** A list of `+name` and `-name` changes the list below it; any other list replaces it. */
const nextPlugins = (below: readonly PluginRequest[], { settings, folder }: PluginLayer): readonly PluginRequest[] => {
  const listed = settings['plugins']
  if (!Array.isArray(listed)) return below
  const entries = listed as readonly PluginEntry[]
  const isChange = entries.length > 0 && entries.every(entry => typeof entry === 'string' && /^[+-]/.test(entry))
  if (!isChange) return entries.filter(entry => typeof entry === 'string' || isSettings(entry)).map(entry => requestOf(entry, folder))
  return (entries as readonly string[]).reduce<readonly PluginRequest[]>((list, entry) => {
    const changed = requestOf(entry.slice(1), folder)
    const without = list.filter(one => (one.as ?? one.plugin) !== changed.plugin)
    return entry.startsWith('+') ? [...without, changed] : without
  }, below)
}

/** What `RABBITMQ_URI` switches on. */
const brokerPlugins = ['transport.rabbitmq', 'resources.event-sink']

const usedBecauseOf = (environment: Environment): readonly PluginRequest[] => {
  if (brokerOf(environment) === undefined) return []
  if (ownPluginFile('transport.rabbitmq') === undefined)
    throw new StartRefused('RABBITMQ_URI is set, but transport.rabbitmq is not part of this version: unset it to use the built-in queue')
  return brokerPlugins.filter(plugin => ownPluginFile(plugin) !== undefined).map(plugin => ({ plugin }))
}

/** What to load: the list, and what is used besides it or in the place of some of it. */
export interface PluginChoice {
  readonly requests: readonly PluginRequest[]
  /** Those that may push others out. */
  readonly used: ReadonlySet<PluginRequest>
}

/** Chooses by `plugins` and `use` of all layers, weakest first, and by Clowder's variables. */
export const choosePlugins = (layers: readonly PluginLayer[], environment: Environment, given?: readonly PluginRequest[]): PluginChoice => {
  const listed = given ?? layers.reduce(nextPlugins, [])
  const layer = layers.findLast(({ settings }) => Array.isArray(settings['use']))
  const named = ((layer?.settings['use'] ?? []) as readonly unknown[]).filter(entry => typeof entry === 'string')
  const wanted = [...named.map(entry => requestOf(entry, layer?.folder ?? '')), ...usedBecauseOf(environment)]
  const used = new Map(wanted.map(one => [one.plugin, listed.find(other => other.plugin === one.plugin && other.as === undefined) ?? one]))
  const added = [...used.values()].filter(one => !listed.includes(one))
  return { requests: [...listed, ...added], used: new Set(used.values()) }
}

/** Another choice: some plugins never, others in any case. */
export const chooseInstead = (
  { requests, used }: PluginChoice,
  { of, these }: { readonly of: readonly string[]; readonly these: readonly string[] },
): PluginChoice => {
  const left = requests.filter(({ plugin }) => typeof plugin !== 'string' || !of.includes(plugin))
  const added = these.filter(id => !left.some(({ plugin }) => plugin === id)).map(plugin => ({ plugin }))
  const all = [...left, ...added]
  return { requests: all, used: new Set(all.filter(one => used.has(one) || these.some(id => one.plugin === id))) }
}

const singlePorts = ({ plugin }: NamedPlugin): readonly string[] =>
  (plugin.provides ?? []).map(({ port }) => port).filter(port => !takesMany(port))

/** Without the plugins that provide what one of the used ones provides. */
export const withoutReplaced = <T extends NamedPlugin>(plugins: readonly T[], isUsed: (one: T) => boolean): readonly T[] => {
  const taken = new Set(plugins.filter(isUsed).flatMap(singlePorts))
  return plugins.filter(one => isUsed(one) || !singlePorts(one).some(port => taken.has(port)))
}
