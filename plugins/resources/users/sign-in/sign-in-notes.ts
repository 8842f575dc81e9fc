import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { Clock, Installation, port, wire } from 'pounce/sdk'
import { type InstallationSecret, Secret } from '../keys/installation-secret.ts'

const cookieName = 'pounce_sign_in'
const lastsMs = 10 * 60_000
const [ivBytes, tagBytes] = [12, 16]

/** What a browser remembers while it is away at a site to sign in. */
export interface SignInNote {
  readonly site: string
  /** What the site wants to see again. */
  readonly kept: string
  readonly returnTo: string
}

interface Sealed extends SignInNote {
  readonly until: number
}

/**
 * Notes that browsers keep for us: sealed, so that nobody can read, change or make one, and any kernel can open what another one has sealed.
 * A browser without the note that belongs to an answer of a site is not the one that was sent there.
 */
export class SignInNotes {
  readonly #secret: InstallationSecret
  readonly #clock: Clock
  readonly #installation: Installation

  constructor(secret: InstallationSecret, clock: Clock, installation: Installation) {
    this.#secret = secret
    this.#clock = clock
    this.#installation = installation
  }

  /** The value of the `Set-Cookie` header that hands out a note. It is good for ten minutes, for this browser and these routes. */
  async cookie(note: SignInNote): Promise<string> {
    const { protocol, pathname } = new URL(this.#installation.baseUrl)
    const text = await this.#seal({ ...note, until: this.#clock.now().getTime() + lastsMs })
    const path = `${pathname.replace(/\/$/, '')}/api/login`
    return `${cookieName}=${text}; Max-Age=${lastsMs / 1000}; Path=${path}; HttpOnly; SameSite=Lax${protocol === 'https:' ? '; Secure' : ''}`
  }

  /** The note in a `Cookie` header and a name for it; undefined for none, a forged one and one that is over. */
  async noteIn(cookies: string | undefined): Promise<(SignInNote & { readonly name: string }) | undefined> {
    const text = cookies?.match(/(?:^|;)\s*pounce_sign_in="?([\w-]+)"?\s*(?:;|$)/)?.[1]
    const note = text === undefined ? undefined : await this.#open(text)
    return text !== undefined && note && note.until > this.#clock.now().getTime()
      ? { ...note, name: text.slice(0, 2 * ivBytes) }
      : undefined
  }

  async #key(): Promise<Buffer> {
    return Buffer.from(hkdfSync('sha256', await this.#secret.value(), '', 'notes of browsers that sign in elsewhere', 32))
  }

  async #seal(note: Sealed): Promise<string> {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', await this.#key(), iv)
    const sealed = Buffer.concat([cipher.update(JSON.stringify(note), 'utf8'), cipher.final()])
    return Buffer.concat([iv, sealed, cipher.getAuthTag()]).toString('base64url')
  }

  async #open(text: string): Promise<Sealed | undefined> {
    const bytes = Buffer.from(text, 'base64url')
    if (bytes.length <= ivBytes + tagBytes) return undefined
    const decipher = createDecipheriv('aes-256-gcm', await this.#key(), bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
    decipher.setAuthTag(bytes.subarray(-tagBytes))
    const plain = decipher.update(bytes.subarray(ivBytes, -tagBytes))
    try {
      return JSON.parse(Buffer.concat([plain, decipher.final()]).toString('utf8')) as Sealed
    } catch (error) {
      // Node has no class for this: the tag does not fit, so it was not sealed here.
      if (error instanceof Error) return undefined
      throw error
    }
  }
}
wire(SignInNotes, Secret, Clock, Installation)

/** Inside this plugin: what browsers remember while they sign in elsewhere. */
export const Notes = port<SignInNotes>('users.signInNotes')
