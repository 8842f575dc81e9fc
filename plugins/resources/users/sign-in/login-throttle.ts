import { configPort, type Knocks, networkOf, wire } from 'pounce/sdk'
import { config, type Settings } from '../config.ts'
import { type Counted, LoginAttempts, tooMany } from './login-attempts.ts'
import { SignInBatcher } from './sign-in-batcher.ts'
import { SignInFailureAudit } from './sign-in-failure-audit.ts'

type Limits = Pick<Settings, 'failuresPerAccount' | 'failuresPerAccountAnywhere' | 'failuresPerAddress' | 'wrongKeysPerAddress'>
interface Door {
  readonly key: string
  readonly limit: number
}
/** What a try is part of. */
interface Trial<T> {
  /** The step after the password. */
  readonly isSecondFactor?: boolean
  /** False where more has to be shown before somebody is in: then nothing is forgiven yet, and the network is not known for it. */
  readonly isAll?: (found: T) => boolean
}
const dayMs = 86_400_000
/** For so long a network from which somebody signed in is let through where strangers to the account are not. */
const knownForMs = 30 * dayMs

/** Shuts the doors through which people try passwords, keys and links, after too many tries. */
export class LoginThrottle implements Knocks {
  #limits: Limits
  #tries: LoginAttempts
  #refusals: SignInFailureAudit
  /** Who signs in alone is no crowd. */
  #crowd = new SignInBatcher(20, 4)
  /** How many passwords this kernel verifies at the moment, by door. */
  #running = new Map<string, number>()

  constructor(limits: Limits, tries: LoginAttempts, refusals: SignInFailureAudit) {
    this.#limits = limits
    this.#tries = tries
    this.#refusals = refusals
  }

  /**
   * Counts one use of a door by whom `what` names, of which `limit` are free in 15 minutes; `TooMany`, with the time to wait, beyond that.
   * Name the door (`sign-up`), and by `what` only values that the sender cannot vary: see `networkOf` and `accountName`.
   */
  take(door: string, what: string, limit: number): Promise<void> {
    return this.#tries.take(`${door} ${what}`, limit)
  }

  async knock(door: string, { email, address }: Parameters<Knocks['knock']>[1], limits: Parameters<Knocks['knock']>[2]): Promise<void> {
    await this.take(door, networkOf(address), limits.perNetwork)
    if (email !== undefined) await this.take(door, accountName(email), limits.perEmail ?? limits.perNetwork)
  }

  /**
   * Lets somebody try a password: `verify` answers undefined for a wrong one, which counts. `TooMany` when the door is shut; what is being
   * verified is counted beforehand as if it were wrong, so that a thousand at once are no way around. A right password takes the count of
   * its network back. Each network has a count of its own for an account, so nobody shuts the owner out from elsewhere. Where too many networks try
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
      // Six digits are soon guessed from many networks at once, by somebody who knows the password.
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

  /** Counts a session that is over. Browsers keep these for months, so their count shuts no other door. */
  async wrongSession(address: string, shown: string): Promise<void> {
    await this.#countOnce(`sessions ${networkOf(address)}`, shown, this.#limits.failuresPerAddress)
  }

  /** The same text counts once in a window: a program that goes on with a key that was revoked guesses nothing. False for one that was counted. */
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
