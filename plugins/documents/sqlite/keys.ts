import { compareText, type Scalar } from 'pounce/sdk'
import type { SqlValue } from 'pounce/sdk/sqlite'

const booleans = [new Uint8Array([0]), new Uint8Array([1])] as const

/**
 * A scalar as a column of an index table. SQLite orders numbers, then text by its bytes, then blobs, which is the order of
 * `compareScalars` once null is minus infinity (JSON has none) and a boolean is a blob. SQL's own NULL equals nothing, not even itself.
 */
export const encode = (value: Scalar): SqlValue => {
  if (value === null) return Number.NEGATIVE_INFINITY
  return typeof value === 'boolean' ? booleans[value ? 1 : 0] : value
}

/** The scalar that `encode` took. */
export const decode = (column: unknown): Scalar => {
  if (column === Number.NEGATIVE_INFINITY) return null
  return column instanceof Uint8Array ? column[0] === 1 : (column as Scalar)
}

const rankOf = (column: unknown): number => (typeof column === 'number' ? 0 : typeof column === 'string' ? 1 : 2)

const compareBytes = (a: Uint8Array, b: Uint8Array): number => a.length - b.length || (a[0] ?? 0) - (b[0] ?? 0)

/** The order that SQLite gives columns made by `encode`, and the empty blob that ends the texts. */
export const compareColumns = (a: unknown, b: unknown): number => {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (typeof a === 'number' && typeof b === 'number') return a === b ? 0 : a - b
  return a instanceof Uint8Array && b instanceof Uint8Array ? compareBytes(a, b) : rankOf(a) - rankOf(b)
}
