import { Invalid } from 'pounce/sdk'
import { isMediaType, parseHeader } from './media-type.ts'

/** The longest name of a file, in characters. */
const maxFilename = 255
const maxFieldName = 200

/** What the header of a part says. */
export interface PartHeader {
  readonly field: string
  /** Absent for a plain field. */
  readonly filename?: string
  readonly contentType: string
}

/** Reads a part's header, given as values in Latin-1 (as bytes) by lower-case name. Throws `Invalid`. */
export const partHeader = (header: Readonly<Record<string, readonly string[] | undefined>>): PartHeader => {
  const disposition = header['content-disposition']?.[0]
  if (disposition === undefined) throw new Invalid('Each part of the body needs a Content-Disposition header')
  const { type, parameters } = parseHeader(disposition)
  const name = parameters.get('name')
  if (type !== 'form-data' || name === undefined)
    throw new Invalid('Each part of the body needs Content-Disposition: form-data with a name')
  const field = utf8(name)
  if (field.length > maxFieldName || /\p{Cc}/u.test(field)) {
    throw new Invalid(`The name of a part must be at most ${maxFieldName} characters without control characters`)
  }
  const declared = header['content-type']?.[0]?.trim()
  const contentType = declared && isMediaType(declared) ? declared : 'application/octet-stream'
  const sent = extended(parameters.get('filename*')) ?? plain(parameters.get('filename'))
  if (sent === undefined) return declared === 'application/octet-stream' ? { field, contentType, filename: '' } : { field, contentType }
  return { field, contentType, filename: safeName(sent) }
}

const utf8 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8')

const plain = (value: string | undefined): string | undefined => (value === undefined ? undefined : utf8(value))

/** RFC 5987: `UTF-8''na%C3%AFve.txt`. */
const extended = (value: string | undefined): string | undefined => {
  const [, charset = '', encoded = ''] = /^([\w-]+)'[^']*'(.*)$/.exec(value ?? '') ?? []
  try {
    if (/^utf-8$/i.test(charset)) return decodeURIComponent(encoded)
    if (/^iso-8859-1$/i.test(charset))
      return encoded.replaceAll(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  } catch (error) {
    throw new Invalid('A file name is not encoded as RFC 5987 says', { cause: error })
  }
  return undefined
}

/** The last segment of what a browser may have sent as a path. */
const safeName = (sent: string): string => {
  const name = sent.split(/[\\/]/).at(-1) ?? ''
  if (/\p{Cc}/u.test(name)) throw new Invalid('A file name must not contain control characters')
  if (name.length > maxFilename) throw new Invalid(`A file name must be at most ${maxFilename} characters`)
  if (name === '.' || name === '..') throw new Invalid(`A file cannot be named ${name}`)
  return name
}
