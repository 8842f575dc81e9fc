import type { Scalar } from 'pounce/sdk'

const high = /[\ud800-\uffff]/
const parts = /[\u{10000}-\u{10ffff}]|[\ud800-\uffff]/gu

const encodePart = (part: string): string => {
  if (part.length === 2) return `\ue001${part}`
  return part >= '\ue000' ? `\ue000${part}` : `\ue002${part.charCodeAt(0).toString(16)}`
}

/**
 * Text as it is stored where order counts: by code point on servers that compare UTF-8 bytes and on those that compare UTF-16 units
 * alike. Text below U+D800 stays as it is. Half a surrogate pair, which UTF-8 cannot hold, becomes something of its own.
 */
export const encodeText = (text: string): string => (high.test(text) ? text.replace(parts, encodePart) : text)

/** A scalar as it is stored in a key. */
export const encode = (value: Scalar): Scalar => (typeof value === 'string' ? encodeText(value) : value)

/** Above every text that has this one, encoded, as its beginning. */
export const afterPrefix = (encoded: string): string => `${encoded}\ue003`
