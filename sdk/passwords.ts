import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { Invalid, Unavailable } from './problem.ts'

/** Cost of one hash (RFC 9106, argon2id): memory in KiB, passes over it, lanes. */
export interface PasswordCost {
  readonly memoryKiB: number
  readonly passes: number
  readonly lanes: number
}

/** 19 MiB, two passes, one lane (OWASP, Password Storage, 2025): about 25 ms of one core. */
export const usualPasswordCost: PasswordCost = { memoryKiB: 19_456, passes: 2, lanes: 1 }

export const minPasswordLength = 8
/** Longer ones are refused, not cut. */
export const maxPasswordLength = 1000

const saltBytes = 16
const tagBytes = 32
/** Hashing runs on libuv's few threads, which files need too. */
const maxRunning = 2
const maxWaiting = 100

const phc = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,172})$/
const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')

/**
 * Hashes passwords with argon2id into PHC text and checks them, off the event loop. At most two at a time; when 100 more wait,
 * further calls reject with `Unavailable`.
 */
export class Passwords {
  #cost: PasswordCost
  #running = 0
  #waiting: (() => void)[] = []
  #decoy: Promise<string> | undefined

  constructor(cost: PasswordCost = usualPasswordCost) {
    this.#cost = cost
  }

  /** PHC text of a new password. `Invalid` when it is shorter than 8 or longer than 1,000 characters. */
  async hash(password: string): Promise<string> {
    const text = password.normalize('NFC')
    const length = [...text].length
    if (length < minPasswordLength || length > maxPasswordLength)
      throw new Invalid(`A password has ${minPasswordLength} to ${maxPasswordLength} characters`)
    const { memoryKiB, passes, lanes } = this.#cost
    const salt = randomBytes(saltBytes)
    const tag = await this.#derive(text, salt, this.#cost, tagBytes)
    return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${lanes}$${unpadded(salt)}$${unpadded(tag)}`
  }

  /**
   * True when the password belongs to the hash. Without a hash (no such account) it does the same work and is false, so that
   * the time it takes tells nothing. A hash of another form throws.
   */
  async verify(password: string, hash: string | null | undefined): Promise<boolean> {
    // Equal in composed and decomposed spelling; a password that is too long is still hashed, cut, and then refused.
    const text = password.slice(0, 4 * maxPasswordLength).normalize('NFC')
    const known = hash ?? (await this.#someHash())
    const [, memory, passes, lanes, salt, tag] = phc.exec(known) ?? []
    if (!memory || !passes || !lanes || !salt || !tag) throw new Error('A stored password hash is not argon2id PHC text')
    const expected = Buffer.from(tag, 'base64')
    const cost = { memoryKiB: Number(memory), passes: Number(passes), lanes: Number(lanes) }
    const actual = await this.#derive(text, Buffer.from(salt, 'base64'), cost, expected.length)
    const isSame = timingSafeEqual(actual, expected)
    return isSame && hash !== null && hash !== undefined && password.length <= 4 * maxPasswordLength
  }

  #someHash(): Promise<string> {
    this.#decoy ??= this.hash(randomBytes(24).toString('hex')).catch((error: unknown) => {
      this.#decoy = undefined
      throw error
    })
    return this.#decoy
  }

  async #derive(text: string, nonce: Buffer, cost: PasswordCost, tagLength: number): Promise<Buffer> {
    await this.#turn()
    try {
      return await new Promise<Buffer>((resolve, reject) => {
        const { memoryKiB: memory, passes, lanes: parallelism } = cost
        argon2('argon2id', { message: text, nonce, memory, passes, parallelism, tagLength }, (error, key) =>
          error ? reject(error) : resolve(key),
        )
      })
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }

  /** A turn that ends hands its place to the next in line, so nobody overtakes. */
  async #turn(): Promise<void> {
    if (this.#running < maxRunning) {
      this.#running += 1
      return
    }
    if (this.#waiting.length >= maxWaiting) throw new Unavailable('Too many sign-ins are waiting', { retryAfterSeconds: 2 })
    await new Promise<void>(resolve => this.#waiting.push(resolve))
  }
}
