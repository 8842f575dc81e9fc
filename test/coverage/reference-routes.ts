import { dataRoutes } from './data-routes.ts'
import { leftOut } from './left-out.ts'
import { namedRoutes } from './named-routes.ts'
import { platformRoutes } from './platform-routes.ts'
import type { RouteGroup, Tier } from './route-groups.ts'
import { shapeOf } from './route-shape.ts'

/** A route of the reference. */
export interface ReferenceRoute {
  readonly tier: Tier
  readonly method: string
  readonly path: string
  readonly group: string
  /** Why it is not served, or what it depends on. */
  readonly reason: string | undefined
}

/** The name of a route here and in `tested.json`. */
export const nameOf = ({ method, path }: Pick<ReferenceRoute, 'method' | 'path'>): string => `${method} ${path}`

const weight: Readonly<Record<Tier, number>> = { S: 0, C: 1, R: 2, N: 3, X: 4 }

const routesOf = ({ name: group, routes }: RouteGroup): readonly ReferenceRoute[] =>
  routes.map(([tier, method, path, reason]) => ({
    tier,
    method,
    path,
    group,
    reason: reason ?? leftOut.routes[`${method} ${path}`] ?? leftOut.groups[group],
  }))

/** Every route once, in the order of the reference. If a route is listed twice, the stronger tier applies. */
export const referenceRoutes = (): readonly ReferenceRoute[] => {
  const byShape = new Map<string, ReferenceRoute>()
  for (const route of [...dataRoutes, ...platformRoutes, ...namedRoutes].flatMap(routesOf)) {
    const shape = `${route.method} ${shapeOf(route.path)}`
    const known = byShape.get(shape)
    if (known === undefined || weight[route.tier] < weight[known.tier]) byShape.set(shape, route)
  }
  return [...byShape.values()]
}
