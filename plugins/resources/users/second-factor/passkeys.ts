import type { AuthenticationResponseJSON, AuthenticatorTransport, RegistrationResponseJSON } from '@simplewebauthn/server'
import { type Contributions, Installation, Log, type Site, Sites, type UserRecord, wire } from 'pounce/sdk'
import { type PasskeyRecord, siteName } from 'pounce/sdk/kit'

/** Responses of authenticators, in the format of `PublicKeyCredential.toJSON()`. */
export type PasskeyRegistration = Pick<RegistrationResponseJSON, 'id' | 'rawId' | 'type'> & {
  readonly response: { readonly clientDataJSON: string; readonly attestationObject: string; readonly transports?: readonly string[] }
}
export type Assertion = Pick<AuthenticationResponseJSON, 'id' | 'rawId' | 'type'> & {
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
    readonly userHandle?: string
  }
}

// It includes a parser for ASN.1 and X.509, so it is loaded when a passkey is first used.
const library = () => import('@simplewebauthn/server')

const described = ({ credential, transports }: PasskeyRecord) => ({
  id: credential,
  transports: transports as AuthenticatorTransport[],
})

/** WebAuthn ceremonies with this server as the relying party: its host name is the RP ID, its address the only origin. */
export class Passkeys {
  readonly #installation: Installation
  readonly #sites: Contributions<Site>
  readonly #log: Log

  constructor(installation: Installation, sites: Contributions<Site>, log: Log) {
    this.#installation = installation
    this.#sites = sites
    this.#log = log
  }

  /** Options for `navigator.credentials.create`: a discoverable credential with user verification, if the authenticator supports it. */
  async creationOptions(user: Pick<UserRecord, 'email'> & { readonly id: string }, known: readonly PasskeyRecord[], displayName: string) {
    const { generateRegistrationOptions } = await library()
    return generateRegistrationOptions({
      rpName: await siteName(this.#sites),
      rpID: this.#party().id,
      userID: new TextEncoder().encode(user.id),
      userName: user.email,
      userDisplayName: displayName,
      attestationType: 'none',
      excludeCredentials: known.map(described),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    })
  }

  /** Options for `navigator.credentials.get`; without passkeys, for any account. */
  async requestOptions(known: readonly PasskeyRecord[] = []) {
    const { generateAuthenticationOptions } = await library()
    return generateAuthenticationOptions({
      rpID: this.#party().id,
      userVerification: 'required',
      ...(known.length > 0 ? { allowCredentials: known.map(described) } : {}),
    })
  }

  /** The credential that an authenticator has created for a challenge; undefined for an invalid one. */
  async registered({ response, ...rest }: PasskeyRegistration, challenge: string) {
    const { verifyRegistrationResponse } = await library()
    const { id: expectedRPID, origin: expectedOrigin } = this.#party()
    const { transports = [], ...signed } = response
    const checked = await this.#checked(() =>
      verifyRegistrationResponse({
        response: { ...rest, response: signed, clientExtensionResults: {} },
        ...{ expectedChallenge: challenge, expectedOrigin, expectedRPID, requireUserVerification: true },
      }),
    )
    if (!checked?.verified) return undefined
    const { credential, credentialBackedUp: isBackedUp } = checked.registrationInfo
    const publicKey = Buffer.from(credential.publicKey).toString('base64url')
    return { credential: credential.id, publicKey, counter: credential.counter, transports: [...transports], isBackedUp }
  }

  /**
   * The result of verifying a signed challenge; undefined for another challenge, origin, RP ID or key, an unverified user, and a counter
   * that decreased.
   */
  async asserted({ response, ...rest }: Assertion, challenge: string, { credential, publicKey, counter }: PasskeyRecord) {
    const { verifyAuthenticationResponse } = await library()
    const { id: expectedRPID, origin: expectedOrigin } = this.#party()
    const checked = await this.#checked(() =>
      verifyAuthenticationResponse({
        response: { ...rest, response, clientExtensionResults: {} },
        credential: { id: credential, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter },
        ...{ expectedChallenge: challenge, expectedOrigin, expectedRPID, requireUserVerification: true },
      }),
    )
    if (!checked?.verified) return undefined
    const { newCounter, credentialBackedUp: isBackedUp } = checked.authenticationInfo
    return { counter: newCounter, isBackedUp }
  }

  #party(): { readonly id: string; readonly origin: string } {
    const { hostname, origin } = new URL(this.#installation.baseUrl)
    return { id: hostname, origin }
  }

  /** The library throws plain errors for all kinds of invalid input. */
  async #checked<T>(check: () => Promise<T>): Promise<T | undefined> {
    try {
      return await check()
    } catch (error) {
      this.#log.info('WebAuthn response rejected', { reason: String(error).slice(0, 300) })
      return undefined
    }
  }
}
wire(Passkeys, Installation, Sites, Log)
