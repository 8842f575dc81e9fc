import { createHmac, timingSafeEqual } from 'node:crypto'
import { s } from 'pounce/sdk'

/** What the key of a job says, all of it signed. */
export interface JobClaims {
  readonly job: string
  readonly target: { readonly kind: 'file' | 'dataset'; readonly id: string }
  /** Of a file's job: the dataset it was submitted for. */
  readonly dataset: string | undefined
  /** To the second. */
  readonly expires: Date
  /** Fits the account as it was when the key was made. */
  readonly stamp: Buffer
}

export const stampBytes = 8
const prefix = 'job_'
const version = 1
const idBytes = 12
const macBytes = 32
const [jobAt, kindAt, targetAt, datasetAt, expiresAt, stampAt] = [1, 13, 14, 26, 38, 42]
const signedBytes = stampAt + stampBytes
const kinds = ['file', 'dataset'] as const
/** 82 bytes in base64url, which nothing in an address or a header needs to escape. */
const keyLength = prefix.length + Math.ceil(((signedBytes + macBytes) * 4) / 3)
const noDataset = '0'.repeat(2 * idBytes)

const macOf = (secret: Buffer, signed: Buffer): Buffer => createHmac('sha256', secret).update(signed).digest()

/** True of a text in the form of a job's key, genuine or not. */
export const looksLikeJobKey = (shown: string): boolean => shown.length === keyLength && shown.startsWith(prefix)

/** Writes a key. Ids are 24 hex digits. */
export const writeJobKey = ({ job, target, dataset, expires, stamp }: JobClaims, secret: Buffer): string => {
  if (![job, target.id, dataset ?? noDataset].every(s.isId)) throw new TypeError('the key of a job names ids of 24 hex digits')
  const signed = Buffer.alloc(signedBytes)
  signed.writeUInt8(version)
  signed.write(job, jobAt, 'hex')
  signed.writeUInt8(kinds.indexOf(target.kind), kindAt)
  signed.write(target.id, targetAt, 'hex')
  signed.write(dataset ?? noDataset, datasetAt, 'hex')
  signed.writeUInt32BE(Math.floor(expires.getTime() / 1000), expiresAt)
  stamp.copy(signed, stampAt, 0, stampBytes)
  return prefix + Buffer.concat([signed, macOf(secret, signed)]).toString('base64url')
}

const bytesOf = (shown: string): Buffer | undefined => {
  if (!looksLikeJobKey(shown)) return undefined
  const text = shown.slice(prefix.length)
  const bytes = Buffer.from(text, 'base64url')
  // One key has one spelling.
  return bytes.toString('base64url') === text ? bytes : undefined
}

/** What a key says, whoever signed it. Undefined for what is no key of a job. */
export const claimsIn = (shown: string): JobClaims | undefined => {
  const bytes = bytesOf(shown)
  const kind = bytes && kinds[bytes.readUInt8(kindAt)]
  if (kind === undefined || bytes?.readUInt8() !== version) return undefined
  const id = (at: number): string => bytes.toString('hex', at, at + idBytes)
  const dataset = id(datasetAt)
  return {
    job: id(jobAt),
    target: { kind, id: id(targetAt) },
    dataset: dataset === noDataset ? undefined : dataset,
    expires: new Date(bytes.readUInt32BE(expiresAt) * 1000),
    stamp: bytes.subarray(stampAt, stampAt + stampBytes),
  }
}

/** What a key says that one of these secrets signed; undefined for any other. Takes the same time wherever a wrong signature differs. */
export const readJobKey = (shown: string, secrets: readonly Buffer[]): JobClaims | undefined => {
  const bytes = bytesOf(shown)
  if (!bytes) return undefined
  const [signed, mac] = [bytes.subarray(0, signedBytes), bytes.subarray(signedBytes)]
  const isGenuine = secrets.map(secret => timingSafeEqual(macOf(secret, signed), mac)).includes(true)
  return isGenuine ? claimsIn(shown) : undefined
}
