import { realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { PluginRequest } from './kernel/plugins.ts'
import { entryOf, isOwnPlugin, ownPluginFile } from './own-plugins.ts'
import { programVersion } from './services/installation.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

/** The origin of a plugin: `built-in`, a package name or a folder. */
export interface PluginSource {
  readonly source: string
  readonly version?: string
}

const versionIn = async (file: string): Promise<string | undefined> => {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as { readonly version?: string }).version
}

/** The folder itself and its ancestors, nearest first. */
const upwards = (folder: string): readonly string[] => {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...upwards(above)]
}

const firstVersion = async (files: readonly string[]): Promise<{ readonly version?: string }> => {
  for (const file of files) {
    const version = await versionIn(file)
    if (version !== undefined) return { version }
  }
  return {}
}

/** The origin of a plugin. A folder has the version of the package that contains it. */
export const sourceOf = async (request: PluginRequest | undefined): Promise<PluginSource> => {
  const { plugin, from = root } = request ?? {}
  if (typeof plugin !== 'string') return { source: 'passed by the program' }
  if (isOwnPlugin(plugin)) return { source: 'built-in', version: programVersion }
  if (isAbsolute(plugin)) return { source: plugin, ...(await firstVersion(upwards(plugin).map(folder => join(folder, 'package.json')))) }
  const installed = [...upwards(from), ...upwards(root)].map(folder => join(folder, 'node_modules', plugin, 'package.json'))
  return { source: plugin, ...(await firstVersion(installed)) }
}

/** What the addresses of a plugin's files have in common; undefined of one that a program gave, or whose files are in the bundle of the server. */
const addressOf = ({ plugin }: PluginRequest): string | undefined => {
  if (typeof plugin !== 'string') return undefined
  const file = isAbsolute(plugin) ? entryOf(plugin) : ownPluginFile(plugin)
  if (file !== undefined) return `${pathToFileURL(dirname(realpathSync(file))).href}/`
  return isOwnPlugin(plugin) ? undefined : `/node_modules/${plugin}/`
}

/** Finds the name of the plugin in whose files an error arose: of the first line of its stack that is in one. */
export const pluginFinder = (plugins: readonly { readonly name: string; readonly request: PluginRequest }[]) => {
  const addresses = plugins.flatMap(({ name, request }) => {
    const address = addressOf(request)
    return address === undefined ? [] : [{ name, address }]
  })
  return (error: unknown): string | undefined => {
    const lines = error instanceof Error ? (error.stack ?? '').split('\n') : []
    for (const line of lines) {
      const found = addresses.find(({ address }) => line.includes(address))
      if (found) return found.name
    }
    return undefined
  }
}
