import type { Permission, Ref, ScopedRight } from 'pounce/sdk'
import type { Declaration } from './router.ts'

type Input = Readonly<Record<string, unknown>>

/** The right that a route asks for, if it is for those who hold one. */
export const rightOf = ({ permission }: Declaration): Permission | undefined =>
  typeof permission === 'object' ? permission.right : undefined

/** True of a route that checks rights on what its path and query name. */
export const namesResources = ({ permission, alsoRequires }: Declaration): boolean =>
  alsoRequires !== undefined || (typeof permission === 'object' && permission.on !== undefined)

/** The rights that a route checks on resources, in order. */
export const scopedRights = ({ permission, alsoRequires = [] }: Declaration): readonly ScopedRight<Input>[] =>
  typeof permission === 'object' && permission.on ? [permission, ...alsoRequires] : alsoRequires

/** The resources that a request names for the rights of its route. */
export const refsOf = (declaration: Declaration, input: Input): readonly Ref[] =>
  scopedRights(declaration).flatMap(({ on }): Ref | readonly Ref[] => on(input))
