import { setTimeout as pause } from 'node:timers/promises'
import {
  type AuditTrail,
  AuditTrails,
  and,
  Clock,
  CommitConflict,
  type Contributions,
  configPort,
  DocumentStore,
  eq,
  Log,
  type RateLimiter,
  range,
  type Stored,
  TooMany,
  Users,
  wire,
} from 'pounce/sdk'
import { durationText, networkOf, recordAuditNote, removeFound } from 'pounce/sdk/kit'
import { type TriesRecord, tries } from '../collections.ts'
import { config, type Settings } from '../config.ts'
import { sha256 } from '../keys/installation-secret.ts'

const windowMs = 15 * 60_000

/** An end further ahead than two windows is from before the clock was set back: such a window is over. */
const maxLeftMs = 2 * windowMs

/** Each lost race means that another attempt was counted, so only extreme contention comes close. */
const maxRaces = 1000

/** Attempts in an open window. */
interface Counted {
  readonly count: number
  readonly leftMs: number
}

/** The refusal of a throttled attempt, with the milliseconds until the end of the window. */
const tooMany = (leftMs: number): TooMany => {
  const seconds = Math.max(1, Math.ceil(leftMs / 1000))
  return new TooMany(`Too many attempts; try again in ${durationText(seconds)}`, seconds)
}

/** Counts attempts across kernels. A window begins with its first attempt; at the limit nothing more is written. */
export class LoginAttempts {
  #documents: DocumentStore
  #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  /**
   * Counts an attempt for a key, of which at most `limit` are allowed in 15 minutes; throws `TooMany` with the time to wait beyond that.
   */
  async take(key: string, limit: number): Promise<void> {
    const id = idOf(key)
    for (let race = 0; race < maxRaces; race += 1) {
      const now = this.#clock.now()
      const latest = new Date(now.getTime() + maxLeftMs)
      const isOpen = and(range('until', { gt: now.toISOString(), lte: latest.toISOString() }), range('count', { lt: limit }))
      try {
        await this.#documents.commit({ update: id, in: tries, where: isOpen, inc: { count: 1 } })
        return
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
        if (await this.#begins(id, now, limit)) return
      }
    }
    throw tooMany(windowMs)
  }

  /** Counts an attempt of which one is allowed; false for any further one. */
  async isFirst(key: string): Promise<boolean> {
    try {
      await this.take(key, 1)
      return true
    } catch (error) {
      if (error instanceof TooMany) return false
      throw error
    }
  }

  /** The current counts of keys; those without an open window are absent. */
  async look(keys: readonly string[]): Promise<ReadonlyMap<string, Counted>> {
    const now = this.#clock.now().getTime()
    const records = await this.#documents.getMany(tries, keys.map(idOf))
    const open = new Map<string, Counted>()
    for (const key of keys) {
      const found = records.get(idOf(key))
      const leftMs = found ? Date.parse(found.until) - now : 0
      // Marks, which last longer, count nothing.
      const isOver = leftMs <= 0 || (found?.count !== 0 && leftMs > maxLeftMs)
      if (found && !isOver) open.set(key, { count: found.count, leftMs })
    }
    return open
  }

  /** Resets the count of a key. */
  async forget(key: string): Promise<void> {
    await unlessMoved(this.#documents.commit({ tombstone: idOf(key), in: tries }))
  }

  /** Marks a key for a limited time. */
  async mark(key: string, forMs: number): Promise<void> {
    const id = idOf(key)
    const now = this.#clock.now().getTime()
    const existing = await this.#documents.get(tries, id)
    const mark: TriesRecord = { count: 0, until: new Date(now + forMs).toISOString() }
    await unlessMoved(
      this.#documents.commit(existing ? { replace: { ...existing, ...mark }, in: tries } : { insert: { id, ...mark }, into: tries }),
    )
  }

  /** Deletes expired windows. */
  async sweep(signal: AbortSignal): Promise<void> {
    const where = range('until', { lte: this.#clock.now().toISOString() })
    await removeFound(this.#documents, tries, { using: 'byEnd', where, guard: ({ revision }) => eq('revision', revision), signal })
  }

  /** True when a window has begun with this attempt; throws `TooMany` when one is open and full; false after a concurrent change. */
  async #begins(id: string, now: Date, limit: number): Promise<boolean> {
    const open = await this.#documents.get(tries, id)
    const leftMs = open ? Date.parse(open.until) - now.getTime() : 0
    if (open && leftMs > 0 && leftMs <= maxLeftMs) {
      if (open.count >= limit) throw tooMany(leftMs)
      return false
    }
    const first: TriesRecord = { count: 1, until: new Date(now.getTime() + windowMs).toISOString() }
    return unlessMoved(
      this.#documents.commit(open ? { replace: { ...open, ...first }, in: tries } : { insert: { id, ...first }, into: tries }),
    )
  }
}
wire(LoginAttempts, DocumentStore, Clock)

/** Keys are email and network addresses, which should not be readable in the store. */
const idOf = (key: string): string => sha256(key)

/** False after a concurrent change of the document. */
const unlessMoved = async (commit: Promise<TriesRecord & Stored>): Promise<boolean> => {
  try {
    await commit
    return true
  } catch (error) {
    if (!(error instanceof CommitConflict)) throw error
    return false
  }
}

/** Records refused attempts in the audit log as counts, so that many attempts are few entries. */
class SignInFailureAudit {
  #users: Users
  #trails: Contributions<AuditTrail>
  #log: Log

  constructor(users: Users, trails: Contributions<AuditTrail>, log: Log) {
    this.#users = users
    this.#trails = trails
    this.#log = log
  }

  /** For an unknown name only the purpose is recorded: users sometimes type passwords into the name field. */
  async password(name: string, address: string, method: 'password' | 'second-factor'): Promise<void> {
    await this.#note(async () => (await this.#users.byEmail(name))?.id, method, address)
  }

  /** A wrong key, token or link, which belongs to no account. */
  async key(address: string): Promise<void> {
    await this.#note(async () => undefined, 'key', address)
  }

  /** Failing to record a refusal does not change it. */
  async #note(whose: () => Promise<string | undefined>, method: string, address: string): Promise<void> {
    try {
      const user = await whose()
      await recordAuditNote(this.#trails, {
        type: 'sign-in.refused',
        ...(user ? { user } : {}),
        about: { door: method },
        address,
        isCounted: true,
      })
    } catch (error) {
      this.#log.warn('Failed to record a refused sign-in', { method, error })
    }
  }
}
wire(SignInFailureAudit, Users, AuditTrails, Log)

/**
 * Admits sign-ins one by one, and in groups when there are too many: the writes of a group share transactions of the store, so that a crowd
 * affects others no more than a few sign-ins do. `burst` are admitted immediately, then the given number of groups per second.
 */
export class SignInBatcher {
  #burst: number
  #perSecond: number
  #left: number
  #countedAt = performance.now()
  #group: Promise<void> | undefined

  constructor(burst: number, perSecond: number) {
    this.#burst = burst
    this.#perSecond = perSecond
    this.#left = burst
  }

  /** Resolves when the caller is admitted, together with all others waiting in the same turn of the event loop. */
  pass(): Promise<void> {
    if (this.#group) return this.#group
    const now = performance.now()
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#countedAt) / 1000) * this.#perSecond)
    this.#countedAt = now
    this.#left -= 1
    if (this.#left >= 0) return Promise.resolve()
    this.#group = pause((-this.#left / this.#perSecond) * 1000).then(() => {
      this.#group = undefined
    })
    return this.#group
  }
}

type Limits = Pick<Settings, 'failuresPerAccount' | 'failuresPerAccountAnywhere' | 'failuresPerAddress' | 'wrongKeysPerAddress'>

/** A counter of failed attempts, and its maximum in 15 minutes. */
interface AttemptLimit {
  readonly key: string
  readonly limit: number
}

/** An attempt and its context. */
interface AttemptContext<T> {
  /** The step after the password. */
  readonly isSecondFactor?: boolean
  /** False if a further step is required to sign in: then counts are not reset yet, and the network is not recorded as known. */
  readonly isAll?: (found: T) => boolean
  /** False if the password may be correct nevertheless, because a provider was unavailable. */
  readonly isComplete?: () => boolean
}

const dayMs = 86_400_000

/** How long a network from which a user signed in stays known to the account, and is admitted while unknown ones are throttled. */
const knownForMs = 30 * dayMs

/** Throttles attempts with passwords, keys and links. */
export class LoginThrottle implements RateLimiter {
  #limits: Limits
  #tries: LoginAttempts
  #refusals: SignInFailureAudit
  /** Admits single sign-ins without delay. */
  #batcher = new SignInBatcher(20, 4)
  /** Number of passwords being verified on this kernel, by purpose. */
  #running = new Map<string, number>()

  constructor(limits: Limits, tries: LoginAttempts, refusals: SignInFailureAudit) {
    this.#limits = limits
    this.#tries = tries
    this.#refusals = refusals
  }

  /**
   * Counts one attempt of a purpose by the subject in `what`, of which `limit` are allowed in 15 minutes; throws `TooMany` with the time to
   * wait beyond that. Name the purpose (`sign-up`), and use only values in `what` that the sender cannot vary: see `networkOf` and
   * `accountName`.
   */
  take(purpose: string, what: string, limit: number): Promise<void> {
    return this.#tries.take(`${purpose} ${what}`, limit)
  }

  async consume(
    purpose: string,
    { email, address }: Parameters<RateLimiter['consume']>[1],
    limits: Parameters<RateLimiter['consume']>[2],
  ): Promise<void> {
    await this.take(purpose, networkOf(address), limits.perNetwork)
    if (email !== undefined) await this.take(purpose, accountName(email), limits.perEmail ?? limits.perNetwork)
  }

  /**
   * Verifies a password: `verify` resolves to undefined for a wrong one, which is counted. Throws `TooMany` when throttled. Verifications
   * in progress are counted in advance as if they were wrong, so that a thousand concurrent ones cannot bypass the limit. A correct
   * password resets the count of its network. Each network has its own count for an account, so that the owner cannot be locked out from
   * elsewhere. When too many networks try one account, or one network too many accounts, only owners who have signed in from their network
   * before are admitted, limited by their own count.
   *
   * Verifications without a provider that was unavailable are counted apart. With these the limit applies to local accounts only: `verify` leaves
   * them out, and unless another provider confirms the password, the response is `TooMany`. So an outage does not lock out its users.
   */
  async tryPassword<T>(
    email: string,
    address: string,
    verify: (withoutLocal: boolean) => Promise<T | undefined>,
    { isSecondFactor = false, isAll = () => true, isComplete = () => true }: AttemptContext<T> = {},
  ): Promise<T | undefined> {
    const { failuresPerAddress, failuresPerAccount, failuresPerAccountAnywhere } = this.#limits
    const [known, pair] = [knownKey(email, address), pairKey(email, address)]
    const ownCount: AttemptLimit = { key: pair, limit: failuresPerAccount }
    const limits: readonly AttemptLimit[] = [
      { key: addressKey(address), limit: failuresPerAddress },
      ownCount,
      { key: accountKey(email), limit: failuresPerAccountAnywhere },
      // Six digits could be guessed from many networks, given the password.
      ...(isSecondFactor ? [{ key: codeKey(email), limit: failuresPerAccount }] : []),
    ]
    const seen = await this.#tries.look([known, ...limits.flatMap(({ key }) => [key, incompleteKey(key)])])
    const open = seen.has(known) ? [ownCount] : limits
    for (const { key, limit } of open) this.#requireRoom(limit, seen.get(key), this.#running.get(key) ?? 0)
    const countOf = (key: string): number => seen.get(key)?.count ?? 0
    const full = open.find(({ key, limit }) => countOf(key) + countOf(incompleteKey(key)) + (this.#running.get(key) ?? 0) >= limit)
    for (const { key } of open) this.#running.set(key, (this.#running.get(key) ?? 0) + 1)
    try {
      const found = await verify(full !== undefined)
      if (this.#running.size > open.length) await this.#batcher.pass()
      if (found === undefined) {
        for (const { key, limit } of open) await this.#tries.take(isComplete() ? key : incompleteKey(key), limit)
        await this.#refusals.password(email, address, isSecondFactor ? 'second-factor' : 'password')
        if (full) throw tooMany(seen.get(incompleteKey(full.key))?.leftMs ?? windowMs)
      } else if (isAll(found)) {
        const isFresh = (seen.get(known)?.leftMs ?? 0) > knownForMs / 2
        const counts = [pair, incompleteKey(pair)].filter(key => seen.has(key))
        await Promise.all([...counts.map(key => this.#tries.forget(key)), isFresh || this.#tries.mark(known, knownForMs)])
      }
      return found
    } finally {
      for (const { key } of open) this.#leave(key)
    }
  }

  #requireRoom(limit: number, counted: Counted | undefined, running: number): void {
    const count = counted?.count ?? 0
    if (counted && count >= limit) throw tooMany(counted.leftMs)
    if (count + running >= limit) throw tooMany(1000)
  }

  #leave(key: string): void {
    const left = (this.#running.get(key) ?? 1) - 1
    if (left > 0) this.#running.set(key, left)
    else this.#running.delete(key)
  }

  /** Counts a wrong key, token or link; throws `TooMany` in place of the refusal when there were too many from this address. */
  async wrongKey(address: string, shown?: string): Promise<void> {
    if (await this.#countOnce(`keys ${networkOf(address)}`, shown, this.#limits.wrongKeysPerAddress)) await this.#refusals.key(address)
  }

  /** Counts an expired session. Browsers send these for months, so their count throttles nothing else. */
  async wrongSession(address: string, shown: string): Promise<void> {
    await this.#countOnce(`sessions ${networkOf(address)}`, shown, this.#limits.failuresPerAddress)
  }

  /**
   * The same text counts once per window: a program that keeps sending a revoked key is not guessing. False for one that was counted
   * already.
   */
  async #countOnce(attemptLimit: string, shown: string | undefined, limit: number): Promise<boolean> {
    if (shown !== undefined) {
      const text = `${attemptLimit} ${shown}`
      const seen = await this.#tries.look([attemptLimit, text])
      if (seen.has(text)) return false
      this.#requireRoom(limit, seen.get(attemptLimit), 0)
      if (!(await this.#tries.isFirst(text))) return false
    }
    await this.#tries.take(attemptLimit, limit)
    return true
  }
}
wire(LoginThrottle, configPort(config), LoginAttempts, SignInFailureAudit)

const accountKey = (email: string): string => `account ${accountName(email)}`

const codeKey = (email: string): string => `second factor ${accountName(email)}`

const pairKey = (email: string, address: string): string => `account ${accountName(email)} from ${networkOf(address)}`

const knownKey = (email: string, address: string): string => `known ${accountName(email)} from ${networkOf(address)}`

const addressKey = (address: string): string => `address ${networkOf(address)}`

const incompleteKey = (key: string): string => `${key} while a provider was unavailable`

/** One name for all spellings of an email address that a directory might treat as equal. */
export const accountName = (email: string): string =>
  email
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\s\p{Mark}\p{Control}\p{Default_Ignorable_Code_Point}]/gu, '')
