import { randomBytes } from 'node:crypto'

/** `o`: one object that knows its own checksums. `p`: put together from parts, with its checksums in an object beside it. */
export type Shape = 'o' | 'p'

/** A blob's key, taken apart. */
export interface ParsedKey {
  readonly shape: Shape
  /** What follows the shape, the same for both objects of a blob. */
  readonly rest: string
}

const pattern = /^([op])\/([0-9a-f]{2}\/[0-9a-z]{9}-[0-9a-f]{16})$/

/** A key that was never used. The random beginning spreads keys over a bucket's partitions. */
export function newKey(shape: Shape, now: Date): string {
  const random = randomBytes(9).toString('hex')
  return `${shape}/${random.slice(0, 2)}/${now.getTime().toString(36).padStart(9, '0')}-${random.slice(2)}`
}

/** Undefined for what `newKey` never makes. */
export function parseKey(key: string): ParsedKey | undefined {
  const [, shape, rest] = pattern.exec(key) ?? []
  return rest === undefined ? undefined : { shape: shape as Shape, rest }
}

/** The object that holds the checksums of a blob made from parts. */
export const sumsNameOf = ({ rest }: ParsedKey): string => `sums/${rest}`
