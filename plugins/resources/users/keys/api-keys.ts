import {
  and,
  Clock,
  CommitConflict,
  configPort,
  DocumentStore,
  eq,
  event,
  Invalid,
  Log,
  range,
  type Stored,
  type StoredEvent,
  Taken,
  type Time,
  wire,
} from 'pounce/sdk'
import { KeyedMutex, removeFound } from 'pounce/sdk/kit'
import { type KeyRecord, keys } from '../collections.ts'
import { config, type Settings } from '../config.ts'
import { idOfHash, isSameDigest, newKey, sha256 } from './installation-secret.ts'
import type { KeyReach } from './key-reach.ts'

type Key = KeyRecord & Stored

const maxKeys = 1000

const touchEveryMs = 60_000

const dayMs = 86_400_000

const expiredForMs = 30 * dayMs

/** API keys. A key is returned once, when it is created; only its hash is stored. */
export class ApiKeys {
  #maxKeyMs: number
  #documents: DocumentStore
  #clock: Clock
  #log: Log
  /** By user: concurrent requests must not exceed `maxKeys` together. */
  readonly #creations = new KeyedMutex()

  constructor({ maxKeyDays }: Pick<Settings, 'maxKeyDays'>, documents: DocumentStore, clock: Clock, log: Log) {
    this.#maxKeyMs = maxKeyDays === 0 ? Number.POSITIVE_INFINITY : maxKeyDays * dayMs
    this.#documents = documents
    this.#clock = clock
    this.#log = log
  }

  /** Creates a key; throws `Invalid` when the user has one with this name, and for the name that Clowder v1 gave to its own keys. */
  async create(user: string, name: string, reach: KeyReach, actor?: string): Promise<{ readonly key: string; readonly id: string }> {
    if (!/^[^\u0000-\u001f\u007f]{1,200}$/u.test(name)) throw new Invalid('name must be 1 to 200 characters')
    // Clients normalize URLs that end in dots: the key could not be revoked by its name.
    if (['.', '..', '_extraction_key'].includes(name)) throw new Invalid(`A key cannot be named ${name}`)
    return this.#creations.use(user, () => this.#create(user, name, reach, actor))
  }

  async #create(user: string, name: string, reach: KeyReach, actor?: string): Promise<{ readonly key: string; readonly id: string }> {
    if ((await this.of(user)).length >= maxKeys) throw new Invalid(`Maximum of ${maxKeys} keys per user reached`)
    const now = this.#clock.now()
    if (reach.expires !== undefined && reach.expires <= now.toISOString()) throw new Invalid('expires must be in the future')
    const latest = this.#latestEnd(now.toISOString())
    if (reach.expires !== undefined && latest !== undefined && reach.expires > latest)
      throw new Invalid(`expires must be ${latest} or earlier: the maximum lifetime of a key is ${this.#maxKeyMs / dayMs} days`)
    const key = newKey()
    const expires = reach.expires ?? latest
    const { id } = await this.#insert({ user, name, ...reach, ...(expires === undefined ? {} : { expires }) }, key, actor)
    return { key, id }
  }

  /** A user's keys, by name. */
  async of(user: string): Promise<readonly Key[]> {
    const page = await this.#documents.find(keys, {
      using: 'byUser',
      where: eq('user', user),
      sort: { by: 'name', order: 'ascending' },
      limit: 1000,
    })
    return page.items.map(key => this.#withEnd(key))
  }

  async named(user: string, name: string): Promise<Key | undefined> {
    const page = await this.#documents.find(keys, { using: 'byUser', where: and(eq('user', user), eq('name', name)), limit: 1 })
    const [key] = page.items
    return key && this.#withEnd(key)
  }

  /** The key is refused once this resolves. False when there was none. */
  async revoke(user: string, name: string, actor?: string): Promise<boolean> {
    const key = await this.named(user, name)
    return key !== undefined && this.#remove(key, actor)
  }

  /** All keys that the user had created by `madeBy` are refused once this resolves. */
  async revokeAll(user: string, madeBy: Time, actor?: string): Promise<void> {
    for await (const key of this.#documents.scan(keys, { using: 'byUser', where: eq('user', user) }))
      if (key.created <= madeBy) await this.#remove(key, actor)
  }

  /** The record of a presented key; undefined when it is unknown. */
  async find(shown: string): Promise<Key | undefined> {
    const hash = sha256(shown)
    const key = await this.#documents.get(keys, idOfHash(hash))
    return key && isSameDigest(key.hash, hash) && key.generation == null ? this.#withEnd(key) : undefined
  }

  /** A key of this account by its record's id, unless it was revoked or has expired. */
  async live(id: string, user: string): Promise<Key | undefined> {
    const key = await this.#documents.get(keys, id)
    return key?.user === user && !this.hasExpired(key) ? key : undefined
  }

  /** Records the use of a key, at most once a minute. A failure to record it does not fail the request. */
  async touch(key: Key): Promise<void> {
    const now = this.#clock.now()
    if (key.lastUsed !== null && now.getTime() - Date.parse(key.lastUsed) < touchEveryMs) return
    try {
      const where = eq('lastUsed', key.lastUsed)
      await this.#documents.commit({ update: key.id, in: keys, where, set: { lastUsed: now.toISOString() } })
    } catch (error) {
      if (!(error instanceof CommitConflict)) this.#log.warn('Failed to record the use of a key', { keyId: key.id, error })
    }
  }

  /** The latest possible expiry of a key created at a time; undefined without a maximum lifetime. */
  #latestEnd(created: Time): Time | undefined {
    return Number.isFinite(this.#maxKeyMs) ? new Date(Date.parse(created) + this.#maxKeyMs).toISOString() : undefined
  }

  /** The maximum lifetime also applies to keys created before it was set. */
  #withEnd(key: Key): Key {
    const latest = this.#latestEnd(key.created)
    return latest === undefined || (key.expires !== undefined && key.expires <= latest) ? key : { ...key, expires: latest }
  }

  /** True once a key is refused because of its age alone. */
  hasExpired({ expires }: KeyRecord): boolean {
    return expires !== undefined && expires <= this.#clock.now().toISOString()
  }

  /** Deletes keys that expired so long ago that their owners no longer need to see why they are refused. */
  async sweep(signal: AbortSignal): Promise<void> {
    const before = new Date(this.#clock.now().getTime() - expiredForMs).toISOString()
    await removeFound(this.#documents, keys, {
      using: 'byExpiry',
      where: range('expires', { lte: before }),
      events: ({ id, user, name }) => [event('key.revoked', { kind: 'key', id }, { user, name, isExpired: true })],
      signal,
    })
  }

  async #insert(about: Pick<KeyRecord, 'user' | 'name'> & KeyReach, key: string, actor: string | undefined): Promise<Key> {
    const hash = sha256(key)
    const id = idOfHash(hash)
    const created = this.#clock.now().toISOString()
    const record: KeyRecord = { ...about, hash, prefix: key.slice(0, 8), created, lastUsed: null }
    try {
      return await this.#documents.commit({ insert: { id, ...record }, into: keys }, [
        event('key.created', { kind: 'key', id }, about, actor),
      ])
    } catch (error) {
      if (error instanceof Taken) throw new Invalid(`Key with name ${about.name} already exists`, { cause: error })
      throw error
    }
  }

  async #remove(key: Key, actor: string | undefined): Promise<boolean> {
    try {
      const revoked = event('key.revoked', { kind: 'key', id: key.id }, { user: key.user, name: key.name }, actor)
      await this.#documents.commit({ tombstone: key.id, in: keys }, [revoked])
      return true
    } catch (error) {
      if (error instanceof CommitConflict && error.reason === 'absent') return false
      throw error
    }
  }
}
wire(ApiKeys, configPort(config), DocumentStore, Clock, Log)

/** With a password change, users can revoke all keys of the account that exist at that time. */
export class RevokeKeysOnUserUpdated {
  #keys: ApiKeys

  constructor(keys: ApiKeys) {
    this.#keys = keys
  }

  async handle({ subject, actor, at, data: { fields } }: StoredEvent<'user.updated'>): Promise<void> {
    if (fields.includes('keys')) await this.#keys.revokeAll(subject.id, at, actor)
  }
}
wire(RevokeKeysOnUserUpdated, ApiKeys)
