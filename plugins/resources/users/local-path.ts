import { Invalid } from 'pounce/sdk'

/** How often a path is decoded to see what may become of it on its way. */
const decodings = 4

const isPlain = (path: string): boolean => /^\/(?![/\\])/.test(path) && !/[\p{Cc}\\]/u.test(path)

/** A path of this server, with what follows it, as one wants to be sent to; `Invalid` for whatever might lead elsewhere, in any disguise. */
export const localPath = (text: string): string => {
  let now = text
  for (let time = 0; time < decodings; time += 1) {
    // What comes after the path is read by our own pages alone.
    if (!isPlain(now.split(/[?#]/)[0] ?? '') || /[\p{Cc}\s]/u.test(text))
      throw new Invalid('returnTo must be a path of this server, such as /datasets')
    try {
      now = decodeURIComponent(now)
    } catch (error) {
      if (error instanceof URIError) throw new Invalid('returnTo must be a path of this server, such as /datasets', { cause: error })
      throw error
    }
  }
  return text
}
