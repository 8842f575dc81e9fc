import { isIPv6 } from 'node:net'
import { configPort, port, TooMany, wire } from 'pounce/sdk'
import type { RateLimiterRes } from 'rate-limiter-flexible'
import { config, type Settings } from './config.ts'
import { sha256 } from './secrets.ts'

const windowSeconds = 15 * 60

/** What counts failures. In this kernel's memory here; one that kernels share has the same three methods. */
interface Counter {
  /** Rejects with a `RateLimiterRes` when there were too many. */
  consume(key: string): Promise<unknown>
  reward(key: string): Promise<unknown>
  delete(key: string): Promise<unknown>
}

interface Counters {
  readonly accounts: Counter
  readonly addresses: Counter
  readonly keys: Counter
}

/** Shuts the doors through which people try passwords and keys, after too many wrong ones. */
export class Throttle {
  #points: Pick<Settings, 'failuresPerAccount' | 'failuresPerAddress'>
  #counters: Promise<Counters> | undefined

  constructor(points: Pick<Settings, 'failuresPerAccount' | 'failuresPerAddress'>) {
    this.#points = points
  }

  /**
   * Counts a try before it is made, so that a thousand at once are no way around; `TooMany` when the door is shut.
   * A right password takes the count back with `forgive`.
   */
  async tryPassword(email: string, address: string): Promise<void> {
    const { addresses, accounts } = await this.#open()
    await take(addresses, networkOf(address))
    await take(accounts, accountKey(email))
  }

  async forgive(email: string, address: string): Promise<void> {
    const { addresses, accounts } = await this.#open()
    await accounts.delete(accountKey(email))
    await addresses.reward(networkOf(address))
  }

  /** Counts a wrong key, token or session; `TooMany` instead of the refusal when there were too many from this address. */
  async wrongKey(address: string): Promise<void> {
    await take((await this.#open()).keys, networkOf(address))
  }

  /** The counters' library has 36 modules, which a start need not wait for. */
  #open(): Promise<Counters> {
    this.#counters ??= import('rate-limiter-flexible').then(({ RateLimiterMemory }) => {
      const count = (points: number): Counter => new RateLimiterMemory({ points, duration: windowSeconds })
      const { failuresPerAccount, failuresPerAddress } = this.#points
      return { accounts: count(failuresPerAccount), addresses: count(failuresPerAddress), keys: count(failuresPerAddress) }
    })
    return this.#counters
  }
}
wire(Throttle, configPort(config))

/** Inside this plugin: the throttle. */
export const Doors = port<Throttle>('users.doors')

const accountKey = (email: string): string => sha256(email)

/** One line has a whole /64 of IPv6 addresses to choose from, so these count as one. */
export const networkOf = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1]) return mapped[1]
  const plain = address.replace(/%.*$/, '')
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.toLowerCase().split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0')
  return `${[...first, ...zeros, ...last]
    .slice(0, 4)
    .map(part => part.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}

const take = async (counter: Counter, key: string): Promise<void> => {
  try {
    await counter.consume(key)
  } catch (refusal) {
    if (!isRefusal(refusal)) throw refusal
    throw new TooMany('Too many wrong tries; wait a while', Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)))
  }
}

const isRefusal = (error: unknown): error is RateLimiterRes => typeof error === 'object' && error !== null && 'msBeforeNext' in error
