import type { Where } from '../ports/document-store.ts'
import { someAt } from './paths.ts'
import { compareScalars } from './scalars.ts'

type Test = (document: unknown) => boolean
type Range = Extract<Where, { op: 'range' }>

const withinRange = ({ gt, gte, lt, lte }: Range): ((leaf: unknown) => boolean) => {
  const above = [gt, gte].filter(bound => bound !== undefined)
  const below = [lt, lte].filter(bound => bound !== undefined)
  return leaf => {
    if (typeof leaf !== 'string' && typeof leaf !== 'number') return false
    if (![...above, ...below].every(bound => typeof bound === typeof leaf)) return false
    return (
      (gt === undefined || compareScalars(leaf, gt) > 0) &&
      (gte === undefined || compareScalars(leaf, gte) >= 0) &&
      (lt === undefined || compareScalars(leaf, lt) < 0) &&
      (lte === undefined || compareScalars(leaf, lte) <= 0)
    )
  }
}

const leafTest = (where: Exclude<Where, { op: 'and' | 'or' | 'not' }>): ((leaf: unknown) => boolean) => {
  switch (where.op) {
    case 'eq':
    case 'ne':
      return leaf => leaf === where.value
    case 'in': {
      const values = new Set<unknown>(where.values)
      return leaf => values.has(leaf)
    }
    case 'range':
      return withinRange(where)
    case 'prefix':
      return leaf => typeof leaf === 'string' && leaf.startsWith(where.text)
    case 'contains': {
      const text = where.text.toLowerCase()
      return leaf => typeof leaf === 'string' && leaf.toLowerCase().includes(text)
    }
    case 'exists':
      return leaf => leaf !== null
  }
}

/**
 * Compiles a condition into a predicate on documents. Absent fields and empty arrays are null; an array matches if any element does; `exists` holds for a value
 * other than null. Range bounds only match values of their own type.
 */
export const matcher = (where: Where | undefined): Test => {
  if (where === undefined) return () => true
  switch (where.op) {
    case 'and': {
      const all = where.all.map(matcher)
      return document => all.every(test => test(document))
    }
    case 'or': {
      const any = where.any.map(matcher)
      return document => any.some(test => test(document))
    }
    case 'not': {
      const test = matcher(where.not)
      return document => !test(document)
    }
    case 'ne': {
      const test = leafTest(where)
      return document => !someAt(document, where.field, test)
    }
    default: {
      const test = leafTest(where)
      return document => someAt(document, where.field, test)
    }
  }
}
