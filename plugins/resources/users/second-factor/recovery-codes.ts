import { randomBytes } from 'node:crypto'
import { isSameDigest, sha256 } from '../keys/secrets.ts'

const count = 10
/** Crockford's base32: no letter that is taken for a digit. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** 80 random bits each, so that a plain digest is enough. */
const newCode = (): string =>
  [...randomBytes(16)]
    .map(byte => alphabet[byte % 32])
    .join('')
    .replace(/^(.{4})(.{4})(.{4})(.{4})$/, '$1-$2-$3-$4')

const digestOf = (user: string, code: string): string =>
  sha256(`recovery code\n${user}\n${code.toLowerCase().replaceAll(/[^0-9a-z]/g, '')}`)

/** Ten codes to show once, and what is kept of them. */
export const newRecoveryCodes = (user: string): { readonly codes: readonly string[]; readonly digests: readonly string[] } => {
  const codes = Array.from({ length: count }, newCode)
  return { codes, digests: codes.map(code => digestOf(user, code)) }
}

/** What is left of the digests when a code is used; undefined for a wrong one. Case and dashes do not count. */
export const withoutCode = (user: string, digests: readonly string[], code: string): readonly string[] | undefined => {
  const digest = digestOf(user, code)
  const left = digests.filter(each => !isSameDigest(each, digest))
  return left.length < digests.length ? left : undefined
}
