/**
 * Assignments to a name that ends in `key`: `?key=`, `secretKey%3D`, `"secretKey": "`, `X-API-Key: `. The value ends where a URL, a
 * quoted string or a word does. Names are bounded, so that matching takes linear time.
 */
const assigned = /(?<![\w-])([\w-]{0,30}key(?:=|%3d|\\{0,4}["']\s{0,4}[:=]\s{0,4}(?:b?\\{0,4}["'])?)|x-api-key:\s{0,4})[^&\s"'<>\\)]+/gi

/** The key of a job, which an extractor may print without a name. */
const jobKeys = /job_[\w-]{40,}/g

/** Masks keys in text from extractors in Clowder's notation: `key=secretKey`. */
export const maskKeys = (text: string): string => text.replace(jobKeys, 'secretKey').replace(assigned, '$1secretKey')

/** The queue of an extractor for logs: that of a private one, `private.<key>.<name>`, contains its key, which may contain dots. */
export const maskQueue = (queue: string): string => (queue.startsWith('private.') ? 'private' : queue)
