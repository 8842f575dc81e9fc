import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Hex SHA-256: how keys and session tokens are stored. They are random, so no salt is needed. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The id of the record of a key or session: the start of its hash, so that one read finds it. */
export const idOfHash = (hash: string): string => hash.slice(0, 24)

/** Compares two digests of equal length without telling by the time where they differ. */
export const isSameDigest = (one: string, other: string): boolean => {
  const a = Buffer.from(one)
  const b = Buffer.from(other)
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Sixteen bytes in the form of a UUID, which v1's clients expect of a key. All 128 bits count. */
export const inKeyForm = (bytes: Buffer): string =>
  bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** A new API key: 128 random bits. */
export const newKey = (): string => inKeyForm(randomBytes(16))

/** A new session or set-up token: 256 random bits. */
export const newToken = (): string => randomBytes(32).toString('base64url')
