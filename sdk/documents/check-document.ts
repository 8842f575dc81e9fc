import type { Collection, Index } from '../ports/document-store.ts'
import { Invalid } from '../problem.ts'
import { isPiecesPath } from './pieces.ts'

/** Throws `Invalid` unless the id is 1 to 200 characters without control characters and lone surrogates. */
export const checkId = (id: unknown): void => {
  if (typeof id !== 'string' || id.length === 0 || id.length > 200 || /[\u0000-\u001f\u007f]/.test(id) || !id.isWellFormed()) {
    throw new Invalid('An id must be 1 to 200 characters without control characters')
  }
}

const faultOf = ({ on, array, unique, sparse }: Index): string | undefined => {
  if (on.length === 0) return 'names no field'
  if (on.some(path => path.split('.').includes(''))) return 'has an empty path'
  if (new Set(on).size < on.length) return 'names a field twice'
  if (array !== undefined && !on.includes(array)) return `has the array ${array}, which is not one of its fields`
  if (on.some(path => isPiecesPath(path) && path !== array)) return 'has a path ending in ~ that is not its array'
  if (array !== undefined && unique) return 'is unique over an array'
  if (sparse !== undefined && (unique || !on.includes(sparse))) return `is unique, or sparse by ${sparse}, which is not one of its fields`
  return undefined
}

/** Throws for a collection declaration that is not valid in every store. */
export const checkCollection = ({ name, indexes }: Collection<object>): void => {
  if (!/^[a-z][a-z0-9]*([.-][a-z0-9]+)*$/.test(name))
    throw new Error(`Invalid collection name ${name}: use lower-case words with dots or dashes`)
  for (const [key, index] of Object.entries(indexes)) {
    const fault = faultOf(index)
    if (fault) throw new Error(`The index ${key} of ${name} ${fault}`)
  }
}
