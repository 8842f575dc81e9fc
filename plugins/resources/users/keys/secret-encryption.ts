import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { wire } from 'pounce/sdk'
import { InstallationSecret } from './installation-secret.ts'

const [ivBytes, tagBytes] = [12, 16]

/** Encrypts short texts with keys derived from the installation's secret, one for each purpose: any kernel opens what another one sealed. */
export class SecretEncryption {
  readonly #secret: InstallationSecret

  constructor(secret: InstallationSecret) {
    this.#secret = secret
  }

  /** `context` is not in the result, and has to be the same when it is opened: what was sealed for one account is of no use to another. */
  async seal(purpose: string, context: string, text: string): Promise<string> {
    const iv = randomBytes(ivBytes)
    const [secret] = await this.#secret.sealing()
    const cipher = createCipheriv('aes-256-gcm', keyOf(secret, purpose), iv).setAAD(Buffer.from(context))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([iv, sealed, cipher.getAuthTag()]).toString('base64url')
  }

  /** Undefined for what was not sealed here, or for another purpose or context. */
  async open(purpose: string, context: string, sealed: string): Promise<string | undefined> {
    const bytes = Buffer.from(sealed, 'base64url')
    if (bytes.length <= ivBytes + tagBytes) return undefined
    for (const secret of await this.#secret.sealing()) {
      const text = openWith(keyOf(secret, purpose), context, bytes)
      if (text !== undefined) return text
    }
    return undefined
  }
}
wire(SecretEncryption, InstallationSecret)

const keyOf = (secret: string, purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', `sealed: ${purpose}`, 32))

const openWith = (key: Buffer, context: string, bytes: Buffer): string | undefined => {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes))
  const text = decipher.update(bytes.subarray(ivBytes, -tagBytes))
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch (error) {
    // Node has no class of its own for a tag that does not fit.
    if (error instanceof Error) return undefined
    throw error
  }
}
