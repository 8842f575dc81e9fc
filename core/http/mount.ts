import type { Method, Route } from 'pounce/sdk'
import { type RouteChecks, routeChecks } from './route-checks.ts'
import type { MountedRoute } from './types.ts'

/** The declaration of any route. */
export type Declaration = Route['declaration']
export type { Method }

/** A method and a path under which a route answers. */
export interface Address {
  readonly method: Method
  readonly path: string
}

/** A route of a plugin together with what a request needs of it, worked out once. */
export class Mount {
  readonly plugin: string
  readonly name: string
  readonly group: string
  readonly declaration: Declaration
  readonly needs: Readonly<Record<string, unknown>>
  readonly addresses: readonly Address[]
  readonly isLenient: boolean
  #checks: RouteChecks | undefined

  constructor(mounted: MountedRoute) {
    this.plugin = mounted.plugin
    this.name = mounted.name
    this.group = mounted.route.group
    this.declaration = mounted.route.declaration
    this.needs = mounted.needs
    this.isLenient = mounted.isLenient ?? false
    const { method, path, aliases = [] } = this.declaration
    this.addresses = [{ method, path }, ...aliases.map(alias => ({ method: alias.method ?? method, path: alias.path }))]
  }

  /** The compiled schemas. Compiled at the first request: compiling hundreds of routes at start takes seconds. */
  get checks(): RouteChecks {
    this.#checks ??= routeChecks(this.declaration)
    return this.#checks
  }
}
