import { createHmac } from 'node:crypto'
import {
  and,
  Clock,
  CommitConflict,
  configPort,
  DocumentStore,
  eq,
  event,
  Ids,
  Invalid,
  type Keys,
  Log,
  NotFound,
  port,
  range,
  removeFound,
  type Stored,
  Taken,
  type Time,
  Users,
  wire,
} from 'pounce/sdk'
import { type KeyRecord, keys } from '../collections.ts'
import { config, type Settings } from '../config.ts'
import { type InstallationSecret, Secret } from './installation-secret.ts'
import type { Reach } from './key-reach.ts'
import { idOfHash, inKeyForm, isSameDigest, newKey, sha256 } from './secrets.ts'

type Key = KeyRecord & Stored
const extractionKeyName = '_extraction_key'
const maxKeys = 1000
const touchEveryMs = 60_000
const expiredForMs = 30 * 86_400_000

/** API keys. A key is shown once, when it is made; afterwards only its hash is known. */
export class Keyring implements Keys {
  #commKey: string | undefined
  #documents: DocumentStore
  #users: Users
  #secret: InstallationSecret
  #ids: Ids
  #clock: Clock
  #log: Log

  constructor({ commKey }: Settings, documents: DocumentStore, users: Users, secret: InstallationSecret, ids: Ids, clock: Clock, log: Log) {
    this.#commKey = commKey
    this.#documents = documents
    this.#users = users
    this.#secret = secret
    this.#ids = ids
    this.#clock = clock
    this.#log = log
  }

  /** Makes a key; `Invalid` when the user has one of this name. Names that begin with `_` are the system's. */
  async create(user: string, name: string, reach: Reach, actor?: string): Promise<{ readonly key: string; readonly id: string }> {
    if (!/^[^_\u0000-\u001f\u007f][^\u0000-\u001f\u007f]{0,199}$/u.test(name))
      throw new Invalid('name must be 1 to 200 characters, the first of them not an underscore')
    if ((await this.of(user)).length >= maxKeys) throw new Invalid(`Nobody can have more than ${maxKeys} keys`)
    if (reach.expires !== undefined && reach.expires <= this.#clock.now().toISOString()) throw new Invalid('expires must be in the future')
    const key = newKey()
    const { id } = await this.#insert({ user, name, generation: null, ...reach }, key, actor)
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
    return page.items
  }

  async named(user: string, name: string): Promise<Key | undefined> {
    const page = await this.#documents.find(keys, { using: 'byUser', where: and(eq('user', user), eq('name', name)), limit: 1 })
    return page.items[0]
  }

  /** From now on the key is refused. False when there was none. */
  async revoke(user: string, name: string, actor?: string): Promise<boolean> {
    const key = await this.named(user, name)
    return key !== undefined && this.#remove(key, actor)
  }

  /** From now on all keys are refused that a user had made by then. */
  async revokeAll(user: string, madeBy: Time, actor?: string): Promise<void> {
    for (const key of await this.of(user)) if (key.created <= madeBy) await this.#remove(key, actor)
  }

  /** The record of a key that somebody showed; undefined when it is not one of ours. */
  async find(shown: string): Promise<Key | undefined> {
    const hash = sha256(shown)
    const key = await this.#documents.get(keys, idOfHash(hash))
    return key && isSameDigest(key.hash, hash) ? key : undefined
  }

  /** Notes that a key was used, once a minute at most. A note that fails is no reason to refuse the request. */
  async touch(key: Key): Promise<void> {
    const now = this.#clock.now()
    if (key.lastUsed !== null && now.getTime() - Date.parse(key.lastUsed) < touchEveryMs) return
    try {
      const where = eq('lastUsed', key.lastUsed)
      await this.#documents.commit({ update: key.id, in: keys, where, set: { lastUsed: now.toISOString() } })
    } catch (error) {
      if (!(error instanceof CommitConflict)) this.#log.warn('the use of a key was not noted', { keyId: key.id, error })
    }
  }

  /** True once a key is refused for its age alone. */
  hasExpired({ expires }: KeyRecord): boolean {
    return expires !== undefined && expires <= this.#clock.now().toISOString()
  }

  /** Removes keys that expired so long ago that nobody wonders any more why they are refused. */
  async sweep(signal: AbortSignal): Promise<void> {
    const before = new Date(this.#clock.now().getTime() - expiredForMs).toISOString()
    await removeFound(this.#documents, keys, {
      using: 'byExpiry',
      where: range('expires', { lte: before }),
      events: ({ id, user, name }) => [event('key.revoked', { kind: 'key', id }, { user, name, isExpired: true })],
      signal,
    })
  }

  async extractionKeyOf(user: string): Promise<string> {
    const held = await this.named(user, extractionKeyName)
    if (held) {
      const key = await this.#derive(user, held.generation ?? '')
      if (isSameDigest(sha256(key), held.hash)) return key
      // The configured secret is another one than when this key was made: nobody can be told the old key any more.
      await this.#remove(held, undefined)
    }
    if (!(await this.#users.get(user))) throw new NotFound('user')
    const generation = this.#ids.next()
    const key = await this.#derive(user, generation)
    try {
      await this.#insert({ user, name: extractionKeyName, scope: 'extraction', generation }, key, undefined)
      return key
    } catch (error) {
      if (error instanceof Invalid) return this.extractionKeyOf(user)
      throw error
    }
  }

  serviceKey(): string | undefined {
    return this.#commKey
  }

  async #derive(user: string, generation: string): Promise<string> {
    return inKeyForm(
      createHmac('sha256', await this.#secret.value())
        .update(`extraction key\n${user}\n${generation}`)
        .digest(),
    )
  }

  async #insert(about: Pick<KeyRecord, 'user' | 'name' | 'generation'> & Reach, key: string, actor: string | undefined): Promise<Key> {
    const hash = sha256(key)
    const id = idOfHash(hash)
    const created = this.#clock.now().toISOString()
    const record: KeyRecord = { ...about, hash, prefix: key.slice(0, 8), created, lastUsed: null }
    const { generation: _unsaid, ...said } = about
    try {
      return await this.#documents.commit({ insert: { id, ...record }, into: keys }, [
        event('key.created', { kind: 'key', id }, said, actor),
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
wire(Keyring, configPort(config), DocumentStore, Users, Secret, Ids, Clock, Log)

/** Inside this plugin: the keys. */
export const KeyStore = port<Keyring>('users.keys')
