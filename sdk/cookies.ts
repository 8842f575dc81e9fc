/**
 * The name of a cookie of this server. When the server is reached over TLS it has the prefix `__Host-`, so that browsers accept it only from this host, over
 * TLS and for all paths (RFC 6265bis, 4.1.3).
 */
export const cookieName = (name: string, baseUrl: string): string => (baseUrl.startsWith('https:') ? `__Host-${name}` : name)

/** The value of a `Set-Cookie` header, with the attributes that all cookies of this server share. `maxAgeSeconds` 0 deletes the cookie. */
export const setCookie = (
  name: string,
  value: string,
  { maxAgeSeconds, baseUrl }: { readonly maxAgeSeconds: number; readonly baseUrl: string },
): string =>
  `${cookieName(name, baseUrl)}=${value}; Max-Age=${Math.floor(maxAgeSeconds)}; Path=/; HttpOnly; SameSite=Lax${baseUrl.startsWith('https:') ? '; Secure' : ''}`

/** The value of a cookie, by its full name. Undefined when two different values are sent: another server of the domain may have planted the second one. */
export const cookieIn = (header: string | undefined, name: string): string | undefined => {
  const values = new Set<string>()
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) values.add(unquoted(pair.slice(at + 1).trim()))
  }
  return values.size === 0 ? undefined : [...values].join(', ')
}

const unquoted = (text: string): string => (text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text)

/** The session cookie. */
export const sessionCookie = 'pounce_session'
