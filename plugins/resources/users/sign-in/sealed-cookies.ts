import { Clock, cookieIn, cookieName, Installation, setCookie, wire } from 'pounce/sdk'
import { SecretEncryption } from '../keys/secret-encryption.ts'

const noteCookie = 'pounce_sign_in'
const lastsMs = 10 * 60_000
const purpose = 'notes of browsers that sign in elsewhere'
const nameLength = 24

/** What a browser remembers while it is at a site to sign in. */
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
export class SealedCookies {
  readonly #seals: SecretEncryption
  readonly #clock: Clock
  readonly #installation: Installation

  constructor(seals: SecretEncryption, clock: Clock, installation: Installation) {
    this.#seals = seals
    this.#clock = clock
    this.#installation = installation
  }

  /** The value of the `Set-Cookie` header that hands out a note. It is good for ten minutes, for this browser. */
  async cookie(note: SignInNote): Promise<string> {
    const sealed: Sealed = { ...note, until: this.#clock.now().getTime() + lastsMs }
    const text = await this.#seals.seal(purpose, '', JSON.stringify(sealed))
    return setCookie(noteCookie, text, { maxAgeSeconds: lastsMs / 1000, baseUrl: this.#installation.baseUrl })
  }

  /** The note in a `Cookie` header and a name for it; undefined for none, a forged one and one that is over. */
  async noteIn(cookies: string | undefined): Promise<(SignInNote & { readonly name: string }) | undefined> {
    const sealed = cookieIn(cookies, cookieName(noteCookie, this.#installation.baseUrl))
    const text = sealed === undefined ? undefined : await this.#seals.open(purpose, '', sealed)
    if (sealed === undefined || text === undefined) return undefined
    const note = JSON.parse(text) as Sealed
    return note.until > this.#clock.now().getTime() ? { ...note, name: sealed.slice(0, nameLength) } : undefined
  }
}
wire(SealedCookies, SecretEncryption, Clock, Installation)
