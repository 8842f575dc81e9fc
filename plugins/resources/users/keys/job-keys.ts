import { createHmac, timingSafeEqual } from 'node:crypto'
import {
  Clock,
  type Contributions,
  configPort,
  JobRecords,
  type Keys,
  NotFound,
  type Stored,
  s,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import type { CallerJob, Job, JobDetails } from 'pounce/sdk/kit'
import { config, type Settings } from '../config.ts'
import { InstallationSecret, isSameDigest } from './installation-secret.ts'

/** The signed contents of a job's key. */
export interface JobClaims {
  readonly job: string
  readonly target: { readonly kind: 'file' | 'dataset'; readonly id: string }
  /** For a job on a file: the dataset it was submitted for. */
  readonly dataset: string | undefined
  /** In whole seconds. */
  readonly expires: Date
  /** Matches the account at the time of creation. */
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

/** 82 bytes in base64url, which needs no escaping in URLs and headers. */
const keyLength = prefix.length + Math.ceil(((signedBytes + macBytes) * 4) / 3)

const noDataset = '0'.repeat(2 * idBytes)

const macOf = (secret: Buffer, signed: Buffer): Buffer => createHmac('sha256', secret).update(signed).digest()

/** True for a text in the format of a job's key, genuine or not. */
export const looksLikeJobKey = (shown: string): boolean => shown.length === keyLength && shown.startsWith(prefix)

/** Creates a key. Ids are 24 hex digits. */
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
  // Each key has exactly one spelling.
  return bytes.toString('base64url') === text ? bytes : undefined
}

/** The contents of a key, regardless of its signature. Undefined for a text that is not a job's key. */
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

/** The contents of a key that one of these secrets signed; undefined for any other. Takes constant time for wrong signatures. */
export const readJobKey = (shown: string, secrets: readonly Buffer[]): JobClaims | undefined => {
  const bytes = bytesOf(shown)
  if (!bytes) return undefined
  const [signed, mac] = [bytes.subarray(0, signedBytes), bytes.subarray(signedBytes)]
  const isGenuine = secrets.map(secret => timingSafeEqual(macOf(secret, signed), mac)).includes(true)
  return isGenuine ? claimsIn(shown) : undefined
}

type User = UserRecord & Stored

/** The account and job of a key, or why it is refused. `forged`: not signed by this server. */
export type VerifiedJobKey =
  | { readonly job: CallerJob; readonly user: User | null }
  | { readonly refused: string; readonly isForged?: true }

const hourMs = 3_600_000

const minuteMs = 60_000

const isTargetKind = (kind: string): kind is 'file' | 'dataset' => kind === 'file' || kind === 'dataset'

/** Keys of jobs: signed, not stored. The validity of each is decided by one read of the job and one of the account. */
export class JobKeys implements Keys {
  #settings: Settings
  #users: Users
  #secret: InstallationSecret
  #records: Contributions<JobRecords>
  #clock: Clock

  constructor(settings: Settings, users: Users, secret: InstallationSecret, records: Contributions<JobRecords>, clock: Clock) {
    this.#settings = settings
    this.#users = users
    this.#secret = secret
    this.#records = records
    this.#clock = clock
  }

  async jobKey({ id: job, target, user: owner, message }: Pick<Job, 'id' | 'target' | 'user' | 'message'>): Promise<string | undefined> {
    const { kind, id } = target
    if (!isTargetKind(kind)) throw new NotFound(kind)
    const [secret] = await this.#secrets()
    const user = owner === null ? null : await this.#users.get(owner)
    if (user === undefined) throw new NotFound('user')
    const [stamp] = this.#stampsOf(user, secret)
    if (stamp === undefined) return undefined
    const named = message['datasetId']
    const dataset = kind === 'file' && typeof named === 'string' && s.isId(named) ? named : undefined
    const expires = new Date(this.#clock.now().getTime() + this.#settings.jobKeyMaxHours * hourMs)
    return writeJobKey({ job, target: { kind, id }, dataset, expires, stamp }, secret)
  }

  isOutdated(key: string): boolean {
    const claims = claimsIn(key)
    return claims === undefined || claims.expires <= this.#clock.now()
  }

  /** True for a key that `verify` can check. */
  isOne(shown: string): boolean {
    return looksLikeJobKey(shown)
  }

  /** The current meaning of a key. */
  async verify(shown: string): Promise<VerifiedJobKey> {
    const secrets = await this.#secrets()
    const claims = readJobKey(shown, secrets)
    if (!claims) return { refused: 'The API key is not valid', isForged: true }
    if (claims.expires <= this.#clock.now()) return { refused: 'The key of the job has expired' }
    const details = await this.#detailsOf(claims)
    if (!details) return { refused: 'The job of this key no longer exists' }
    const refused = this.#refusalOf(details)
    if (refused !== undefined) return { refused }
    const user = details.user === null ? null : await this.#users.get(details.user)
    if (user === undefined || !secrets.some(secret => this.#isStampOf(user, secret, claims.stamp)))
      return { refused: 'The credentials of the account have changed since the job was sent: submit it again' }
    const { job: id, target, dataset } = claims
    const expires = details.keysUntil && details.keysUntil < claims.expires ? details.keysUntil : claims.expires
    return { job: { id, target, extractor: details.extractor, expires, ...(dataset === undefined ? {} : { dataset }) }, user }
  }

  async #detailsOf({ job, target }: JobClaims): Promise<JobDetails | undefined> {
    for (const records of this.#records.all()) {
      const details = await records.details(job)
      if (details && details.target.kind === target.kind && details.target.id === target.id) return details
    }
    return undefined
  }

  /** Extractors upload first and then send `DONE`, but statuses are sent separately and may arrive before the last upload. */
  #refusalOf({ state, endedAt, keysUntil }: JobDetails): string | undefined {
    const now = this.#clock.now().getTime()
    if (state === 'cancelled') return 'The job of this key was cancelled'
    if (keysUntil !== undefined && keysUntil.getTime() <= now) return 'The key of the job has expired'
    const graceMs = this.#settings.jobKeyGraceMinutes * minuteMs
    if (state === 'ended' && now - (endedAt?.getTime() ?? 0) >= graceMs) return 'The job of this key has ended'
    return undefined
  }

  /** The secrets that sign and verify, the signing one first. */
  async #secrets(): Promise<readonly [Buffer, ...Buffer[]]> {
    const [current, ...previous] = await this.#secret.signing()
    return [signingKey(current), ...previous.map(signingKey)]
  }

  /**
   * Changes with the password, when all sessions are ended, or, without an account, when the service key is no longer accepted. The first
   * is used for new keys.
   */
  #stampsOf(user: User | null, secret: Buffer): readonly Buffer[] {
    const { commKey, previousCommKeys } = this.#settings
    const parts =
      user === null
        ? (commKey === undefined ? [] : [commKey, ...previousCommKeys]).map(key => ['service', key])
        : [['user', user.id, user.passwordHash, user.signedOutAt]]
    return parts.map(each => createHmac('sha256', secret).update(JSON.stringify(each)).digest().subarray(0, stampBytes))
  }

  #isStampOf(user: User | null, secret: Buffer, stamp: Buffer): boolean {
    return this.#stampsOf(user, secret).some(expected => isSameDigest(expected.toString('hex'), stamp.toString('hex')))
  }
}

const signingKey = (secret: string): Buffer => createHmac('sha256', secret).update('keys of jobs').digest()

wire(JobKeys, configPort(config), Users, InstallationSecret, JobRecords, Clock)
