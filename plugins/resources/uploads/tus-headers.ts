import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { Invalid } from 'pounce/sdk'
import { trimEnd } from 'pounce/sdk/kit'
import { OtherVersion } from './problems.ts'

/** Sent with every response. */
export const tusHeaders = {
  'tus-resumable': '1.0.0',
  'tus-version': '1.0.0',
  'tus-extension': 'creation,creation-with-upload,checksum,expiration,termination',
  'tus-checksum-algorithm': 'sha256,sha1,md5',
}

/** Headers that a tus client in a page of another origin sends and reads. */
export const tusCrossOriginHeaders = {
  request: ['Tus-Resumable', 'Upload-Length', 'Upload-Offset', 'Upload-Metadata', 'Upload-Checksum', 'Upload-Defer-Length'],
  response: [
    ...['Tus-Resumable', 'Tus-Version', 'Tus-Extension', 'Tus-Checksum-Algorithm'],
    ...['Upload-Offset', 'Upload-Length', 'Upload-Expires', 'Upload-Metadata'],
  ],
}

const single = (value: string | readonly string[] | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

type TusMethod = 'POST' | 'PATCH' | 'DELETE' | 'HEAD'

/**
 * Throws `OtherVersion` unless the request has our version, and `Invalid` when its method override differs from the method of its route.
 */
export const requireTus = (headers: IncomingHttpHeaders, method: TusMethod): void => {
  if (headers['tus-resumable'] !== '1.0.0') throw new OtherVersion()
  const override = headers['x-http-method-override']
  if (override !== undefined && override !== method)
    throw new Invalid('X-HTTP-Method-Override must be PATCH, DELETE or HEAD, in a POST to an upload')
}

/** The method that a POST to an upload overrides. */
export const overriddenMethod = (headers: IncomingHttpHeaders): Exclude<TusMethod, 'POST'> => {
  const meant = headers['x-http-method-override']
  return meant === 'DELETE' || meant === 'HEAD' ? meant : 'PATCH'
}

/** A header with a number of bytes; undefined when it is absent. */
export const bytesIn = (headers: IncomingHttpHeaders, name: 'upload-length' | 'upload-offset'): number | undefined => {
  const text = single(headers[name])
  if (text === undefined) return undefined
  const bytes = Number(text)
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(bytes)) throw new Invalid(`The header ${name} must be a number of bytes`)
  return bytes
}

const textOf = (key: string, encoded: string): string => {
  const bytes = Buffer.from(encoded, 'base64')
  const isWhole = trimEnd(bytes.toString('base64'), '=') === trimEnd(encoded, '=')
  if (!isWhole || !isUtf8(bytes)) throw new Invalid(`The header Upload-Metadata: ${key} must be text in UTF-8, encoded as Base64`)
  return bytes.toString('utf8')
}

/** The pairs of an `Upload-Metadata` header, decoded. */
export const metadataIn = (header: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  if (header.trim() === '') return found
  for (const pair of header.split(',')) {
    const [key = '', encoded = '', ...rest] = pair.trim().split(' ')
    if (!/^[\x21-\x7e]+$/.test(key) || rest.length > 0)
      throw new Invalid('The header Upload-Metadata must be comma-separated pairs of a key and a Base64 value')
    if (found.has(key)) throw new Invalid(`The header Upload-Metadata has a duplicate key ${key}`)
    found.set(key, textOf(key, encoded))
  }
  return found
}

/** The expected checksum of the bytes of one request. */
export interface Checksum {
  readonly algorithm: 'sha256' | 'sha1' | 'md5'
  /** Base64. */
  readonly value: string
}

/** The checksum of an `Upload-Checksum` header; undefined when it is absent. */
export const checksumIn = (headers: IncomingHttpHeaders): Checksum | undefined => {
  const text = single(headers['upload-checksum'])
  if (text === undefined) return undefined
  const [, algorithm, value = ''] = /^(sha256|sha1|md5) ([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  if (algorithm !== 'sha256' && algorithm !== 'sha1' && algorithm !== 'md5') {
    throw new Invalid('The header Upload-Checksum must be sha256, sha1 or md5 and the digest in Base64')
  }
  return { algorithm, value }
}
