/** What requests and urllib3 say when nobody answers, and what they make of a 5xx. */
const unreachable =
  /Max retries exceeded|Connection aborted|Connection refused|Connection reset|Connection broken|RemoteDisconnected|Read timed out|ConnectTimeout|NewConnectionError|NameResolutionError|\b5\d\d Server Error\b/

const addresses = /host='([^']{1,255})'|https?:\/\/([^/\s:'"?]{1,255})/g

/**
 * True of a text in which an extractor says that it could not reach us, rather than some other service. `host` is the address in the job's
 * message; extractors may use another one for us (`CLOWDER_URL`), but only for us do they send `?key=`.
 */
export function saysWeWereAway(text: string, host: unknown): boolean {
  if (!unreachable.test(text)) return false
  if (/\/api\/[^\s'"]*[?&]key=/.test(text)) return true
  const named = [...text.matchAll(addresses)].map(([, quoted, plain]) => quoted ?? plain)
  const own = typeof host === 'string' && URL.canParse(host) ? new URL(host).hostname : undefined
  return named.every(name => name === own)
}
