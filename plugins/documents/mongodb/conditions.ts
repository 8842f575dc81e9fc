import type { Document, Filter } from 'mongodb'
import type { Collection, Find, Where } from 'pounce/sdk'
import { conjunctsOf, type Index, indexesOf, isScalar, type Scalar } from 'pounce/sdk/store-kit'
import { afterPrefix, encode, encodeText, fieldOf, type RecordFormat, type StoredRecord } from './record-format.ts'

/** A condition as a MongoDB filter: it matches every document that fits and, when exact, no others. */
export interface Translated {
  readonly filter: Filter<StoredRecord>
  readonly isExact: boolean
}

const everything: Translated = { filter: {}, isExact: false }

const nothing: Translated = { filter: { _id: { $in: [] } }, isExact: true }

interface Field {
  readonly name: string
  readonly isArray: boolean
  /** True when the field holds the value at the path, except that objects are stored as null. */
  accepts(value: Scalar): boolean
}

const fieldFor = (format: RecordFormat, path: string): Field | undefined => {
  if (path === 'id') return { name: '_id', isArray: false, accepts: value => typeof value === 'string' }
  if (path === 'revision') return { name: 'r', isArray: false, accepts: value => typeof value === 'number' }
  const isArray = format.paths.get(path)
  return isArray === undefined ? undefined : { name: fieldOf(path), isArray, accepts: () => true }
}

const oneOf = (field: Field, values: readonly Scalar[]): Translated => {
  const accepted = [...new Set(values.filter(field.accepts))]
  if (accepted.length === 0) return nothing
  const [only, ...others] = accepted.map(encode)
  const filter = { [field.name]: others.length === 0 ? only : { $in: [only, ...others] } } as Filter<StoredRecord>
  return { filter, isExact: !accepted.includes(null) }
}

type Range = Extract<Where, { op: 'range' }>

const within = (field: Field, bounds: Document, isExact: boolean): Translated => ({
  filter: { [field.name]: field.isArray ? { $elemMatch: bounds } : bounds },
  isExact,
})

const inRange = (field: Field, { gt, gte, lt, lte }: Range): Translated => {
  const given = Object.entries({ gt, gte, lt, lte }).filter((entry): entry is [string, string | number] => entry[1] !== undefined)
  const types = new Set(given.map(([, bound]) => typeof bound))
  if (types.size > 1) return nothing
  const [first] = given
  if (first === undefined) return everything
  if (!field.accepts(first[1])) return nothing
  if (given.some(([, bound]) => typeof bound === 'string' && !bound.isWellFormed())) return everything
  return within(field, Object.fromEntries(given.map(([op, bound]) => [`$${op}`, encode(bound)])), true)
}

const beginning = (field: Field, text: string): Translated => {
  if (!field.accepts(text)) return nothing
  if (!text.isWellFormed()) return everything
  const encoded = encodeText(text)
  return within(field, { $gte: encoded, $lt: afterPrefix(encoded) }, true)
}

/** Combines all conditions with AND. */
export const translateAll = (format: RecordFormat, all: readonly Where[]): Translated => {
  const parts = all.map(where => translate(format, where))
  const filters = parts.map(({ filter }) => filter).filter(filter => Object.keys(filter).length > 0)
  return {
    filter: filters.length > 1 ? { $and: filters } : (filters[0] ?? {}),
    isExact: parts.every(({ isExact }) => isExact),
  }
}

const translateAny = (format: RecordFormat, any: readonly Where[]): Translated => {
  if (any.length === 0) return nothing
  const parts = any.map(where => translate(format, where))
  if (parts.some(({ filter }) => Object.keys(filter).length === 0)) {
    return { filter: {}, isExact: parts.some(({ filter, isExact }) => isExact && Object.keys(filter).length === 0) }
  }
  return { filter: { $or: parts.map(({ filter }) => filter) }, isExact: parts.every(({ isExact }) => isExact) }
}

const negated = ({ filter, isExact }: Translated): Translated => {
  if (!isExact) return everything
  return Object.keys(filter).length === 0 ? nothing : { filter: { $nor: [filter] }, isExact: true }
}

/**
 * The part of a condition that MongoDB can evaluate on index fields. User text is only ever used as a value to compare with.
 * The rest is omitted, so documents are checked again unless the translation is exact.
 */
export const translate = (format: RecordFormat, where: Where): Translated => {
  switch (where.op) {
    case 'and':
      return translateAll(format, where.all)
    case 'or':
      return translateAny(format, where.any)
    case 'not':
      return negated(translate(format, where.not))
    default: {
      const field = fieldFor(format, where.field)
      if (field === undefined) return everything
      return ofField(field, where)
    }
  }
}

const ofField = (field: Field, where: Exclude<Where, { op: 'and' | 'or' | 'not' }>): Translated => {
  switch (where.op) {
    case 'eq':
      return isScalar(where.value) ? oneOf(field, [where.value]) : nothing
    case 'ne':
      return negated(oneOf(field, [where.value]))
    case 'in':
      return oneOf(field, where.values.filter(isScalar))
    case 'range':
      return inRange(field, where)
    case 'prefix':
      return beginning(field, where.text)
    default:
      return everything
  }
}

/** With more alternatives than this, a single query is sent, whatever order the server returns the documents in. */
const maxAlternatives = 8

const fixedPaths = (conjuncts: readonly Where[]): ReadonlySet<string> =>
  new Set(conjuncts.flatMap(where => (where.op === 'eq' || where.op === 'in' ? [where.field] : [])))

/** How many conditions an index can use while it yields the order; 0 when it does not yield it. */
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
 * The conditions of the queries whose merged results are the page. One for each alternative of an `or`, when the indexes named by the
 * query yield each of them in order and use more of the conditions than one index for all would; otherwise a single one.
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
    if (parts.length === 0 || parts.length > maxAlternatives) continue
    const weakest = Math.min(...parts.map(part => strongest(indexes, part, sort.by)))
    if (weakest > strength) {
      best = parts
      strength = weakest
    }
  }
  return best
}
