import type { Find, Where } from 'pounce/sdk'
import { conjunctsOf, namesOf } from 'pounce/sdk/store-kit'
import { type Constraints, combinations, constraintsOf } from './constraints.ts'
import type { IndexStream, StreamShape } from './stream.ts'
import type { CollectionTable, IndexTable } from './table.ts'

/** Streams that together contain all matching documents, and perhaps others. */
export interface QueryPlan {
  readonly streams: readonly IndexStream[]
  /** Each stream yields the requested order by itself; otherwise SQLite must sort it in full. */
  readonly isOrdered: boolean
  /** All documents in the streams match. */
  readonly isExact: boolean
  /** How many conditions the streams use. */
  readonly strength: number
}

/** Merging more streams than this does not pay; the remaining conditions are then checked on each document. */
const maxStreams = 2000

/** Maximum number of streams that one list of values can make for a page: otherwise a user in very many spaces would cause a full scan. */
const maxOfOneList = 100_000

/** The purpose of a plan: pages in the order of a field or of the ID, or in the order of the index. */
export interface Goal {
  readonly sort: Find['sort'] | undefined
  readonly isOrderFree: boolean
}

/** How many of the leading paths have fixed values, as long as these do not make too many streams. */
const fixedCount = (on: readonly string[], values: Constraints['values'], { isOrderFree }: Goal): number => {
  let streams = 1
  for (const [at, path] of on.entries()) {
    const given = values.get(path)
    const max = streams === 1 && !isOrderFree ? maxOfOneList : maxStreams
    if (given === undefined || streams * given.values.length > max) return at
    streams *= given.values.length
  }
  return on.length
}

const unbounded = new WeakMap<IndexTable, StreamShape[]>()

/** Shared by all queries of a shape without bounds: statements are cached by shape, and creating one takes longer than a short page. */
const shapeOf = (shape: StreamShape & { readonly index: IndexTable }): StreamShape => {
  if (shape.bounds) return shape
  let shapes = unbounded.get(shape.index)
  if (shapes === undefined) {
    shapes = []
    unbounded.set(shape.index, shapes)
  }
  const isSame = ({ fixed, order, repeats }: StreamShape): boolean =>
    fixed === shape.fixed &&
    repeats === shape.repeats &&
    order.length === shape.order.length &&
    order.every((at, i) => at === shape.order[i])
  const known = shapes.find(isSame)
  if (known) return known
  shapes.push(shape)
  return shape
}

/** The streams of one index under constraints; undefined when it lacks the requested order, or some document that may match. */
const streamsOf = (
  index: IndexTable,
  { values, bounds }: Constraints,
  goal: Goal,
): (Omit<QueryPlan, 'isExact'> & { used: readonly Where[] }) | undefined => {
  const { on, array, sparse } = index.index
  const sort = goal.sort?.by
  if (sort !== undefined && !on.includes(sort)) return undefined
  const fixed = on.slice(0, fixedCount(on, values, goal))
  const rest = on.slice(fixed.length)
  const bounded = rest[0] === undefined ? undefined : bounds.get(rest[0])
  if (sparse !== undefined && !(fixed.includes(sparse) ? !values.get(sparse)?.values.includes(null) : bounded && rest[0] === sparse))
    return undefined
  const order = goal.isOrderFree ? rest.map(path => on.indexOf(path)) : sort === undefined ? [] : [on.indexOf(sort)]
  const repeats = array !== undefined && rest.includes(array)
  const used = fixed.map(path => values.get(path)?.by).filter(by => by !== undefined)
  const shape = shapeOf({ index, fixed: fixed.length, bounds: bounded?.bounds, order, repeats })
  return {
    streams: combinations(fixed.map(path => values.get(path)?.values ?? [])).map(key => ({ shape, fixed: key })),
    isOrdered: goal.isOrderFree || rest.length === 0 || (rest.length === 1 && rest[0] === sort && !repeats),
    strength: used.length + (bounded ? 1 : 0),
    used: bounded ? [...used, bounded.by] : used,
  }
}

/** All documents by ID. Created each time: a shape caches its statements, which contain the table name of one collection. */
const byId = (): QueryPlan => ({
  streams: [{ shape: { index: undefined, fixed: 0, bounds: undefined, order: [], repeats: false }, fixed: [] }],
  isOrdered: true,
  isExact: false,
  strength: 0,
})

const better = (a: QueryPlan, b: QueryPlan | undefined): boolean =>
  b === undefined ||
  (a.isOrdered !== b.isOrdered ? a.isOrdered : a.strength !== b.strength ? a.strength > b.strength : a.streams.length < b.streams.length)

/** Every plan without an `or`, one per suitable index. */
const plansFor = (indexes: readonly IndexTable[], conjuncts: readonly Where[], goal: Goal): readonly QueryPlan[] => {
  const constraints = constraintsOf(conjuncts)
  return indexes.flatMap(index => {
    const found = streamsOf(index, constraints, goal)
    if (found === undefined) return []
    const isExact = conjuncts.every(by => found.used.includes(by) && !asksForNull(by))
    return [{ ...found, isExact }]
  })
}

/** Objects are indexed as null, so the key alone is not sufficient. */
const asksForNull = (by: Where): boolean => (by.op === 'eq' && by.value === null) || (by.op === 'in' && by.values.includes(null))

const best = (plans: readonly QueryPlan[]): QueryPlan | undefined =>
  plans.reduce<QueryPlan | undefined>((found, plan) => (better(plan, found) ? plan : found), undefined)

const alternativesOf = (where: Where): readonly Where[] => (where.op === 'or' ? where.any.flatMap(alternativesOf) : [where])

/** The plan that serves each alternative of an `or` with its own streams; undefined when one alternative has none in order. */
const expanded = (indexes: readonly IndexTable[], conjuncts: readonly Where[], at: Where, goal: Goal): QueryPlan | undefined => {
  if (at.op !== 'or') return undefined
  const others = conjuncts.filter(by => by !== at)
  const parts: QueryPlan[] = []
  for (const alternative of alternativesOf(at)) {
    const part = best(plansFor(indexes, [...others, ...conjunctsOf(alternative)], goal))
    if (part === undefined || !part.isOrdered) return undefined
    parts.push(part)
  }
  const streams = parts.flatMap(part => part.streams)
  if (streams.length > maxOfOneList) return undefined
  return { streams, isOrdered: true, isExact: parts.every(part => part.isExact), strength: Math.min(...parts.map(part => part.strength)) }
}

const named = (table: CollectionTable, using: Find['using']): readonly IndexTable[] =>
  namesOf(using).map(name => {
    const index = table.indexes.find(candidate => candidate.name === name)
    if (index === undefined) throw new Error(`${table.collection} has no index ${name}`)
    return index
  })

const cannotAnswer = (table: CollectionTable, using: Find['using']): Error =>
  new Error(`No index in ${namesOf(using).join(', ')} of ${table.collection} can answer this query`)

/** The streams of the first index, which concatenated yield its order. */
export const streamsInOrder = (table: CollectionTable, using: Find['using'], where: Where | undefined): readonly IndexStream[] => {
  const [plan] = plansFor(named(table, using).slice(0, 1), conjunctsOf(where), { sort: undefined, isOrderFree: true })
  if (plan === undefined) throw cannotAnswer(table, using)
  return plan.streams
}

/**
 * Plans to try in order: possibly a walk along the order, abandoned when few documents on the way match, then the plan that
 * uses the most conditions. Throws for a name in `using` that was not declared.
 */
export const plansOf = (
  table: CollectionTable,
  using: Find['using'],
  where: Where | undefined,
  goal: Goal,
): { walk?: QueryPlan; main: QueryPlan } => {
  const indexes = named(table, using)
  const conjuncts = conjunctsOf(where)
  const simple = plansFor(indexes, conjuncts, goal)
  const merges = conjuncts.map(at => expanded(indexes, conjuncts, at, goal)).filter(plan => plan !== undefined)
  const main = best([...simple, ...merges])
  if (main === undefined) throw cannotAnswer(table, using)
  if (!main.isOrdered) return goal.sort ? { main } : { walk: byId(), main }
  const walk = simple.find(plan => plan !== main && plan.isOrdered && plan.streams.length === 1)
  return walk === undefined || main.streams.length <= 24 ? { main } : { walk, main }
}

/** The effort of a query is measured in non-matching rows of about half a kilobyte: counted, not timed, so that load does not change plans. */
export const costOf = (text: string): number => 1 + text.length / 512
