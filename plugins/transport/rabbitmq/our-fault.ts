/** What requests and urllib3 say when nobody answers, and what they make of a 5xx. */
const unreachable =
  /Max retries exceeded|Connection aborted|Connection refused|Connection reset|Connection broken|RemoteDisconnected|Read timed out|ConnectTimeout|NewConnectionError|NameResolutionError|\b5\d\d Server Error\b/

const addresses = /host='([^']{1,255})'|https?:\/\/([^/\s:'"?]{1,255})/g

/** An address of an API, with a key in its query. */
const hasKey = (word: string): boolean => {
  const path = word.indexOf('/api/')
  return path !== -1 && ['?key=', '&key='].some(key => word.includes(key, path))
}

/**
 * True of a text in which an extractor says that it could not reach us, rather than some other service. `host` is the address in the job's
 * message; extractors may use another one for us (`CLOWDER_URL`), but only for us do they send `?key=`.
 */
export function saysWeWereAway(text: string, host: unknown): boolean {
  return unreachable.test(text) && isAboutUs(text, host)
}

/** True of a text in which an extractor says that we refused the key of its job. */
export function saysKeyWasRefused(text: string, host: unknown): boolean {
  return /\b401 Client Error\b/.test(text) && isAboutUs(text, host)
}

/** What pyclowder says of every failure before it has told what the job is about. */
export const saysNothing = (text: string): boolean => /^StatusMessage\.error: Error processing message\.?$/.test(text.trim())

function isAboutUs(text: string, host: unknown): boolean {
  if (text.split(/[\s'"]/).some(hasKey)) return true
  const named = [...text.matchAll(addresses)].map(([, quoted, plain]) => quoted ?? plain)
  const own = typeof host === 'string' && URL.canParse(host) ? new URL(host).hostname : undefined
  return named.every(name => name === own)
}
