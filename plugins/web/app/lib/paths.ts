/** A path of this server with its query, from an untrusted URL; the home page for a URL that leads elsewhere. */
export const pathOfHere = (text: string | undefined): string => {
  if (!text?.startsWith('/') || /^[/\\]{2}|[\\\s]|\p{Cc}/u.test(text)) return '/'
  const url = URL.parse(text, location.origin)
  return url?.origin === location.origin && !/^\/(?:login|signup|reset|welcome)(?:\/|$)/.test(url.pathname)
    ? url.pathname + url.search + url.hash
    : '/'
}
