import { BlobStore, DocumentStore, GeoStore } from 'pounce/sdk'
import type { Environment } from '../kernel/config/environment.ts'
import type { PluginChoice } from '../kernel/config/plugin-choice.ts'
import { isSettings, type Settings } from '../kernel/config/schema-tree.ts'
import { type Config, type ConfigSources, loadConfig } from '../kernel/config.ts'
import { loadPlugins } from '../kernel/plugins.ts'
import { StartupError } from '../kernel/startup-error.ts'
import { isOwnPlugin, ownPluginIds } from '../own-plugins.ts'

/** The form of a plugin id in environment variables: `DOCUMENTS__SQLITE` for `documents.sqlite`. */
const variablePart = (id: string): string => id.replaceAll('-', '').split('.').join('__')
const plain = (variable: string): string =>
  variable
    .toLowerCase()
    .replace(/^pounce_/, '')
    .replace(/([^_])_([^_])/g, '$1$2')

/** The environment without the settings of these plugins. */
export const environmentWithout = (environment: Environment, ids: readonly string[]): Environment =>
  Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) => !/^pounce_/i.test(name) || !ids.some(id => plain(name).startsWith(`${variablePart(id).toLowerCase()}__`)),
    ),
  )

/** Flags by setting name, without those of these plugins. */
export const flagsWithout = (flags: Readonly<Record<string, string>>, ids: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(flags).filter(([name]) => !ids.some(id => name.startsWith(`${id}.`))))

/** A settings tree without the settings of these plugins. */
export const settingsWithout = (settings: Settings, ids: readonly string[]): Settings =>
  Object.fromEntries(
    Object.entries(settings).map(([kind, below]) => [
      kind,
      isSettings(below) ? Object.fromEntries(Object.entries(below).filter(([name]) => !ids.includes(`${kind}.${name}`))) : below,
    ]),
  )

/** The plugins that store records, blobs and datapoints. */
export interface StoreSelection {
  readonly documents: string
  readonly blobs: string
  /** Absent: the configured one, if any. */
  readonly points?: string
}

/** Parses `sqlite+disk` as `documents.sqlite` and `blobs.disk`; a suffix `+rtree` adds `geo.rtree`. */
export function parseStores(text: string, option: string): StoreSelection {
  const [documents, blobs, points, ...more] = text.split('+').map(part => part.trim())
  if (!documents || !blobs || points === '' || more.length > 0)
    throw new StartupError(
      `${option} ${text}: specify the document store and the blob store, such as sqlite+disk or mongodb+s3, and, to migrate datapoints, the datapoint store: sqlite+disk+rtree`,
    )
  const side = { documents: `documents.${documents}`, blobs: `blobs.${blobs}`, ...(points ? { points: `geo.${points}` } : {}) }
  for (const id of Object.values(side)) if (!isOwnPlugin(id)) throw new StartupError(`${option} ${text}: ${id} is not part of this version`)
  return side
}

/** The built-in plugins that are stores of these kinds. */
async function storePlugins(withPoints: boolean): Promise<readonly string[]> {
  const kinds = withPoints ? /^(documents|blobs|geo)\./ : /^(documents|blobs)\./
  const loaded = await loadPlugins(
    ownPluginIds()
      .filter(id => kinds.test(id))
      .map(plugin => ({ plugin })),
  )
  const stores: readonly string[] = [DocumentStore, BlobStore, GeoStore]
  return loaded.flatMap(({ plugin }) =>
    // Plugins that wrap a store are used on both sides.
    !plugin.wraps && plugin.provides?.some(({ port }) => stores.includes(port)) ? [plugin.id] : [],
  )
}

/** The same choice without some plugins and with others. */
const chooseInstead = (
  { requests, used, base }: PluginChoice,
  { of, these }: { readonly of: readonly string[]; readonly these: readonly string[] },
): PluginChoice => {
  const left = requests.filter(({ plugin }) => typeof plugin !== 'string' || !of.includes(plugin))
  const added = these.filter(id => !left.some(({ plugin }) => plugin === id)).map(plugin => ({ plugin }))
  const all = [...left, ...added]
  return { requests: all, used: new Set(all.filter(one => used.has(one) || these.some(id => one.plugin === id))), base }
}

/** The configuration with the stores of one side instead of the configured ones. Settings of other stores are omitted. */
export async function configFor({ documents, blobs, points }: StoreSelection, sources: ConfigSources): Promise<Config> {
  const stores = await storePlugins(points !== undefined)
  for (const id of [documents, blobs])
    if (!stores.includes(id)) throw new StartupError(`${id} is neither a document store nor a blob store`)
  if (points !== undefined && !stores.includes(points)) throw new StartupError(`${points} is not a datapoint store`)
  const these = [documents, blobs, ...(points === undefined ? [] : [points])]
  const of = stores.filter(id => !these.includes(id))
  return loadConfig({
    ...sources,
    environment: environmentWithout(sources.environment ?? {}, of),
    flags: flagsWithout(sources.flags ?? {}, of),
    overrule: { settings: layer => settingsWithout(layer, of), choice: choice => chooseInstead(choice, { of, these }) },
  })
}
