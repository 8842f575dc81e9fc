import { Invalid } from 'pounce/sdk'

/** How often a path is decoded to see what may become of it on its way. */
const decodings = 4

const isPlain = (path: string): boolean => /^\/(?![/\\])/.test(path) && !/[\p{Cc}\\]/u.test(path)

const staysHere = (path: string): boolean => {
  let now = path
  for (let time = 0; time < decodings; time += 1) {
    if (!isPlain(now)) return false
    try {
      now = decodeURIComponent(now)
    } catch (error) {
      if (error instanceof URIError) return false
      throw error
    }
  }
  return true
}

/**
 * A path of this server, with what follows it, as a header can carry it; `Invalid` for whatever might lead elsewhere, in any disguise.
 * What comes after the path is read by our own pages alone.
 */
export const localPath = (text: string): string => {
  const url = isPlain(text) && !/\s/.test(text) ? URL.parse(`http://here${text}`) : null
  if (!url || !staysHere(text.split(/[?#]/)[0] ?? '') || !isPlain(url.pathname))
    throw new Invalid('returnTo must be a path of this server, such as /datasets')
  return url.pathname + url.search + url.hash
}
