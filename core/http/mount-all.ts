import { allPermissions } from 'pounce/sdk'
import { type Declaration, Mount } from './mount.ts'
import { parameterNames, shapeOf } from './paths.ts'
import type { MountedRoute } from './types.ts'

/** Behind a parameter a slash makes an address of its own: Clowder 1.x has both `/proxy/:key` and `/proxy/:key/`. */
const endsInSlash = /(\/:\w+)\/$/
/** An alias may be the address with a slash: standards write the roots of services so. */
const endsInSlashToo = /(\/[^/:*]+)\/$/
const words = new Set(['anyone', 'reader', 'signedIn', 'serverAdmin'])

/**
 * Mounts the routes of all plugins, or throws one error that names every fault: a missing or unknown permission, a right without a
 * policy to check it, an odd path, parameters that path and schema do not share, two routes at one address or of one name.
 */
export const mountAll = (routes: readonly MountedRoute[], hasPolicy: boolean): readonly Mount[] => {
  const faults: string[] = []
  const names = new Map<string, string>()
  const addresses = new Map<string, string>()
  const claim = (table: Map<string, string>, key: string, owner: string, what: string): void => {
    const other = table.get(key)
    if (other !== undefined) faults.push(`${what} is declared by both ${other} and ${owner}`)
    table.set(key, owner)
  }
  const mounts = routes.map(mounted => {
    const mount = new Mount(mounted)
    const owner = `${mount.plugin} (${mount.name})`
    for (const fault of faultsOf(mount.declaration, hasPolicy)) faults.push(`route ${mount.name} of ${mount.plugin} ${fault}`)
    claim(names, mount.name, mount.plugin, `the route name ${mount.name}`)
    for (const { method, path } of mount.addresses) claim(addresses, `${method} ${shapeOf(path)}`, owner, `${method} ${path}`)
    return mount
  })
  if (faults.length > 0) throw new Error(`The routes cannot be served:\n- ${faults.join('\n- ')}`)
  return mounts
}

const faultsOf = (declaration: Declaration, hasPolicy: boolean): string[] => {
  const { permission, path, aliases = [], responses } = declaration
  const faults: string[] = []
  const rights = [permission, ...(declaration.also ?? []).map(check => check.permission)]
  for (const right of rights) {
    if (right === undefined) faults.push('declares no permission')
    else if (!words.has(right) && !allPermissions.has(right)) faults.push(`declares the unknown permission ${right}`)
    else if (!words.has(right) && !hasPolicy) faults.push(`needs ${right}, and no plugin provides policy`)
  }
  if (Object.keys(responses ?? {}).length === 0) faults.push('declares no response')
  const declared = parameters(declaration.params)
  const withoutSlash = aliases.map(alias => alias.path.replace(endsInSlashToo, '$1'))
  for (const each of [path, ...withoutSlash]) {
    if (!/^\/(?:[^/:*]+|:\w+[^/:*]*)?(?:\/(?:[^/:*]+|:\w+[^/:*]*))*(?:\/:\w+\*)?$/.test(each.replace(endsInSlash, '$1')))
      faults.push(`has the odd path ${each}`)
    const named = parameterNames(each).sort().join(', ')
    if (named !== declared) faults.push(`has the parameters ${named || 'none'} in ${each} and ${declared || 'none'} in params`)
  }
  return faults
}

const parameters = (schema: { readonly properties?: object } | undefined): string =>
  Object.keys(schema?.properties ?? {})
    .sort()
    .join(', ')
