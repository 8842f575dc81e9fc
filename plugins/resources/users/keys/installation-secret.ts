import { randomBytes } from 'node:crypto'
import { Clock, CommitConflict, configPort, DocumentStore, eq, Invalid, type Stored, wire } from 'pounce/sdk'
import { type SettingRecord, settings } from '../collections.ts'
import { config, type Settings } from '../config.ts'

const id = 'secret'
const hourMs = 3_600_000
/** A kernel learns within this time that another one has replaced the secret. */
const keptMs = 1000
const maxPrevious = 10

/** The secrets of an installation: the first signs and seals, all of them verify and open. */
export type Secrets = readonly [current: string, ...previous: string[]]

/**
 * Random text that all kernels of an installation share: configured, or made once and kept with the records. After a rotation what the secret before it has
 * signed or sealed stays valid for an overlap.
 */
export class InstallationSecret {
  #configured: Secrets | undefined
  #overlapMs: number
  #documents: DocumentStore
  #clock: Clock
  #kept: { readonly record: SettingRecord; readonly untilMs: number } | undefined

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

  /** For what is signed: those before count until their overlap ends. */
  async signing(): Promise<Secrets> {
    if (this.#configured) return this.#configured
    const { value, previous = [] } = await this.#current()
    const now = this.#clock.now().toISOString()
    return [value, ...previous.filter(({ until }) => until > now).map(one => one.value)]
  }

  /** For what is encrypted at rest, which has to be opened however long ago it was sealed: all that were not given up for lost. */
  async sealing(): Promise<Secrets> {
    if (this.#configured) return this.#configured
    const { value, previous = [] } = await this.#current()
    return [value, ...previous.map(one => one.value)]
  }

  async #current(): Promise<SettingRecord> {
    const now = this.#clock.now().getTime()
    if (this.#kept === undefined || this.#kept.untilMs <= now || this.#kept.untilMs > now + keptMs)
      this.#kept = { record: await this.#stored(), untilMs: now + keptMs }
    return this.#kept.record
  }

  /**
   * Makes a new secret. What the present one has signed stays valid for `overlapHours` (default: the setting), what it has sealed can be opened for good; with 0
   * it has leaked, and neither holds any more. `Invalid` where the configuration sets the secret: it is replaced there.
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
    this.#kept = undefined
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
