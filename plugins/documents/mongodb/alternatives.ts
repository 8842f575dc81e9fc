import { type Collection, conjunctsOf, type Find, type Index, indexesOf, type Where } from 'pounce/sdk'

/** More alternatives than this are asked for in one query, whatever order the server finds them in. */
const most = 8

const fixedPaths = (conjuncts: readonly Where[]): ReadonlySet<string> =>
  new Set(conjuncts.flatMap(where => (where.op === 'eq' || where.op === 'in' ? [where.field] : [])))

/** How many conditions an index makes use of while it yields the order; 0 when it does not yield it. */
const strengthOf = ({ on }: Index, fixed: ReadonlySet<string>, by: string): number => {
  const before = on.slice(0, on.indexOf(by))
  return on.includes(by) && before.every(path => fixed.has(path)) ? before.length + 1 : 0
}

const strongest = (indexes: readonly Index[], conjuncts: readonly Where[], by: string): number => {
  const fixed = fixedPaths(conjuncts)
  return Math.max(...indexes.map(index => strengthOf(index, fixed, by)))
}

const flat = (where: Where): readonly Where[] => (where.op === 'or' ? where.any.flatMap(flat) : [where])

/**
 * The conditions of the queries whose answers, merged, are the page: one for each alternative of an `or` when indexes that the query
 * names yield each of them in order and make more use of the conditions than one index for all; else a single one.
 */
export const alternativesOf = (from: Collection<object>, { using, where, sort }: Find): readonly (readonly Where[])[] => {
  const conjuncts = conjunctsOf(where)
  if (sort === undefined) return [conjuncts]
  const indexes = indexesOf(from, using)
  const whole = strongest(indexes, conjuncts, sort.by)
  let best: readonly (readonly Where[])[] = [conjuncts]
  let strength = whole
  for (const at of conjuncts) {
    if (at.op !== 'or') continue
    const others = conjuncts.filter(by => by !== at)
    const parts = flat(at).map(alternative => [...others, ...conjunctsOf(alternative)])
    if (parts.length === 0 || parts.length > most) continue
    const weakest = Math.min(...parts.map(part => strongest(indexes, part, sort.by)))
    if (weakest > strength) {
      best = parts
      strength = weakest
    }
  }
  return best
}
