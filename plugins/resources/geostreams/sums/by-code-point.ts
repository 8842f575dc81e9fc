/** Orders texts by code point, as stores do. */
export const byCodePoint = (one: string, other: string): number =>
  one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other))
