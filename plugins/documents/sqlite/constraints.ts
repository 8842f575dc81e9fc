import type { Where } from 'pounce/sdk'
import type { SqlValue } from 'pounce/sdk/sqlite'
import { compareScalars, type Scalar } from 'pounce/sdk/store-kit'
import { encode } from './table.ts'

/** A bound of a key range. */
export interface Bound {
  readonly value: SqlValue
  readonly isIncluded: boolean
}

/** A range of keys of one type. */
export interface KeyRange {
  readonly lower: Bound
  readonly upper: Bound
}

/** What all conditions of an `and` require of fields that an index could use, and which condition requires it. */
export interface Constraints {
  readonly values: ReadonlyMap<string, { readonly values: readonly Scalar[]; readonly by: Where }>
  readonly bounds: ReadonlyMap<string, { readonly bounds: KeyRange; readonly by: Where }>
}

const past = (value: SqlValue): Bound => ({ value, isIncluded: false })
const from = (value: SqlValue): Bound => ({ value, isIncluded: true })

/** Bounds of the numbers and of the texts: null sorts before numbers, booleans after texts. */
const numbers: KeyRange = { lower: past(Number.NEGATIVE_INFINITY), upper: from(Number.POSITIVE_INFINITY) }
const texts: KeyRange = { lower: from(''), upper: past(new Uint8Array(0)) }

/** The least text above all texts with this prefix. */
const afterPrefix = (text: string): Bound => {
  const points = [...text]
  while (points.length > 0) {
    const point = points.pop()?.codePointAt(0) ?? 0
    if (point < 0x10ffff) return past(points.join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1))
  }
  return texts.upper
}

const boundsOf = (where: Where): KeyRange | undefined => {
  if (where.op === 'prefix') return { lower: from(where.text), upper: afterPrefix(where.text) }
  if (where.op !== 'range') return undefined
  const { gt, gte, lt, lte } = where
  const given = gt ?? gte ?? lt ?? lte
  if (given === undefined) return undefined
  const all = typeof given === 'number' ? numbers : texts
  const lower = gt !== undefined ? past(gt) : gte !== undefined ? from(gte) : all.lower
  const upper = lt !== undefined ? past(lt) : lte !== undefined ? from(lte) : all.upper
  return typeof lower.value === typeof given || typeof upper.value === typeof given ? { lower, upper } : undefined
}

/** Extracts the constraints from conditions that must all hold; values are sorted. Of two on one field only the narrower is used: an array can meet both. */
export const constraintsOf = (conjuncts: readonly Where[]): Constraints => {
  const values = new Map<string, { values: readonly Scalar[]; by: Where }>()
  const bounds = new Map<string, { bounds: KeyRange; by: Where }>()
  for (const by of conjuncts) {
    if (by.op === 'eq' || by.op === 'in') {
      const found = by.op === 'eq' ? [by.value] : [...new Set(by.values)].sort(compareScalars)
      const known = values.get(by.field)
      if (known === undefined || found.length < known.values.length) values.set(by.field, { values: found, by })
    } else if (by.op === 'range' || by.op === 'prefix') {
      const found = boundsOf(by)
      if (found && !bounds.has(by.field)) bounds.set(by.field, { bounds: found, by })
    }
  }
  return { values, bounds }
}

/** Every choice of one value per list, in the order of the lists. */
export const combinations = (lists: readonly (readonly Scalar[])[]): readonly (readonly SqlValue[])[] =>
  lists.reduce<readonly (readonly SqlValue[])[]>(
    (made, list) => made.flatMap(values => list.map(value => [...values, encode(value)])),
    [[]],
  )
