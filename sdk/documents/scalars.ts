import type { Json } from '../ports/document-store.ts'

/** A value in an index key or a condition. */
export type Scalar = string | number | boolean | null

/** True for strings, numbers, booleans and null. */
export const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

const rank = (value: Scalar): number => (value === null ? 0 : typeof value === 'number' ? 1 : typeof value === 'string' ? 2 : 3)

/** Sorts surrogates above all other UTF-16 units, so that comparing units compares code points. */
const weight = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800)

/** Compares strings by code point, like their UTF-8 bytes; `<` would compare UTF-16 units. */
export const compareText = (a: string, b: string): number => {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const unitOfA = a.charCodeAt(at)
    const unitOfB = b.charCodeAt(at)
    if (unitOfA !== unitOfB) return weight(unitOfA) - weight(unitOfB)
  }
  return a.length - b.length
}

/** The order of index keys: null, numbers, text by code point, false, true. */
export const compareScalars = (a: Scalar, b: Scalar): number => {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return rank(a) - rank(b) || Number(a) - Number(b)
}

/** Deep equality of JSON values; the order of object members is ignored. */
export const sameJson = (a: Json | undefined, b: Json | undefined): boolean => {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, at) => sameJson(item, b[at]))
  }
  const left = a as { readonly [key: string]: Json }
  const right = b as { readonly [key: string]: Json }
  const keys = Object.keys(left)
  return keys.length === Object.keys(right).length && keys.every(key => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
}

/** Deeply freezes a value, so that several readers can share it. */
export const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(Object.freeze(value))) deepFreeze(member)
  return value
}
