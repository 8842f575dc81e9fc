import type { Index } from '../ports/document-store.ts'
import { Invalid } from '../problem.ts'
import { leavesAt, stepsOf } from './paths.ts'
import { isScalar, type Scalar } from './scalars.ts'

/** One value for each path of the index. */
export type Key = readonly Scalar[]

/** Objects have no order, so they are indexed as null; conditions are checked again on the document. */
const asScalar = (leaf: unknown): Scalar => (isScalar(leaf) ? leaf : null)

const single = (document: unknown, path: string): Scalar => {
  let value = document
  for (const step of stepsOf(path)) {
    if (Array.isArray(value)) break
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return null
    value = (value as Readonly<Record<string, unknown>>)[step]
  }
  if (Array.isArray(value)) throw new Invalid(`${path} is an array, which its index does not declare`)
  return asScalar(value)
}

/**
 * The entries of a document in an index: one, or one per distinct element of the array; possibly none in a sparse index. Throws `Invalid` for an array at a
 * path that is not the index's `array`.
 */
export const keysOf = (index: Index, document: unknown): readonly Key[] => {
  const { on, array, sparse } = index
  if (sparse !== undefined && sparse !== array && single(document, sparse) === null) return []
  if (array === undefined) return [on.map(path => single(document, path))]
  const elements = new Set(leavesAt(document, array).map(asScalar))
  if (sparse === array) elements.delete(null)
  if (elements.size === 0) return []
  const others = on.map(path => (path === array ? null : single(document, path)))
  const at = on.indexOf(array)
  return [...elements].map(element => others.with(at, element))
}
