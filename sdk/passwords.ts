import { randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { Invalid, Unavailable } from './problem.ts'
import { trimEnd } from './trim-end.ts'
import { WorkerPool } from './worker-client.ts'

/** Cost of one hash (RFC 9106, argon2id): memory in KiB, passes, lanes. */
export interface PasswordCost {
  readonly memoryKiB: number
  readonly passes: number
  readonly lanes: number
}

/** 19 MiB, two passes, one lane (OWASP, Password Storage, 2025): about 25 ms of one core. */
export const usualPasswordCost: PasswordCost = { memoryKiB: 19_456, passes: 2, lanes: 1 }

export const minPasswordLength = 8
/** Longer ones are rejected, not truncated. */
export const maxPasswordLength = 1000

const saltBytes = 16
const tagBytes = 32
const maxWaiting = 100
/** A request to the hashing thread: the arguments of argon2id, with costs in the units of RFC 9106. */
export interface HashRequest {
  readonly message: string
  readonly nonce: Uint8Array
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
  readonly tagLength: number
}

const startHashing = (): Worker =>
  new Worker(new URL('./hash-worker.ts', import.meta.url), { resourceLimits: { maxYoungGenerationSizeMb: 1 } })

/** Each thread uses 19 MiB while hashing. */
const maxThreads = 4

/** Low priority and one thread less than there are cores, so that other requests are served first however many people sign in. */
const threads = new WorkerPool<HashRequest>(Math.min(Math.max(availableParallelism() - 1, 1), maxThreads), {
  start: startHashing,
  timeoutMs: 30_000,
  name: 'Checking passwords',
})

const phc = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,172})$/
const unpadded = (bytes: Buffer): string => trimEnd(bytes.toString('base64'), '=')

/**
 * Hashes passwords with argon2id into PHC strings and verifies them, in low-priority threads off the event loop: one less than there are cores, at most four.
 * With 100 calls waiting, further ones reject with `Unavailable`.
 */
export class Passwords {
  #cost: PasswordCost
  /** Includes the calls being processed. */
  #waiting = 0
  #decoy: Promise<string> | undefined

  constructor(cost: PasswordCost = usualPasswordCost) {
    this.#cost = cost
  }

  /** The PHC string of a new password. `Invalid` when it is shorter than 8 or longer than 1,000 characters. */
  async hash(password: string): Promise<string> {
    const text = password.normalize('NFC')
    const length = [...text].length
    if (length < minPasswordLength || length > maxPasswordLength)
      throw new Invalid(`A password must have ${minPasswordLength} to ${maxPasswordLength} characters`)
    const { memoryKiB, passes, lanes } = this.#cost
    const salt = randomBytes(saltBytes)
    const tag = await this.#derive(text, salt, this.#cost, tagBytes)
    return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${lanes}$${unpadded(salt)}$${unpadded(tag)}`
  }

  /**
   * Whether the password matches the hash. Without a hash (no such account) it does the same work and returns false, so that timing reveals nothing. Throws for
   * a malformed hash.
   */
  async verify(password: string, hash: string | null | undefined): Promise<boolean> {
    // Composed and decomposed spellings are equal. A password that is too long is truncated, still hashed and then rejected.
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

  async #derive(text: string, nonce: Buffer, { memoryKiB, passes, lanes }: PasswordCost, tagLength: number): Promise<Buffer> {
    if (this.#waiting > maxWaiting) throw new Unavailable('Too many concurrent sign-ins', { retryAfterSeconds: 2 })
    this.#waiting += 1
    try {
      const tag = await threads.run({ message: text, nonce, memory: memoryKiB, passes, parallelism: lanes, tagLength })
      return Buffer.from(tag as Uint8Array)
    } finally {
      this.#waiting -= 1
    }
  }
}
