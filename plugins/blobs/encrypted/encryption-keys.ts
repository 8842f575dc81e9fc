import { createHash, hkdfSync } from 'node:crypto'
import { configPort, Invalid, s, Unavailable, wire } from 'pounce/sdk'

const key = { minLength: 43, maxLength: 64, secret: true } as const

export const config = s.Object({
  key: s.String({
    ...key,
    description: 'Key that new file contents are encrypted with: 32 random bytes in hex or base64, such as from `openssl rand -base64 32`',
  }),
  formerKeys: s.Array(s.String(key), {
    default: [],
    maxItems: 100,
    description:
      'Earlier values of `key`: contents that were encrypted with them remain readable. Keep them for as long as such contents exist',
  }),
})
const Config = configPort(config)

export const keyIdBytes = 8
const keyBytes = 32

const bytesOf = (text: string, setting: string): Buffer => {
  const bytes = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : /-|_/.test(text) ? 'base64url' : 'base64')
  if (bytes.length !== keyBytes)
    throw new Invalid(`blobs.encrypted.${setting} must be 32 bytes in hex or base64, such as from \`openssl rand -base64 32\``)
  return bytes
}

/** The ID of a key in the headers of blobs encrypted with it; reveals nothing about it. */
const idOf = (key: Buffer): Buffer => createHash('sha256').update('pounce key id').update(key).digest().subarray(0, keyIdBytes)

/** The configured keys. Each blob has a key of its own, derived from one of them. */
export class EncryptionKeys {
  readonly #settings: s.Static<typeof config>
  readonly #keys = new Map<string, Buffer>()
  #current: Buffer = Buffer.alloc(0)

  constructor(settings: s.Static<typeof config>) {
    this.#settings = settings
  }

  /** Throws `Invalid` for a key of the wrong length. */
  start(): void {
    const { key, formerKeys } = this.#settings
    const current = bytesOf(key, 'key')
    for (const one of [...formerKeys.map((former, at) => bytesOf(former, `formerKeys[${at}]`)), current])
      this.#keys.set(idOf(one).toString('hex'), one)
    this.#current = idOf(current)
  }

  /** The ID of the key for new blobs. */
  get currentId(): Buffer {
    return this.#current
  }

  /** The key of a blob. Throws `Unavailable` when the key that it is derived from is not configured. */
  derive(id: Buffer, salt: Buffer): Buffer {
    const key = this.#keys.get(id.toString('hex'))
    if (!key)
      throw new Unavailable(`The file was encrypted with another key (id ${id.toString('hex')}): add it to blobs.encrypted.formerKeys`)
    return Buffer.from(hkdfSync('sha256', key, salt, 'pounce blob', keyBytes))
  }
}
wire(EncryptionKeys, Config)
