import type { Collection, Find, Index, Where } from '../ports/document-store.ts'
import { Invalid } from '../problem.ts'
import { isScalar } from './scalars.ts'

/** The names in `using`, at least one. */
export const namesOf = (using: Find['using']): readonly string[] => (typeof using === 'string' ? [using] : using)

/** The indexes named in a query; the first one provides the order. Throws for undeclared names. */
export const indexesOf = (from: Collection<object>, using: Find['using']): readonly Index[] => {
  const names = namesOf(using)
  if (names.length === 0) throw new Error(`A query of ${from.name} names no index`)
  return names.map(name => {
    const index = Object.hasOwn(from.indexes, name) ? from.indexes[name] : undefined
    if (index === undefined) throw new Error(`${from.name} has no index ${name}, only ${Object.keys(from.indexes).join(', ') || 'none'}`)
    return index
  })
}

/** The conditions of a conjunction. */
export const conjunctsOf = (where: Where | undefined): readonly Where[] =>
  where === undefined ? [] : where.op === 'and' ? where.all.flatMap(conjunctsOf) : [where]

const checkSort = (from: Collection<object>, by: string, first: Index, name: string): void => {
  if (!first.on.includes(by)) throw new Error(`${from.name} cannot be sorted by ${by}: not a field of the index ${name}`)
  if (first.array === by) throw new Error(`${from.name} cannot be sorted by ${by}, which holds an array`)
}

/** Throws an Error for an invalid query, and `Invalid` for an `after` that does not come from a page. */
export const checkFind = (from: Collection<object>, query: Find): void => {
  const [first] = indexesOf(from, query.using)
  if (!Number.isInteger(query.limit) || query.limit < 1 || query.limit > 1000) throw new RangeError('A page has 1 to 1,000 documents')
  if (query.maxScanned !== undefined && (!Number.isInteger(query.maxScanned) || query.maxScanned < 1))
    throw new RangeError('maxScanned is at least 1')
  if (query.maxCharacters !== undefined && !(query.maxCharacters >= 1)) throw new RangeError('A page has at least 1 character')
  if (query.sort && first) checkSort(from, query.sort.by, first, namesOf(query.using)[0] as string)
  const { after } = query
  if (after === undefined) return
  const length = query.sort ? 2 : 1
  if (!Array.isArray(after) || after.length !== length || typeof after.at(-1) !== 'string' || !after.every(isScalar)) {
    throw new Invalid('Invalid cursor: it must come from a previous page')
  }
}

/** The same for a `seek` query. */
export const checkSeek = (
  from: Collection<object>,
  { position, ...query }: Pick<Find, 'using' | 'where' | 'sort'> & { readonly position: number },
): void => {
  checkFind(from, { ...query, limit: 1 })
  if (!Number.isInteger(position) || position < 1) throw new RangeError('A position is a whole number of at least 1')
}
