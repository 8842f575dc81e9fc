import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isRoute, type Route } from 'pounce/sdk'
import type { Declaration } from '../../core/http/router.ts'
import { loadPlugins } from '../../core/kernel/plugins.ts'
import { ownPluginIds } from '../../core/own-plugins.ts'
import { rootRoute, systemRoutes } from '../../core/system-routes.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

interface Declared {
  readonly plugin: string
  /** The plugin's own summary. */
  readonly summary: string
  readonly name: string
  readonly route: Route
}

const intro = `# Routes

Written by \`npm run docs\`; do not edit it. Every address that the server answers, by tag: who may call it, under which name OpenAPI and
generated clients have it (\`operationId\`), and where it is declared. An alias is the same route under another address.

A route is declared by the plugin that knows the answer: \`/api/datasets/:id/comments\` is the comments' plugin's. [Shared prefixes](#shared-prefixes) lists, for
each prefix with routes of several plugins, which plugin declares which of them and what it is for.
`

/** The page that maps routes to their sources. */
export const routesPage = async (): Promise<string> => {
  const declared = [...(await pluginRoutes()), ...coreRoutes()]
  const groups = Map.groupBy(declared, ({ route }) => route.group)
  const tags = [...groups].sort(([one], [other]) => (one < other ? -1 : 1))
  const sources = new Sources()
  const sections = await Promise.all(tags.map(async ([tag, all]) => section(tag, await Promise.all(all.map(each => row(each, sources))))))
  return [intro, sharedPrefixes(declared), ...sections].join('\n')
}

const pluginRoutes = async (): Promise<readonly Declared[]> =>
  (await loadPlugins(ownPluginIds().map(plugin => ({ plugin })))).flatMap(({ name: plugin, plugin: { summary, routes = {} } }) =>
    Object.entries(routes).flatMap(([name, route]) => (isRoute(route) ? [{ plugin, summary, name, route }] : [])),
  )

/** A stub for ports, which are not called here. */
const never = (): never => {
  throw new Error('Only declarations are read')
}

const coreRoutes = (): readonly Declared[] =>
  [
    ...systemRoutes({ ...{ readiness: never, isStopping: never, openapi: never, scrape: never }, metricsToken: undefined }),
    rootRoute(never),
  ].map(route => ({ ...route, summary: 'Health, metrics and the OpenAPI document.' }))

/** `/api/datasets` of `/api/datasets/:id/comments`. */
const prefixOf = ({ route }: Declared): string => route.declaration.path.split('/').slice(0, 3).join('/')

const byName = <T>([one]: readonly [string, T], [other]: readonly [string, T]): number => (one < other ? -1 : 1)

const sharedPrefixes = (declared: readonly Declared[]): string => {
  const prefixes = [...Map.groupBy(declared, prefixOf)].sort(byName)
  return ['## Shared prefixes\n', ...prefixes.flatMap(([prefix, all]) => sharedPrefix(prefix, all))].join('\n')
}

/** The plugin that the prefix is named after, then the others by number of routes. */
const sharedPrefix = (prefix: string, all: readonly Declared[]): readonly string[] => {
  const byPlugin = [...Map.groupBy(all, ({ plugin }) => plugin)]
  if (byPlugin.length === 1) return []
  const isNamesake = (plugin: string): number => Number(plugin.endsWith(`.${prefix.split('/')[2]}`))
  const ranked = byPlugin.sort(
    ([one, some], [other, others]) => isNamesake(other) - isNamesake(one) || others.length - some.length || (one < other ? -1 : 1),
  )
  const rows = ranked.map(([plugin, some], at) => {
    const names =
      at === 0
        ? `${some.length} routes`
        : some
            .map(({ name }) => `\`${name}\``)
            .sort()
            .join(', ')
    return `| ${plugin} | ${some[0]?.summary ?? ''} | ${names} |`
  })
  return [`### \`${prefix}\`\n`, '| Plugin | What it is for | Declares |', '| --- | --- | --- |', ...rows, '']
}

type Row = readonly [path: string, line: string]

const row = async ({ plugin, name, route: { declaration } }: Declared, sources: Sources): Promise<Row> => {
  const { method, path, aliases = [] } = declaration
  const others = aliases.map(alias => `\`${alias.method ?? method} ${alias.path}\``).join('<br>')
  const { file, line } = await sources.find(plugin, name, path)
  const shown = file.slice(file.lastIndexOf('/') + 1)
  const cells = [
    `\`${method}\``,
    `\`${path}\``,
    others,
    permissionOf(declaration),
    `\`${name}\``,
    plugin,
    `[${shown}:${line}](../${file}#L${line})`,
  ]
  return [`${path} ${method}`, `| ${cells.join(' | ')} |`]
}

const permissionOf = ({ permission }: Declaration): string => (typeof permission === 'string' ? permission : permission.right)

const section = (tag: string, rows: readonly Row[]): string => {
  const lines = [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, line]) => line)
  const head = '| Method | Address | Aliases | Permission | Operation | Plugin | Source |\n| --- | --- | --- | --- | --- | --- | --- |'
  return `## ${tag}\n\n${head}\n${lines.join('\n')}\n`
}

interface Place {
  readonly file: string
  readonly line: number
}

interface Source {
  readonly file: string
  readonly lines: readonly string[]
}

/** The sources of plugins, each read once. */
class Sources {
  readonly #byPlugin = new Map<string, Promise<readonly Source[]>>()

  /** The declaration of a route: the line of its export, or for a route created by a function, the line of its path. */
  async find(plugin: string, name: string, path: string): Promise<Place> {
    const sources = await this.#of(plugin)
    const starts = [`export const ${name} =`, `const ${name} =`]
    const found =
      placesOf(sources, line => starts.some(start => line.startsWith(start))).at(0) ??
      placesOf(sources, line => line.includes(`path: '${path}'`)).at(0)
    if (!found) throw new Error(`${plugin} has no line that declares the route ${name}`)
    return found
  }

  #of(plugin: string): Promise<readonly Source[]> {
    const read = this.#byPlugin.get(plugin) ?? readSources(plugin === 'core' ? 'core' : join('plugins', ...plugin.split('.')))
    this.#byPlugin.set(plugin, read)
    return read
  }
}

const readSources = async (folder: string): Promise<readonly Source[]> => {
  const files = globSync(`${folder}/**/*.ts`, { cwd: root }).filter(file => !file.endsWith('.test.ts'))
  // Route declarations first: a plugin may use the name of a route elsewhere.
  const ordered = files
    .map(file => file.replaceAll('\\', '/'))
    .sort((one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1))
  return await Promise.all(ordered.map(async file => ({ file, lines: (await readFile(join(root, file), 'utf8')).split('\n') })))
}

const placeOf = (file: string): number => (/route/.test(file) ? 0 : 1)

const placesOf = (sources: readonly Source[], fits: (line: string) => boolean): readonly Place[] =>
  sources.flatMap(({ file, lines }) => lines.flatMap((line, at) => (fits(line) ? [{ file, line: at + 1 }] : [])))
