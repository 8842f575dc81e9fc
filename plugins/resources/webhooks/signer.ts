import { randomBytes } from 'node:crypto'
import { Clock, SecretEncryption, wire } from 'pounce/sdk'
import type { Webhook as Signature } from 'standardwebhooks'
import type { SealedSecret } from './records.ts'

const purpose = 'webhook secret'
const secretBytes = 32

/** Creates secrets, and signs messages as Standard Webhooks specifies. */
export class WebhookSigner {
  readonly #encryption: SecretEncryption
  readonly #clock: Clock

  constructor(encryption: SecretEncryption, clock: Clock) {
    this.#encryption = encryption
    this.#clock = clock
  }

  /** A new secret: as returned to its owner, once, and as stored. */
  async newSecret(webhook: string): Promise<{ readonly secret: string; readonly stored: SealedSecret }> {
    const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`
    const sealed = await this.#encryption.seal(purpose, webhook, secret)
    return { secret, stored: { sealed, created: this.#clock.now().toISOString(), expires: null } }
  }

  /** Signs for a webhook: with each of its secrets that is currently valid. */
  async signerOf(webhook: { readonly id: string; readonly secrets: readonly SealedSecret[] }): Promise<Signer> {
    const { Webhook } = await import('standardwebhooks')
    const now = this.#clock.now().toISOString()
    const valid = webhook.secrets.filter(({ expires }) => expires === null || expires > now)
    const opened = await Promise.all(valid.map(({ sealed }) => this.#encryption.open(purpose, webhook.id, sealed)))
    return new Signer(opened.filter(secret => secret !== undefined).map(secret => new Webhook(secret)))
  }
}
wire(WebhookSigner, SecretEncryption, Clock)

/** The signatures of one webhook. */
export class Signer {
  readonly #signatures: readonly Signature[]

  constructor(signatures: readonly Signature[]) {
    this.#signatures = signatures
  }

  /** False when no secret could be decrypted, such as after the secret of the installation was replaced because it leaked. */
  get canSign(): boolean {
    return this.#signatures.length > 0
  }

  /** The headers of a message. The id is the same for every attempt. */
  headers(id: string, at: Date, body: string): Readonly<Record<string, string>> {
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': this.#signatures.map(one => one.sign(id, at, body)).join(' '),
    }
  }
}
