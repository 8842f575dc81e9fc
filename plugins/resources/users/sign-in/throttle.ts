import { isIPv6 } from 'node:net'
import { configPort, type Knocks, port, wire } from 'pounce/sdk'
import { config, type Settings } from '../config.ts'
import { Gathering } from './gathering.ts'
import { RefusalNotes, type Refusals } from './refusals.ts'
import { type Counted, type StoredTries, Tries, tooMany } from './stored-tries.ts'

type Limits = Pick<Settings, 'failuresPerAccount' | 'failuresPerAccountAnywhere' | 'failuresPerAddress' | 'wrongKeysPerAddress'>
interface Door {
  readonly key: string
  readonly limit: number
}
const dayMs = 86_400_000
/** For so long a network from which somebody signed in is let through where strangers to the account are not. */
const knownForMs = 30 * dayMs

/** Shuts the doors through which people try passwords, keys and links, after too many tries. */
export class Throttle implements Knocks {
  #limits: Limits
  #tries: StoredTries
  #refusals: Refusals
  /** Who signs in alone is no crowd. */
  #crowd = new Gathering(20, 4)
  /** How many passwords this kernel verifies at the moment, by door. */
  #running = new Map<string, number>()

  constructor(limits: Limits, tries: StoredTries, refusals: Refusals) {
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
   * its network back. Each network has a count of its own for an account, so nobody shuts the owner out from elsewhere; where too many
   * networks try, only those from which the owner has signed in before are let on.
   */
  async tryPassword<T>(email: string, address: string, verify: () => Promise<T | undefined>): Promise<T | undefined> {
    const { failuresPerAddress, failuresPerAccount, failuresPerAccountAnywhere } = this.#limits
    const [known, pair] = [knownKey(email, address), pairKey(email, address)]
    const doors: readonly Door[] = [
      { key: addressKey(address), limit: failuresPerAddress },
      { key: pair, limit: failuresPerAccount },
      { key: accountKey(email), limit: failuresPerAccountAnywhere },
    ]
    const seen = await this.#tries.look([known, ...doors.map(({ key }) => key)])
    const open = seen.has(known) ? doors.slice(0, 2) : doors
    for (const { key, limit } of open) this.#requireRoom(limit, seen.get(key), this.#running.get(key) ?? 0)
    for (const { key } of open) this.#running.set(key, (this.#running.get(key) ?? 0) + 1)
    try {
      const found = await verify()
      if (this.#running.size > open.length) await this.#crowd.pass()
      if (found === undefined) {
        for (const { key, limit } of open) await this.#tries.take(key, limit)
        await this.#refusals.password(email, address)
      } else {
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
wire(Throttle, configPort(config), Tries, RefusalNotes)

/** Inside this plugin: the throttle. */
export const Doors = port<Throttle>('users.doors')

const accountKey = (email: string): string => `account ${accountName(email)}`
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

/** One line has a whole /64 of IPv6 addresses to choose from, so these count as one. */
export const networkOf = (address: string): string => {
  const plain = address.replace(/%.*$/, '')
  if (!isIPv6(plain)) return plain
  // The URL parser writes every spelling of an address in one way.
  const [head = '', tail] = (URL.parse(`http://[${plain}]/`)?.hostname.slice(1, -1) ?? plain).split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [...first, ...Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last]
  return mappedIPv4(groups) ?? `${groups.slice(0, 4).join(':')}::/64`
}

/** `::ffff:192.0.2.7` is how an IPv4 address looks on a socket that takes both. */
const mappedIPv4 = (groups: readonly string[]): string | undefined => {
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return undefined
  const [high = 0, low = 0] = groups.slice(6).map(group => Number.parseInt(group, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
