/**
 * What assigns to a name that ends in `key`: `?key=`, `secretKey%3D`, `"secretKey": "`, `X-API-Key: `. The value ends where an address, a
 * text in quotes or a word does. Names are bounded, so that no text takes more time than its length.
 */
const assigned = /(?<![\w-])([\w-]{0,30}key(?:=|%3d|\\{0,4}["']\s{0,4}[:=]\s{0,4}(?:b?\\{0,4}["'])?)|x-api-key:\s{0,4})[^&\s"'<>\\)]+/gi

/** Hides keys in text of extractors in Clowder's words: `key=secretKey`. */
export const maskKeys = (text: string): string => text.replace(assigned, '$1secretKey')
