import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type AuthProvider, Clock, configPort, s, type VerifiedIdentity, WrongCredentials, wire } from 'pounce/sdk'

export const config = s.Object({
  secret: s.String({ minLength: 32, secret: true, description: 'Secret shared with the proxy, 32 characters or more' }),
  label: s.String({ default: 'Institution', description: 'Label of the sign-in button' }),
  maxAgeSeconds: s.Integer({ default: 60, minimum: 1, maximum: 600, description: 'Maximum age of a signature, in seconds' }),
})

/** The headers that the proxy signs, in this order, one per line. The first one is present for every signed-in user. */
const signed = ['x-remote-user', 'x-remote-email', 'x-remote-first-name', 'x-remote-last-name', 'x-remote-groups'] as const

const textOf = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name]
  if (Array.isArray(value)) throw new WrongCredentials(`The header ${name} was sent twice`)
  return value ?? ''
}

const isSame = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** The signature that the proxy computes: HMAC-SHA256 in hexadecimal. */
export const signatureOf = (secret: string, headers: IncomingHttpHeaders, timestamp: string, address: string): string =>
  createHmac('sha256', secret)
    .update([timestamp, address, ...signed.map(name => textOf(headers, name))].join('\n'))
    .digest('hex')

/** Signs in users authenticated by a reverse proxy, which names them in headers signed together with the time. */
export class ProxyHeaders implements AuthProvider {
  readonly id = 'proxy'
  readonly label: string
  readonly #secret: string
  readonly #maxAgeMs: number
  readonly #clock: Clock

  constructor({ secret, label, maxAgeSeconds }: s.Static<typeof config>, clock: Clock) {
    this.label = label
    this.#secret = secret
    this.#maxAgeMs = maxAgeSeconds * 1000
    this.#clock = clock
  }

  async request(headers: IncomingHttpHeaders, address: string): Promise<VerifiedIdentity | undefined> {
    const [subject, email, firstName, lastName, groups] = signed.map(name => textOf(headers, name))
    if (!subject) return undefined
    const timestamp = textOf(headers, 'x-remote-timestamp')
    // Check the signature first: no other header can be trusted before.
    if (!isSame(textOf(headers, 'x-remote-signature'), signatureOf(this.#secret, headers, timestamp, address)))
      throw new WrongCredentials('The signature of the proxy does not match its headers')
    const ageMs = Math.abs(this.#clock.now().getTime() - Number(timestamp) * 1000)
    if (!(ageMs <= this.#maxAgeMs)) throw new WrongCredentials('The signature of the proxy is too old, or its clock is wrong')
    return {
      ...{ provider: this.id, subject, email: email ?? '', isEmailVerified: true },
      ...{ firstName: firstName ?? '', lastName: lastName ?? '' },
      ...(groups ? { groups: groups.split(',').map(group => group.trim()) } : {}),
    }
  }
}
wire(ProxyHeaders, configPort(config), Clock)
