import { isIPv6 } from 'node:net'
import { configPort, port, wire } from 'pounce/sdk'
import { config, type Settings } from './config.ts'
import { type StoredTries, Tries } from './stored-tries.ts'

/** Shuts the doors through which people try passwords and keys, after too many wrong ones. */
export class Throttle {
  #limits: Pick<Settings, 'failuresPerAccount' | 'failuresPerAddress'>
  #tries: StoredTries

  constructor(limits: Pick<Settings, 'failuresPerAccount' | 'failuresPerAddress'>, tries: StoredTries) {
    this.#limits = limits
    this.#tries = tries
  }

  /**
   * Counts a try before it is made, so that a thousand at once are no way around; `TooMany` when the door is shut.
   * A right password takes the count back with `forgive`.
   */
  async tryPassword(email: string, address: string): Promise<void> {
    await this.#tries.take(addressKey(address), this.#limits.failuresPerAddress)
    await this.#tries.take(accountKey(email), this.#limits.failuresPerAccount)
  }

  async forgive(email: string, address: string): Promise<void> {
    await Promise.all([this.#tries.forget(accountKey(email)), this.#tries.giveBack(addressKey(address))])
  }

  /** Counts a wrong key, token or session; `TooMany` instead of the refusal when there were too many from this address. */
  async wrongKey(address: string): Promise<void> {
    await this.#tries.take(`keys ${networkOf(address)}`, this.#limits.failuresPerAddress)
  }
}
wire(Throttle, configPort(config), Tries)

/** Inside this plugin: the throttle. */
export const Doors = port<Throttle>('users.doors')

const accountKey = (email: string): string => `account ${email}`
const addressKey = (address: string): string => `address ${networkOf(address)}`

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
