import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const toGzip = promisify(gzip)
const toBrotli = promisify(brotliCompress)

/** Below this many bytes compression costs more than it saves. */
export const worthCompressing = 1024

/** Which of our codings a client reads best; undefined when none, or none was asked for. */
export const codingFor = (acceptEncoding: string | undefined): 'br' | 'gzip' | undefined => {
  if (acceptEncoding === undefined) return undefined
  const accepts = (coding: string): boolean =>
    new RegExp(`(?:^|,)\\s*${coding}\\s*(?:;\\s*q=(?!0(?:\\.0*)?\\s*(?:,|$))[^,]*)?(?:,|$)`, 'i').test(acceptEncoding)
  if (accepts('br')) return 'br'
  return accepts('gzip') ? 'gzip' : undefined
}

/** Compresses off the event loop. */
export const compress = (text: string, coding: 'br' | 'gzip'): Promise<Buffer> =>
  coding === 'br'
    ? toBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT } })
    : toGzip(text, { level: 5 })
