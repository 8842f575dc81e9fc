import { Invalid } from 'pounce/sdk'

/** How often a path is decoded to see what may become of it on its way. */
const decodings = 5

const isPlainPath = (path: string): boolean => {
  const segments = path.split('/').slice(1)
  const isStep = (segment: string): boolean => /^\.{1,2}$/.test(segment.replace(/;.*$/s, ''))
  const isEmptyInside = segments.some((segment, at) => segment === '' && at < segments.length - 1)
  return !/[\\\p{Cc}]/u.test(path) && !isEmptyInside && !segments.some(isStep)
}

/** True of a path that stays where it is, also when somebody on the way decodes it once more. */
const staysBelow = (path: string): boolean => {
  let now = path
  for (let time = 0; time < decodings; time++) {
    if (!isPlainPath(now)) return false
    let next: string
    try {
      next = decodeURIComponent(now)
    } catch (error) {
      if (error instanceof URIError) return false
      throw error
    }
    if (next === now) return true
    now = next
  }
  return false
}

/**
 * The address of something below a server's own address. `path` is empty or begins with a slash, `search` is empty or begins with a question mark,
 * both as sent. Throws `Invalid` for a path that might lead out: with `.` or `..`, empty segments, backslashes or control characters, in whatever disguise.
 */
export const addressBelow = (server: string, path: string, search: string): URL => {
  const base = new URL(server)
  const prefix = base.pathname.replace(/\/$/, '')
  if (path !== '' && !(path.startsWith('/') && staysBelow(path))) {
    throw new Invalid('The path must not contain . or .. segments, empty segments, backslashes or control characters')
  }
  const url = new URL(`${base.protocol}//${base.host}${path === '' ? base.pathname : prefix + path}${search}`)
  const isBelow = url.pathname === base.pathname || url.pathname.startsWith(`${prefix}/`)
  if (url.origin !== base.origin || !isBelow || url.hash !== '') throw new Invalid('The path leaves the endpoint')
  return url
}
