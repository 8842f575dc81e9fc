import type { TestedRoutes } from './hits.ts'
import { leftOut } from './left-out.ts'
import { nameOf, type ReferenceRoute } from './reference-routes.ts'
import { shapeOf } from './route-shape.ts'

/** The parts of an OpenAPI document that are used here. */
export interface ApiDocument {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<string, { readonly parameters?: readonly { readonly in: string; readonly schema?: { readonly pattern?: string } }[] }>
      >
    >
  >
}

/** The state of a route of the reference. */
export interface Judgement {
  readonly route: ReferenceRoute
  readonly isServed: boolean
  /** Test files with a successful response. */
  readonly done: readonly string[]
  /** Outcomes missing from a test run. */
  readonly lacks: readonly ('a success' | 'a refusal' | 'a 404')[]
}

const idPattern = '^[0-9a-f]{24}$'

/** Method and shape of the served routes; true for those with an id in the path. */
const servedShapes = ({ paths }: ApiDocument): ReadonlyMap<string, boolean> =>
  new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { parameters = [] }]): [string, boolean] => [
        `${method.toUpperCase()} ${shapeOf(path)}`,
        parameters.some(each => each.in === 'path' && each.schema?.pattern === idPattern),
      ]),
    ),
  )

/** Compares the served and the tested routes with the reference. */
export const judge = (routes: readonly ReferenceRoute[], document: ApiDocument, tested: TestedRoutes): readonly Judgement[] => {
  const served = servedShapes(document)
  return routes.map(route => {
    const hasId = served.get(`${route.method} ${shapeOf(route.path)}`)
    const isServed = hasId !== undefined
    const { done = [], refused = false, absent = false } = tested[nameOf(route)] ?? {}
    const lacks: Judgement['lacks'][number][] = []
    if (isServed && done.length === 0) lacks.push('a success')
    if (isServed && !refused && leftOut.neverRefuses[nameOf(route)] === undefined) lacks.push('a refusal')
    if (hasId === true && !absent) lacks.push('a 404')
    return { route, isServed, done, lacks }
  })
}

/** True for a route without gaps, or with a reason if a reason is sufficient. */
export const isRight = ({ route: { tier, reason }, isServed, lacks }: Judgement): boolean => {
  if (tier === 'X') return reason !== undefined
  if (!isServed) return tier === 'N' || reason !== undefined
  // Only routes outside the seed that no client calls may be untested, with a reason.
  if (lacks.length > 0) return (tier === 'R' || tier === 'N') && reason !== undefined
  return true
}

/** The faults, one line each. */
export const faultsOf = (verdicts: readonly Judgement[]): readonly string[] =>
  verdicts
    .filter(verdict => !isRight(verdict))
    .map(({ route, isServed, lacks }) => {
      const why = isServed ? `no test had ${lacks.join(', ')} from it` : 'is not served, and has no reason in test/coverage/left-out.ts'
      return `${route.tier} ${nameOf(route)}: ${why}`
    })
