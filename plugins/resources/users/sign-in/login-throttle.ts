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
import { networkOf, noteIn, removeFound } from 'pounce/sdk/kit'
import { type TriesRecord, tries } from '../collections.ts'
import { config, type Settings } from '../config.ts'
import { sha256 } from '../keys/installation-secret.ts'

const windowMs = 15 * 60_000

/** Each lost race means that another try was counted, so only a storm comes near. */
const maxRaces = 1000

/** Tries in a window that is open. */
interface Counted {
  readonly count: number
  readonly leftMs: number
}

/** The refusal of a throttled attempt, with the milliseconds until the end of the window. */
const tooMany = (leftMs: number): TooMany => new TooMany('Too many attempts; try again later', Math.max(1, Math.ceil(leftMs / 1000)))

/** Counts attempts across kernels. A window begins with its first attempt; at the limit nothing more is written. */
export class LoginAttempts {
  #documents: DocumentStore
  #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  /** Counts a try for a key, of which at most `limit` are free in 15 minutes; `TooMany`, saying how long to wait, beyond that. */
  async take(key: string, limit: number): Promise<void> {
    const id = idOf(key)
    for (let race = 0; race < maxRaces; race += 1) {
      const now = this.#clock.now()
      const isOpen = and(range('until', { gt: now.toISOString() }), range('count', { lt: limit }))
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

  /** Counts a try of which one is free; false when it was another one before. */
  async isFirst(key: string): Promise<boolean> {
    try {
      await this.take(key, 1)
      return true
    } catch (error) {
      if (error instanceof TooMany) return false
      throw error
    }
  }

  /** What is counted for keys at the moment; those without an open window are left out. */
  async look(keys: readonly string[]): Promise<ReadonlyMap<string, Counted>> {
    const now = this.#clock.now().getTime()
    const held = await this.#documents.getMany(tries, keys.map(idOf))
    const open = new Map<string, Counted>()
    for (const key of keys) {
      const found = held.get(idOf(key))
      const leftMs = found ? Date.parse(found.until) - now : 0
      if (found && leftMs > 0) open.set(key, { count: found.count, leftMs })
    }
    return open
  }

  /** Takes all tries back. */
  async forget(key: string): Promise<void> {
    await unlessMoved(this.#documents.commit({ tombstone: idOf(key), in: tries }))
  }

  /** Caches a key for a while. */
  async mark(key: string, forMs: number): Promise<void> {
    const id = idOf(key)
    const now = this.#clock.now().getTime()
    const held = await this.#documents.get(tries, id)
    const mark: TriesRecord = { count: 0, until: new Date(now + forMs).toISOString() }
    await unlessMoved(
      this.#documents.commit(held ? { replace: { ...held, ...mark }, in: tries } : { insert: { id, ...mark }, into: tries }),
    )
  }

  /** Removes windows that are over. */
  async sweep(signal: AbortSignal): Promise<void> {
    const where = range('until', { lte: this.#clock.now().toISOString() })
    await removeFound(this.#documents, tries, { using: 'byEnd', where, guard: ({ revision }) => eq('revision', revision), signal })
  }

  /** True when a window has begun with this try; `TooMany` when one is open and full; false when someone else was faster. */
  async #begins(id: string, now: Date, limit: number): Promise<boolean> {
    const open = await this.#documents.get(tries, id)
    const leftMs = open ? Date.parse(open.until) - now.getTime() : 0
    if (open && leftMs > 0) {
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

/** Keys are e-mail and network addresses, which need not be readable in the store. */
const idOf = (key: string): string => sha256(key)

/** False when someone else has changed the document meanwhile. */
const unlessMoved = async (commit: Promise<TriesRecord & Stored>): Promise<boolean> => {
  try {
    await commit
    return true
  } catch (error) {
    if (!(error instanceof CommitConflict)) throw error
    return false
  }
}

/** Records refused attempts for the audit log, as counts, so that masses of attempts are few lines. */
class SignInFailureAudit {
  #users: Users
  #trails: Contributions<AuditTrail>
  #log: Log

  constructor(users: Users, trails: Contributions<AuditTrail>, log: Log) {
    this.#users = users
    this.#trails = trails
    this.#log = log
  }

  /** For an unknown name only the purpose is recorded: people type passwords in the field of the name. */
  async password(name: string, address: string, door: 'password' | 'second-factor'): Promise<void> {
    await this.#note(async () => (await this.#users.byEmail(name))?.id, door, address)
  }

  /** A wrong key, token or link, which is no one's. */
  async key(address: string): Promise<void> {
    await this.#note(async () => undefined, 'key', address)
  }

  /** A refusal stays one when it cannot be noted. */
  async #note(whose: () => Promise<string | undefined>, door: string, address: string): Promise<void> {
    try {
      const user = await whose()
      await noteIn(this.#trails, { type: 'sign-in.refused', ...(user ? { user } : {}), about: { door }, address, isCounted: true })
    } catch (error) {
      this.#log.warn('failed to record a refused sign-in', { door, error })
    }
  }
}
wire(SignInFailureAudit, Users, AuditTrails, Log)

/**
 * Lets people on one by one, and in groups where too many come: what a group then writes shares the transactions of the store, so that a
 * crowd costs everyone else no more than a few people do. `burst` pass at once, then so many groups a second.
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

  /** Resolves when it is one's turn: for all who wait in the same turn of the event loop. */
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

interface Door {
  readonly key: string
  readonly limit: number
}

/** What a try is part of. */
interface Trial<T> {
  /** The step after the password. */
  readonly isSecondFactor?: boolean
  /** False where more has to be shown before someone is in: then nothing is forgiven yet, and the network is not known for it. */
  readonly isAll?: (found: T) => boolean
}

const dayMs = 86_400_000

/** For so long a network from which someone signed in is let through where strangers to the account are not. */
const knownForMs = 30 * dayMs

/** Throttles attempts with passwords, keys and links. */
export class LoginThrottle implements RateLimiter {
  #limits: Limits
  #tries: LoginAttempts
  #refusals: SignInFailureAudit
  /** Who signs in alone is no crowd. */
  #crowd = new SignInBatcher(20, 4)
  /** Number of passwords in verification on this kernel, by purpose. */
  #running = new Map<string, number>()

  constructor(limits: Limits, tries: LoginAttempts, refusals: SignInFailureAudit) {
    this.#limits = limits
    this.#tries = tries
    this.#refusals = refusals
  }

  /**
   * Counts one attempt of a purpose by the subject in `what`, of which `limit` are free in 15 minutes; `TooMany`, with the time to wait, beyond that.
   * Name the purpose (`sign-up`), and in `what` only values that the sender cannot vary: see `networkOf` and `accountName`.
   */
  take(door: string, what: string, limit: number): Promise<void> {
    return this.#tries.take(`${door} ${what}`, limit)
  }

  async consume(
    door: string,
    { email, address }: Parameters<RateLimiter['consume']>[1],
    limits: Parameters<RateLimiter['consume']>[2],
  ): Promise<void> {
    await this.take(door, networkOf(address), limits.perNetwork)
    if (email !== undefined) await this.take(door, accountName(email), limits.perEmail ?? limits.perNetwork)
  }

  /**
   * Verifies a password: `verify` resolves to undefined for a wrong one, which counts. `TooMany` when throttled; what is being
   * verified is counted beforehand as if it were wrong, so that a thousand at once are no way around. A right password takes the count of
   * its network back. Each network has a count of its own for an account, so no one shuts the owner out from elsewhere. Where too many networks try
   * one account, or one network too many accounts, only owners who have signed in from their network before are let on: theirs is the only count.
   */
  async tryPassword<T>(
    email: string,
    address: string,
    verify: () => Promise<T | undefined>,
    { isSecondFactor = false, isAll = () => true }: Trial<T> = {},
  ): Promise<T | undefined> {
    const { failuresPerAddress, failuresPerAccount, failuresPerAccountAnywhere } = this.#limits
    const [known, pair] = [knownKey(email, address), pairKey(email, address)]
    const ownCount: Door = { key: pair, limit: failuresPerAccount }
    const doors: readonly Door[] = [
      { key: addressKey(address), limit: failuresPerAddress },
      ownCount,
      { key: accountKey(email), limit: failuresPerAccountAnywhere },
      // Six digits are soon guessed from many networks at once, by someone who knows the password.
      ...(isSecondFactor ? [{ key: codeKey(email), limit: failuresPerAccount }] : []),
    ]
    const seen = await this.#tries.look([known, ...doors.map(({ key }) => key)])
    const open = seen.has(known) ? [ownCount] : doors
    for (const { key, limit } of open) this.#requireRoom(limit, seen.get(key), this.#running.get(key) ?? 0)
    for (const { key } of open) this.#running.set(key, (this.#running.get(key) ?? 0) + 1)
    try {
      const found = await verify()
      if (this.#running.size > open.length) await this.#crowd.pass()
      if (found === undefined) {
        for (const { key, limit } of open) await this.#tries.take(key, limit)
        await this.#refusals.password(email, address, isSecondFactor ? 'second-factor' : 'password')
      } else if (isAll(found)) {
        const isFresh = (seen.get(known)?.leftMs ?? 0) > knownForMs / 2
        await Promise.all([seen.has(pair) && this.#tries.forget(pair), isFresh || this.#tries.mark(known, knownForMs)])
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

  /** Counts a wrong key, token or link; `TooMany` instead of the refusal when there were too many from this address. */
  async wrongKey(address: string, shown?: string): Promise<void> {
    if (await this.#countOnce(`keys ${networkOf(address)}`, shown, this.#limits.wrongKeysPerAddress)) await this.#refusals.key(address)
  }

  /** Counts a session that is over. Browsers keep these for months, so their count throttles nothing else. */
  async wrongSession(address: string, shown: string): Promise<void> {
    await this.#countOnce(`sessions ${networkOf(address)}`, shown, this.#limits.failuresPerAddress)
  }

  /** The same text counts once in a window: a program that continues with a key that was revoked guesses nothing. False for one that was counted. */
  async #countOnce(door: string, shown: string | undefined, limit: number): Promise<boolean> {
    if (shown !== undefined) {
      const text = `${door} ${shown}`
      const seen = await this.#tries.look([door, text])
      if (seen.has(text)) return false
      this.#requireRoom(limit, seen.get(door), 0)
      if (!(await this.#tries.isFirst(text))) return false
    }
    await this.#tries.take(door, limit)
    return true
  }
}
wire(LoginThrottle, configPort(config), LoginAttempts, SignInFailureAudit)

const accountKey = (email: string): string => `account ${accountName(email)}`

const codeKey = (email: string): string => `second factor ${accountName(email)}`

const pairKey = (email: string, address: string): string => `account ${accountName(email)} from ${networkOf(address)}`

const knownKey = (email: string, address: string): string => `known ${accountName(email)} from ${networkOf(address)}`

const addressKey = (address: string): string => `address ${networkOf(address)}`

/** One name for all spellings of an e-mail address that some directory might take for the same. */
export const accountName = (email: string): string =>
  email
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\s\p{Mark}\p{Control}\p{Default_Ignorable_Code_Point}]/gu, '')
