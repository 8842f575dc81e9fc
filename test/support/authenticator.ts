import { createHash, createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

type Cbor = number | string | Uint8Array | ReadonlyMap<number | string, Cbor>

const head = (major: number, size: number): Buffer => {
  if (size < 24) return Buffer.from([(major << 5) | size])
  if (size < 256) return Buffer.from([(major << 5) | 24, size])
  return Buffer.from([(major << 5) | 25, size >> 8, size & 255])
}

/** The subset of RFC 8949 that attestations need. */
const cbor = (value: Cbor): Buffer => {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, member]) => [cbor(key), cbor(member)])])
}

const hash = (bytes: string | Uint8Array): Buffer => createHash('sha256').update(bytes).digest()
const flag = { present: 1, verified: 4, attested: 64 } as const

/** Faults of an authenticator, or of a man in the middle. */
export interface Wrong {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly counter?: number
  readonly isUnverified?: boolean
  readonly userHandle?: string
}

/** The members of WebAuthn options that an authenticator reads. */
export interface Options {
  readonly challenge: string
  readonly rp?: { readonly id: string }
  readonly rpId?: string
  readonly user?: { readonly id: string }
}

/** A passkey in software: ES256, attestation `none`, discoverable. WebAuthn Level 3, 6.1 and 6.5. */
export class Authenticator {
  readonly origin: string
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly id = randomBytes(32).toString('base64url')
  counter = 0
  #userHandle = ''

  constructor(origin: string) {
    this.origin = origin
  }

  create({ challenge, rp, user }: Options, wrong: Wrong = {}) {
    this.#userHandle = user?.id ?? ''
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' })
    const point = [x, y].map(part => Buffer.from(part, 'base64url')) as [Buffer, Buffer]
    const key = cbor(
      new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, point[0]],
        [-3, point[1]],
      ]),
    )
    const id = Buffer.from(this.id, 'base64url')
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key])
    const authData = Buffer.concat([this.#data(wrong.rpId ?? rp?.id ?? '', flag.attested, wrong), attested])
    const attestation = new Map<string, Cbor>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ])
    return {
      ...this.#shown(),
      response: {
        clientDataJSON: this.#client('webauthn.create', challenge, wrong).toString('base64url'),
        attestationObject: cbor(attestation).toString('base64url'),
        transports: ['internal'],
      },
    }
  }

  get({ challenge, rpId = '' }: Options, wrong: Wrong = {}) {
    this.counter = wrong.counter ?? this.counter + 1
    const client = this.#client('webauthn.get', challenge, wrong)
    const data = this.#data(wrong.rpId ?? rpId, 0, wrong)
    return {
      ...this.#shown(),
      response: {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', Buffer.concat([data, hash(client)]), this.#keys.privateKey).toString('base64url'),
        userHandle: wrong.userHandle ?? this.#userHandle,
      },
    }
  }

  #shown() {
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {}, authenticatorAttachment: 'platform' }
  }

  #client(type: string, challenge: string, wrong: Wrong): Buffer {
    const { origin = this.origin } = wrong
    return Buffer.from(JSON.stringify({ type, challenge: wrong.challenge ?? challenge, origin, crossOrigin: false }))
  }

  #data(rpId: string, more: number, { isUnverified = false }: Wrong): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.counter)
    return Buffer.concat([hash(rpId), Buffer.from([flag.present | (isUnverified ? 0 : flag.verified) | more]), counter])
  }
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The code of an authenticator app for a base32 secret at a time: RFC 4226, 5.3 and RFC 6238, 4. */
export const codeAt = (secret: string, at: Date): string => {
  const bits = [...secret].map(letter => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
  const step = Buffer.alloc(8)
  step.writeBigUInt64BE(BigInt(Math.floor(at.getTime() / 30_000)))
  const digest = createHmac('sha1', key).update(step).digest()
  const offset = (digest.at(-1) ?? 0) & 15
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}
