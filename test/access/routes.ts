import { readFile } from 'node:fs/promises'
import { isRoute, type Plugin, type Route } from 'pounce/sdk'
import { geoNumberOf } from 'pounce/sdk/geo'
import type { Reference } from 'pounce/sdk/kit'
import { loadPlugins } from '../../core/kernel/plugins.ts'

/** A route of the server, with all of its paths. */
export interface MatrixRoute {
  readonly plugin: string
  readonly name: string
  readonly declaration: Route['declaration']
  readonly addresses: readonly { readonly method: string; readonly path: string }[]
}

/** Plugins with routes that are not enabled by default because they need a server. */
const alsoRequested: readonly string[] = []

/** The plugins of the matrix: the default plugins and the additional ones. */
export const matrixPlugins = async (): Promise<readonly string[]> => {
  const text = await readFile(new URL('../../config/default.json', import.meta.url), 'utf8')
  return [...(JSON.parse(text) as { readonly plugins: readonly string[] }).plugins, ...alsoRequested]
}

/** Plugins whose routes respond with HTML pages, which are covered by their own tests and by the canary tests. */
const withPages: ReadonlySet<string> = new Set(['web'])

export const routesOf = async (plugins: readonly (string | Plugin)[]): Promise<readonly MatrixRoute[]> => {
  const loaded = await loadPlugins(plugins.map(plugin => ({ plugin })))
  return loaded
    .filter(({ name }) => !withPages.has(name))
    .flatMap(({ name: plugin, plugin: { routes = {} } }) =>
      Object.entries(routes).flatMap(([name, route]) => {
        if (!isRoute(route)) return []
        const { method, path, aliases = [] } = route.declaration
        const addresses = [{ method, path }, ...aliases.map(alias => ({ method: alias.method ?? method, path: alias.path }))]
        return [{ plugin, name, declaration: route.declaration, addresses }]
      }),
    )
}

/** Property names of an object schema. */
export const membersOf = (schema: unknown): readonly string[] =>
  Object.keys((schema as { readonly properties?: object } | undefined)?.properties ?? {})

/** `DownloadFiles dataset=id`, derived from a declaration by evaluating it with the names of its parameters as values. */
export const suggestedNeeds = ({ declaration: { permission, alsoRequires = [], params, query } }: MatrixRoute): string => {
  const names = [...membersOf(params), ...membersOf(query)]
  const input = Object.fromEntries(names.map(name => [name, name]))
  // Parameters that are integers cannot have their name as value.
  const numbers = Object.fromEntries(names.map((name, at) => [name, String(at + 1)]))
  const named = (on: Reference<unknown>) =>
    [on(input)]
      .flat()
      .map(({ kind, id }, at) => ({ kind, id: id === 'none' ? names[geoNumberOf(String([on(numbers)].flat()[at]?.id)) - 1] : id }))
  const { right, on } = typeof permission === 'object' ? permission : { right: permission }
  const needOf = (need: string, where: Reference<unknown>): readonly string[] => named(where).map(({ kind, id }) => `${need} ${kind}=${id}`)
  return [...(on ? needOf(right, on) : [right]), ...alsoRequires.flatMap(further => needOf(further.right, further.on))].join('; ')
}
