import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  Clock,
  type Command,
  CommitConflict,
  configPort,
  DocumentStore,
  eq,
  Invalid,
  type SecretEncryption,
  type Stored,
  wire,
} from 'pounce/sdk'
import { type SettingRecord, settings } from '../collections.ts'
import { config, type Settings } from '../config.ts'

const id = 'secret'

const hourMs = 3_600_000

/** A kernel reads within this time that another one has replaced the secret. */
const keptMs = 1000

const maxPrevious = 10

/** The secrets of an installation: the first signs and encrypts, all of them verify and decrypt. */
export type Secrets = readonly [current: string, ...previous: string[]]

/**
 * Random text that all kernels of an installation share: configured, or generated once and stored with the records. After a rotation, data
 * that the previous secret signed or encrypted stays valid for an overlap.
 */
export class InstallationSecret {
  #configured: Secrets | undefined
  #overlapMs: number
  #documents: DocumentStore
  #clock: Clock
  #cached: { readonly record: SettingRecord; readonly untilMs: number } | undefined

  constructor(
    { secret, previousSecrets, secretOverlapHours }: Pick<Settings, 'secret' | 'previousSecrets' | 'secretOverlapHours'>,
    documents: DocumentStore,
    clock: Clock,
  ) {
    this.#configured = secret === undefined ? undefined : [secret, ...previousSecrets]
    this.#overlapMs = secretOverlapHours * hourMs
    this.#documents = documents
    this.#clock = clock
  }

  /** For signatures: previous secrets are valid until their overlap ends. */
  async signing(): Promise<Secrets> {
    if (this.#configured) return this.#configured
    const { value, previous = [] } = await this.#current()
    const now = this.#clock.now().toISOString()
    return [value, ...previous.filter(({ until }) => until > now).map(one => one.value)]
  }

  /** For encryption at rest, where data of any age must be decrypted: all secrets that were not given up as leaked. */
  async sealing(): Promise<Secrets> {
    if (this.#configured) return this.#configured
    const { value, previous = [] } = await this.#current()
    return [value, ...previous.map(one => one.value)]
  }

  async #current(): Promise<SettingRecord> {
    const now = this.#clock.now().getTime()
    if (this.#cached === undefined || this.#cached.untilMs <= now || this.#cached.untilMs > now + keptMs)
      this.#cached = { record: await this.#stored(), untilMs: now + keptMs }
    return this.#cached.record
  }

  /**
   * Generates a new secret. Signatures of the current one stay valid for `overlapHours` (default: the setting), and data encrypted with it
   * can be decrypted indefinitely; 0 means that it has leaked, and neither is accepted any more. Throws `Invalid` if the configuration sets
   * the secret, which has to be replaced there.
   */
  async rotate(overlapHours?: number): Promise<{ readonly validUntil: Date }> {
    if (this.#configured)
      throw new Invalid(
        'The secret is set by resources.users.secret: move it to resources.users.previousSecrets, set a new one, and restart all kernels',
      )
    const record = await this.#stored()
    const now = this.#clock.now()
    const until = new Date(now.getTime() + (overlapHours === undefined ? this.#overlapMs : overlapHours * hourMs))
    const previous = [{ value: record.value, until: until.toISOString() }, ...(record.previous ?? [])].slice(0, maxPrevious)
    await this.#documents.commit({
      update: id,
      in: settings,
      where: eq('revision', record.revision),
      set: { value: newSecret(), previous: overlapHours === 0 ? [] : previous },
    })
    this.#cached = undefined
    return { validUntil: until }
  }

  async #stored(): Promise<SettingRecord & Stored> {
    const known = await this.#documents.get(settings, id)
    if (known) return known
    try {
      return await this.#documents.commit({ insert: { id, value: newSecret() }, into: settings })
    } catch (error) {
      if (error instanceof CommitConflict && error.reason === 'exists') return this.#stored()
      throw error
    }
  }
}
wire(InstallationSecret, configPort(config), DocumentStore, Clock)

const newSecret = (): string => randomBytes(32).toString('base64url')

/** `pounce secret rotate`. */
export class RotateSecret implements Command {
  readonly name = 'secret rotate'
  readonly summary =
    'Replace the secret that signs job keys and sign-in cookies and encrypts TOTP secrets; running servers use it within a second'
  readonly options = [
    {
      name: 'overlap-hours',
      summary:
        'Hours for which the current secret stays valid (default: resources.users.secretOverlapHours); use 0 after a leak: running jobs lose their keys, and TOTP must be enrolled again',
      takesValue: true,
    },
  ]
  #secret: InstallationSecret

  constructor(secret: InstallationSecret) {
    this.#secret = secret
  }

  async run({ options }: Parameters<Command['run']>[0]) {
    const text = options['overlap-hours']?.toString()
    const hours = text === undefined ? undefined : Number(text)
    // An empty text would be converted to 0, which invalidates what the current secret has encrypted.
    if (hours !== undefined && !(/^\d+$/.test(`${text}`) && hours <= 8760))
      throw new Invalid('overlap-hours must be a whole number of hours from 0 to 8760')
    const { validUntil } = await this.#secret.rotate(hours)
    return { rotated: true, previousValidUntil: validUntil.toISOString() }
  }
}
wire(RotateSecret, InstallationSecret)

const [ivBytes, tagBytes] = [12, 16]

/** AES-256-GCM, with a key for each purpose. */
export class InstallationSecretEncryption implements SecretEncryption {
  readonly #secret: InstallationSecret

  constructor(secret: InstallationSecret) {
    this.#secret = secret
  }

  async seal(purpose: string, context: string, text: string): Promise<string> {
    const iv = randomBytes(ivBytes)
    const [secret] = await this.#secret.sealing()
    const cipher = createCipheriv('aes-256-gcm', keyOf(secret, purpose), iv).setAAD(Buffer.from(context))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([iv, sealed, cipher.getAuthTag()]).toString('base64url')
  }

  async open(purpose: string, context: string, sealed: string): Promise<string | undefined> {
    const bytes = Buffer.from(sealed, 'base64url')
    if (bytes.length <= ivBytes + tagBytes) return undefined
    for (const secret of await this.#secret.sealing()) {
      const text = openWith(keyOf(secret, purpose), context, bytes)
      if (text !== undefined) return text
    }
    return undefined
  }
}
wire(InstallationSecretEncryption, InstallationSecret)

const keyOf = (secret: string, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', `sealed: ${purpose}`, 32))

const openWith = (key: Buffer, context: string, bytes: Buffer): string | undefined => {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes))
  const text = decipher.update(bytes.subarray(ivBytes, -tagBytes))
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch (error) {
    // Node has no error class of its own for a tag mismatch.
    if (error instanceof Error) return undefined
    throw error
  }
}

/** Hex SHA-256, as stored for keys and session tokens. They are random, so no salt is needed. */
export const sha256 = (text: string): string => hash('sha256', text)

/** The id of the record of a key or session: the beginning of its hash, so that it is found with one read. */
export const idOfHash = (hash: string): string => hash.slice(0, 24)

/** Compares two digests of equal length in constant time. */
export const isSameDigest = (one: string, other: string): boolean => {
  const a = Buffer.from(one)
  const b = Buffer.from(other)
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Sixteen bytes in the format of a UUID, which v1's clients expect of a key. All 128 bits are random. */
const inKeyForm = (bytes: Buffer): string => bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** A new API key: 128 random bits. */
export const newKey = (): string => inKeyForm(randomBytes(16))

/** A new session or setup token: 256 random bits. */
export const newToken = (): string => randomBytes(32).toString('base64url')
