import { createRequire } from 'node:module'
import type { Router as KoaRouter } from '@koa/router'
import type { Method, Route } from 'pounce/sdk'
import { didYouMean, PermissionCatalog } from 'pounce/sdk/kit'
import { MethodNotAllowed, NoSuchAddress } from './problems.ts'
import type { Middleware, RequestContext } from './request-context.ts'
import type { ResponseWriter } from './response-writer.ts'
import { type RouteChecks, routeChecks } from './validate.ts'

/** The ES build imports node:http, which is expensive (see `server.ts`); the CommonJS build does not. */
const { Router } = createRequire(import.meta.url)('@koa/router') as typeof import('@koa/router')

/** Any route declaration. */
export type Declaration = Route['declaration']

/** A plugin's route with its resolved dependencies. */
export interface PluginRoute {
  readonly plugin: string
  /** The name of the export: OpenAPI's `operationId`. */
  readonly name: string
  readonly route: Route
  /** The instances of the route's `needs`, by the route's names for them. */
  readonly needs: Readonly<Record<string, unknown>>
  /** Treats credentials that cannot be verified as absent: for `/readyz`, which must respond while the store is unavailable. */
  readonly isLenient?: boolean
}

/** A method and a path of a route. */
export interface Address {
  readonly method: Method
  readonly path: string
}

/** A plugin's route with values that are computed once for all requests. */
export class RegisteredRoute {
  readonly plugin: string
  readonly name: string
  readonly group: string
  readonly declaration: Declaration
  readonly needs: Readonly<Record<string, unknown>>
  readonly addresses: readonly Address[]
  readonly isLenient: boolean
  #checks: RouteChecks | undefined

  constructor({ plugin, name, route, needs, isLenient = false }: PluginRoute) {
    this.plugin = plugin
    this.name = name
    this.group = route.group
    this.declaration = route.declaration
    this.needs = needs
    this.isLenient = isLenient
    const { method, path, aliases = [] } = this.declaration
    this.addresses = [{ method, path }, ...aliases.map(alias => ({ method: alias.method ?? method, path: alias.path }))]
  }

  /** The compiled schemas. Compiled at the first request, because compiling hundreds of routes at startup takes seconds. */
  get checks(): RouteChecks {
    this.#checks ??= routeChecks(this.declaration)
    return this.#checks
  }
}

/** A route and its decoded path parameters. */
export interface Match {
  readonly route: RegisteredRoute
  readonly params: Readonly<Record<string, string>>
}

type Layer = ReturnType<KoaRouter['match']>['path'][number]

/** A route with the router layer that matches its path. */
interface LayeredRoute {
  readonly layer: Layer
  readonly route: RegisteredRoute
}

interface Entry {
  readonly address: Address
  readonly route: RegisteredRoute
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/**
 * Finds the route of a request without checking all others: a Map from method, number of segments and the first two literal
 * segments leads to a router of the few routes that share them. Fixed segments take precedence over parameters, and those over a tail.
 * Routers are created on first use: creating all of them would take a twentieth of the start time.
 */
export class PrefixRouter {
  #entries = new Map<string, Entry[]>()
  #layers = new Map<string, readonly LayeredRoute[]>()
  #withdrawn: PrefixRouter | undefined

  constructor(routes: readonly RegisteredRoute[]) {
    this.replace(routes)
  }

  /** Replaces all routes. `withdrawn`: routes of plugins that are switched off. */
  replace(routes: readonly RegisteredRoute[], withdrawn: readonly RegisteredRoute[] = []): void {
    this.#entries = new Map()
    this.#layers = new Map()
    this.#withdrawn = withdrawn.length > 0 ? new PrefixRouter(withdrawn) : undefined
    for (const route of routes) {
      for (const address of route.addresses) {
        const key = keyOf(address)
        const bucket = this.#entries.get(key)
        if (bucket) bucket.push({ address, route })
        else this.#entries.set(key, [{ address, route }])
      }
    }
  }

  /** The matching route, or undefined. */
  find(method: string, path: string): Match | undefined {
    const segments = path.split('/')
    const count = segments.length - 1
    const first = segments[1] ?? ''
    const second = count > 1 ? (segments[2] ?? '') : ''
    return (
      this.#in(`${method} ${count} ${first}/${second}`, path) ??
      this.#in(`${method} ${count} ${first}/`, path) ??
      this.#in(`${method} ${count} /`, path) ??
      this.#in(`${method} * ${first}/${second}`, path) ??
      this.#in(`${method} * ${first}/`, path) ??
      this.#in(`${method} * /`, path)
    )
  }

  /** Whether a path had this method until its route was withdrawn. */
  isWithdrawn(method: string, path: string): boolean {
    return this.#withdrawn?.find(method, path) !== undefined
  }

  /** The methods of a path. */
  methodsOf(path: string): readonly Method[] {
    return methods.filter(method => this.find(method, path))
  }

  /** The methods of a path for the `Allow` header. */
  allowed(path: string): readonly string[] {
    return this.methodsOf(path).flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  }

  /** The headers that the routes of a path send with every response. */
  headersOf(path: string): Readonly<Record<string, string>> {
    return Object.assign({}, ...methods.map(method => this.find(method, path)?.route.declaration.headers))
  }

  /** `Router.match` would create lists and log lines for each lookup. */
  #in(key: string, path: string): Match | undefined {
    for (const { layer, route } of this.#layersOf(key))
      if (layer.match(path)) return { route, params: layer.params(path, layer.captures(path), {}) }
    return undefined
  }

  #layersOf(key: string): readonly LayeredRoute[] {
    const known = this.#layers.get(key)
    if (known) return known
    const entries = this.#entries.get(key)
    if (!entries) return []
    const router = new Router({ strict: true, sensitive: true })
    const sorted = entries.toSorted((one, other) => (rank(one.address.path) < rank(other.address.path) ? -1 : 1))
    const layers = sorted.flatMap(({ address, route }) => {
      const pattern = address.path.replace(/:(\w+)\*$/, '*$1')
      const layer = router.register(pattern, [address.method], (_context, next) => next())
      return layer instanceof Router ? [] : [{ layer, route }]
    })
    this.#layers.set(key, layers)
    this.#entries.delete(key)
    return layers
  }
}

/** Sorts fixed segments before parameters and those before tails, from the left. */
const rank = (path: string): string =>
  path
    .split('/')
    .map(segment => (segment.endsWith('*') ? '3' : segment.includes(':') ? '2' : '1'))
    .join('')

const keyOf = ({ method, path }: Address): string => {
  const segments = path.split('/')
  const literal = (at: number): string => {
    const segment = segments[at] ?? ''
    return segment.includes(':') ? '' : segment
  }
  const first = literal(1)
  const count = path.endsWith('*') ? '*' : segments.length - 1
  return `${method} ${count} ${first}/${first ? literal(2) : ''}`
}

/** Maps request paths to route paths: the base path of the server, and trailing slashes. */
export class Addresses {
  readonly #router: PrefixRouter
  readonly #baseUrl: () => string
  #known = { url: '', base: '' }

  /** `baseUrl` may be unknown until the server listens. */
  constructor(router: PrefixRouter, baseUrl: () => string) {
    this.#router = router
    this.#baseUrl = baseUrl
  }

  /** The path of the base URL without a trailing slash; usually empty. */
  get base(): string {
    const url = this.#baseUrl()
    if (url !== this.#known.url) {
      const path = URL.parse(url)?.pathname ?? ''
      this.#known = { url, base: path === '/' ? '' : path }
    }
    return this.#known.base
  }

  /** The route path of a request path: some proxies keep the path of the base URL, others remove it. */
  below(path: string): string {
    const { base } = this
    if (base === '' || !path.startsWith(base)) return path
    if (path.length === base.length) return '/'
    const rest = path.slice(base.length)
    return rest.startsWith('/') && this.#leadsSomewhere(rest) ? rest : path
  }

  /** The path of a route without added trailing slashes; undefined if there are none or no route matches. */
  withoutSlash(path: string): string | undefined {
    if (!path.endsWith('/') || isOfHost(path)) return undefined
    let end = path.length
    while (path[end - 1] === '/') end -= 1
    const route = path.slice(0, end)
    return route !== '' && this.#router.methodsOf(route).length > 0 ? route : undefined
  }

  #leadsSomewhere(path: string): boolean {
    return this.#router.methodsOf(path).length > 0 || this.withoutSlash(path) !== undefined
  }
}

/** Browsers interpret paths with this prefix as the URL of another host. */
const isOfHost = (path: string): boolean => path[1] === '/' || path[1] === '\\'

/** Finds the route of a request. Throws `NoSuchAddress` and `MethodNotAllowed`; redirects paths with trailing slashes. */
export const matchRoute =
  (router: PrefixRouter, addresses: Addresses, writer: ResponseWriter): Middleware =>
  (context, next) => {
    const { request } = context.state
    const method = request.req.method ?? 'GET'
    const { path } = request.target
    const match = router.find(method === 'HEAD' ? 'GET' : method, path)
    if (!match) return redirect(request, router, addresses, writer)
    request.route = match.route
    request.pathParams = match.params
    const { effects, answersHead } = match.route.declaration
    if (method === 'HEAD' && effects !== undefined && !answersHead) {
      throw new MethodNotAllowed(router.allowed(path).filter(name => name !== 'HEAD'))
    }
    return next()
  }

/** Redirects to the path without trailing slash, as Clowder 1.x does for GET; 308 makes clients repeat the body. */
const redirect = (request: RequestContext, router: PrefixRouter, addresses: Addresses, writer: ResponseWriter): void => {
  const { path, search, key } = request.target
  const known = addresses.withoutSlash(path)
  if (known === undefined) {
    const allowed = router.allowed(path)
    const isUnknown = allowed.length === 0 || router.isWithdrawn(request.isHead ? 'GET' : (request.req.method ?? 'GET'), path)
    throw isUnknown ? new NoSuchAddress() : new MethodNotAllowed(allowed)
  }
  // The key was in the query, and the redirect must preserve it.
  const query = [search, key === undefined ? '' : `key=${encodeURIComponent(key)}`].filter(Boolean).join('&')
  const location = `${addresses.base}${known}${query ? `?${query}` : ''}`
  const status = request.req.method === 'GET' || request.isHead ? 301 : 308
  writer.send(request, status, { location, 'cache-control': 'no-store' }, undefined)
}

/** A trailing slash after a parameter makes a different path: Clowder 1.x has both `/proxy/:key` and `/proxy/:key/`. */
const endsInSlash = /(\/:\w+)\/$/
/** An alias may be the path with a trailing slash, which standards use for service roots. */
const endsInSlashToo = /(\/[^/:*]+)\/$/
const audiences = new Set(['anyone', 'reader', 'signedIn', 'serverAdmin'])

/**
 * Registers the routes of all plugins, or throws one error with all problems: a missing or unknown permission, a right without a resource, a right without a
 * policy to check it, an invalid path, parameters that differ between path and schema, two routes with the same path or name.
 */
export const registerRoutes = (
  given: readonly PluginRoute[],
  hasPolicy: boolean,
  permissions = new PermissionCatalog(),
): readonly RegisteredRoute[] => {
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
    for (const fault of faultsOf(route.declaration, { hasPolicy, permissions }))
      faults.push(`route ${route.name} of ${route.plugin} ${fault}`)
    claim(names, route.name, route.plugin, `the route name ${route.name}`)
    for (const { method, path } of route.addresses.filter(one => isText(one.path)))
      claim(addresses, `${method} ${shapeOf(path)}`, owner, `${method} ${path}`)
    return route
  })
  if (faults.length > 0) throw new Error(`The routes cannot be served:\n- ${faults.join('\n- ')}`)
  return routes
}

/** Possible values in a plugin, including those that fail the type check. */
type Requirement = string | { readonly right?: string; readonly on?: unknown; readonly unscoped?: unknown }

/** What rights are validated against. */
interface RightsKnown {
  readonly hasPolicy: boolean
  readonly permissions: PermissionCatalog
}

const faultsOfRight = (requirement: Requirement, { hasPolicy, permissions }: RightsKnown, isFurther = false): string[] => {
  const { right = '', on, unscoped } = typeof requirement === 'string' ? { right: requirement } : requirement
  if (!permissions.has(right))
    return [
      `declares the unknown permission ${right}${didYouMean(right, [...audiences, ...permissions.names])}; a plugin lists its own in "permissions"`,
    ]
  if (!hasPolicy) return [`needs ${right}, and no plugin provides policy`]
  const hasReason = typeof unscoped === 'string' && unscoped.trim() !== ''
  if (typeof on === 'function' ? unscoped === undefined : hasReason && !isFurther) return []
  const remedy = `specify the resource: { right: '${right}', on: ref('dataset', 'id') }`
  return [`requires ${right} without a resource: ${remedy}${isFurther ? '' : `, or give a reason: { right: '${right}', unscoped: '…' }`}`]
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

const faultsOf = (declaration: Declaration, known: RightsKnown): string[] => {
  const { method, permission, alsoRequires = [], path, summary, aliases = [], responses, handle } = declaration
  const faults: string[] = []
  if (!methods.includes(method)) faults.push(`has the unknown method ${method}: one of ${methods.join(', ')}`)
  if (!isText(summary)) faults.push('has no summary')
  if (typeof handle !== 'function') faults.push('has no function handle')
  if (!permission) faults.push(`declares no permission: ${[...audiences].join(', ')}, or a right with the resource that it is checked on`)
  else if (!audiences.has(permission as string)) faults.push(...faultsOfRight(permission, known))
  for (const right of alsoRequires) faults.push(...faultsOfRight(right, known, true))
  if (Object.keys(responses ?? {}).length === 0) faults.push('declares no response')
  if (!isText(path)) return [...faults, 'has no path']
  const declared = parameters(declaration.params)
  const withoutSlash = aliases.map(alias => alias.path.replace(endsInSlashToo, '$1'))
  for (const each of [path, ...withoutSlash]) {
    if (!isPath(each.replace(endsInSlash, '$1'))) faults.push(`has the invalid path ${each}: ${pathRule}`)
    const named = parameterNames(each).sort().join(', ')
    if (named !== declared) faults.push(`has the parameters ${named || 'none'} in ${each} and ${declared || 'none'} in params`)
  }
  return faults
}

/** Excludes the special and reserved characters of path-to-regexp, which parses a path only at the first request. */
const part = /^(?:[^/:*{}()[\]+?!\\]+|:\w[^/:*{}()[\]+?!\\]*)$/
const restOfPath = /^:\w+\*$/

const pathRule = 'a path is words and :parameters, each after a slash, and does not end in one'

/** Segments of words and parameters, each after a slash; the last one may be a tail. */
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

/** A path without parameter names, equal for paths that would shadow each other. */
export const shapeOf = (path: string): string => path.replaceAll(/:[A-Za-z0-9_]+\*/g, '*').replaceAll(/:[A-Za-z0-9_]+/g, ':')
