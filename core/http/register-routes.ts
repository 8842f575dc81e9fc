import { allPermissions } from 'pounce/sdk'
import { type Declaration, RegisteredRoute } from './router.ts'
import type { PluginRoute } from './types.ts'

/** Behind a parameter a slash makes an address of its own: Clowder 1.x has both `/proxy/:key` and `/proxy/:key/`. */
const endsInSlash = /(\/:\w+)\/$/
/** An alias may be the address with a slash: standards write the roots of services so. */
const endsInSlashToo = /(\/[^/:*]+)\/$/
const words = new Set(['anyone', 'reader', 'signedIn', 'serverAdmin'])

/**
 * Registers the routes of all plugins, or throws one error that names every fault: a missing or unknown permission, a right on nothing, a right without a
 * policy to check it, an odd path, parameters that path and schema do not share, two routes at one address or of one name.
 */
export const registerRoutes = (given: readonly PluginRoute[], hasPolicy: boolean): readonly RegisteredRoute[] => {
  const faults: string[] = []
  const names = new Map<string, string>()
  const addresses = new Map<string, string>()
  const claim = (table: Map<string, string>, key: string, owner: string, what: string): void => {
    const other = table.get(key)
    if (other !== undefined) faults.push(`${what} is declared by both ${other} and ${owner}`)
    table.set(key, owner)
  }
  const routes = given.map(one => {
    const route = new RegisteredRoute(one)
    const owner = `${route.plugin} (${route.name})`
    for (const fault of faultsOf(route.declaration, hasPolicy)) faults.push(`route ${route.name} of ${route.plugin} ${fault}`)
    claim(names, route.name, route.plugin, `the route name ${route.name}`)
    for (const { method, path } of route.addresses) claim(addresses, `${method} ${shapeOf(path)}`, owner, `${method} ${path}`)
    return route
  })
  if (faults.length > 0) throw new Error(`The routes cannot be served:\n- ${faults.join('\n- ')}`)
  return routes
}

/** What a plugin may have written, whether or not a compiler saw it. */
type Asked = string | { readonly right?: string; readonly on?: unknown; readonly unscoped?: unknown }

const faultsOfRight = (asked: Asked, hasPolicy: boolean, isFurther = false): string[] => {
  const { right = '', on, unscoped } = typeof asked === 'string' ? { right: asked } : asked
  if (!allPermissions.has(right)) return [`declares the unknown permission ${right}`]
  if (!hasPolicy) return [`needs ${right}, and no plugin provides policy`]
  const hasReason = typeof unscoped === 'string' && unscoped.trim() !== ''
  if (typeof on === 'function' ? unscoped === undefined : hasReason && !isFurther) return []
  const remedy = `name what it is checked on: { right: '${right}', on: ref('dataset', 'id') }`
  return [
    `asks for ${right} on nothing: ${remedy}${isFurther ? '' : `, or say why there is nothing: { right: '${right}', unscoped: '…' }`}`,
  ]
}

const faultsOf = (declaration: Declaration, hasPolicy: boolean): string[] => {
  const { permission, alsoRequires = [], path, aliases = [], responses } = declaration
  const faults: string[] = []
  if (!permission) faults.push('declares no permission')
  else if (!words.has(permission as string)) faults.push(...faultsOfRight(permission, hasPolicy))
  for (const right of alsoRequires) faults.push(...faultsOfRight(right, hasPolicy, true))
  if (Object.keys(responses ?? {}).length === 0) faults.push('declares no response')
  const declared = parameters(declaration.params)
  const withoutSlash = aliases.map(alias => alias.path.replace(endsInSlashToo, '$1'))
  for (const each of [path, ...withoutSlash]) {
    if (!isPath(each.replace(endsInSlash, '$1'))) faults.push(`has the odd path ${each}`)
    const named = parameterNames(each).sort().join(', ')
    if (named !== declared) faults.push(`has the parameters ${named || 'none'} in ${each} and ${declared || 'none'} in params`)
  }
  return faults
}

/** What path-to-regexp gives a meaning, or keeps for one, is refused here: it reads a path only at the first request. */
const part = /^(?:[^/:*{}()[\]+?!\\]+|:\w[^/:*{}()[\]+?!\\]*)$/
const restOfPath = /^:\w+\*$/

/** A slash, then words and parameters with slashes between; the last one may stand for all that follows. */
const isPath = (path: string): boolean => {
  const [before, ...parts] = path.split('/')
  return (
    before === '' &&
    parts.length > 0 &&
    parts.every((each, at) => part.test(each) || (at === 0 ? each === '' : at === parts.length - 1 && restOfPath.test(each)))
  )
}

const parameters = (schema: { readonly properties?: object } | undefined): string =>
  Object.keys(schema?.properties ?? {})
    .sort()
    .join(', ')

/** The names of a path's parameters, in order: `['id']` of `/api/files/:id`. */
export const parameterNames = (path: string): string[] => [...path.matchAll(/:([A-Za-z_][A-Za-z0-9_]*)/g)].map(([, name]) => name ?? '')

/** A path in which parameters have no names, so that paths which would shadow each other look alike. */
export const shapeOf = (path: string): string => path.replaceAll(/:[A-Za-z0-9_]+\*/g, '*').replaceAll(/:[A-Za-z0-9_]+/g, ':')
