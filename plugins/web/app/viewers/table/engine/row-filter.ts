import type { Cell, ColumnType } from './table-source.ts'
import { isMeasured, isMissing, numberAs } from './values.ts'

export const filterKinds = ['contains', 'equals', 'differs', 'atLeast', 'atMost', 'missing', 'present'] as const
export type FilterKind = (typeof filterKinds)[number]

export interface RowFilter {
  readonly column: number
  readonly kind: FilterKind
  /** Not used by `missing` and `present`. */
  readonly value: string
}

/** Returns a predicate for the cells matching a filter. Numbers and dates are compared by value. */
export const matcherOf = ({ kind, value }: RowFilter, type: ColumnType, decimal: '.' | ','): ((cell: Cell) => boolean) => {
  const wanted = value.toLocaleLowerCase()
  const number = isMeasured(type) ? numberAs(value, type, decimal) : Number.NaN
  const isNumber = !Number.isNaN(number)
  const text = (cell: Cell): string => (cell === null ? '' : String(cell).toLocaleLowerCase())
  const equals = (cell: Cell): boolean => (isNumber ? numberAs(cell, type, decimal) === number : text(cell) === wanted)
  switch (kind) {
    case 'contains':
      return cell => text(cell).includes(wanted)
    case 'equals':
      return equals
    case 'differs':
      return cell => !isMissing(cell) && !equals(cell)
    case 'atLeast':
      return cell => (isNumber ? numberAs(cell, type, decimal) >= number : !isMissing(cell) && text(cell) >= wanted)
    case 'atMost':
      return cell => (isNumber ? numberAs(cell, type, decimal) <= number : !isMissing(cell) && text(cell) <= wanted)
    case 'missing':
      return isMissing
    case 'present':
      return cell => !isMissing(cell)
  }
}
