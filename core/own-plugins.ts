import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'pounce/sdk'
import { StartupError } from './kernel/startup-error.ts'

const tree = fileURLToPath(new URL('../plugins/', import.meta.url))

/** The format of built-in plugin ids. */
export const ownIdPattern = /^[a-z0-9-]+(?:\.[a-z0-9-]+)?$/

/** Loaders of the plugins in the server bundle, by id; empty if the server runs from source. */
export const bundledPlugins = new Map<string, () => Promise<{ readonly plugin?: unknown }>>()

/** The entry file of a built-in plugin in the source tree, if it exists. */
export const ownPluginFile = (id: string): string | undefined => {
  const file = join(tree, ...id.split('.'), 'index.ts')
  return ownIdPattern.test(id) && existsSync(file) ? file : undefined
}

/** Whether a plugin is built in. A package contains only the bundle. */
export const isOwnPlugin = (id: string): boolean => bundledPlugins.has(id) || ownPluginFile(id) !== undefined

const folders = (path: string): string[] =>
  existsSync(path) ? readdirSync(path, { withFileTypes: true }).flatMap(entry => (entry.isDirectory() ? [entry.name] : [])) : []

/** Ids of all built-in plugins. */
export const ownPluginIds = (): string[] => {
  const named = folders(tree).flatMap(kind => [kind, ...folders(join(tree, kind)).map(name => `${kind}.${name}`)])
  return [...new Set([...bundledPlugins.keys(), ...named.filter(id => ownPluginFile(id) !== undefined)])].sort()
}

/** The module of a plugin in a folder, or the file itself. Throws `StartupError` if it does not exist. */
export const entryOf = (folder: string): string => {
  if (!existsSync(folder)) throw new StartupError(`The plugin folder ${folder} does not exist`)
  if (!statSync(folder).isDirectory()) return folder
  const file = ['index.ts', 'index.js', 'index.mjs'].map(name => join(folder, name)).find(existsSync)
  if (file === undefined) throw new StartupError(`The plugin folder ${folder} has no index.ts or index.js`)
  return file
}

const outsideIdPattern = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/

/** Reserves the ids of built-in plugins, which identify their settings, collections and event progress. */
export const requireName = (source: string, plugin: Plugin, name: string, isOwn: boolean): void => {
  if (typeof plugin.id !== 'string' || !(isOwn ? ownIdPattern : outsideIdPattern).test(plugin.id))
    throw new StartupError(
      `The plugin ${source} has the id "${plugin.id}": an id is two or more parts of lower-case letters, digits and hyphens, joined by dots, such as example.bookmarks. Change it in definePlugin`,
    )
  if (!isOwn && isOwnPlugin(plugin.id))
    throw new StartupError(`The plugin ${source} has the id ${plugin.id}, which is the id of a plugin of Pounce: change it in definePlugin`)
  if (name !== plugin.id && isOwnPlugin(name))
    throw new StartupError(`The plugin ${source} cannot be named ${name}, the id of a plugin of Pounce: choose another name for "as"`)
}
