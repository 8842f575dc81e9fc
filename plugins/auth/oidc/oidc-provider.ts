import type { Configuration, TokenEndpointResponse } from 'openid-client'
import { type Log, Problem, type VerifiedIdentity } from 'pounce/sdk'
import type { SignInSite } from 'pounce/sdk/kit'
import { type Issuer, identityOf, reasonOf, type TokenClaims } from './issuer.ts'

interface LoginState {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

/** Error codes of a provider that rejects an authorization code. */
const refusals: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_request', 'access_denied'])

/** Sign-in with a provider: authorization code with PKCE, state and nonce (OpenID Connect Core, 3.1; RFC 9700). */
export class OidcProvider implements SignInSite {
  readonly id: string
  readonly label: string
  readonly #issuer: Issuer
  readonly #log: Log

  constructor(issuer: Issuer, log: Log) {
    this.id = issuer.provider.name
    this.label = issuer.provider.label
    this.#issuer = issuer
    this.#log = log
  }

  async redirect(callback: string): Promise<{ readonly url: string; readonly kept: string }> {
    const configuration = await this.#issuer.configuration()
    const { client } = this.#issuer.libraries
    const { scopes, parameters } = this.#issuer.provider
    const loginState: LoginState = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      codeVerifier: client.randomPKCECodeVerifier(),
    }
    const url = client.buildAuthorizationUrl(configuration, {
      ...parameters,
      response_type: 'code',
      redirect_uri: callback,
      scope: scopes.join(' '),
      state: loginState.state,
      nonce: loginState.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(loginState.codeVerifier),
      code_challenge_method: 'S256',
    })
    return { url: url.href, kept: JSON.stringify(loginState) }
  }

  async returned(address: URL, keptText: string): Promise<VerifiedIdentity | undefined> {
    const { state, nonce, codeVerifier } = JSON.parse(keptText) as LoginState
    const configuration = await this.#issuer.configuration()
    const tokens = await this.#tokens(configuration, address, { state, nonce, codeVerifier })
    if (tokens?.id_token === undefined) return undefined
    const claims = await this.#issuer.verified(tokens.id_token, this.#issuer.provider.clientId)
    if (!claims) return undefined
    const more = await this.#userInfo(configuration, tokens.access_token, claims)
    const identity = identityOf(this.#issuer.provider, more ? [claims, more] : [claims])
    // Many providers omit the groups claim for users without groups.
    return identity && { ...identity, groups: identity.groups ?? [] }
  }

  async #tokens(configuration: Configuration, address: URL, kept: LoginState): Promise<TokenEndpointResponse | undefined> {
    const { client } = this.#issuer.libraries
    try {
      return await client.authorizationCodeGrant(configuration, address, {
        pkceCodeVerifier: kept.codeVerifier,
        expectedState: kept.state,
        expectedNonce: kept.nonce,
        idTokenExpected: true,
      })
    } catch (error) {
      if (this.#isUnavailable(error)) throw this.#issuer.unavailable(error)
      this.#log.info('Callback from a provider without a valid code', { provider: this.id, reason: reasonOf(error) })
      return undefined
    }
  }

  /** The userinfo claims that the ID token lacks; the ID token may be complete. */
  async #userInfo(configuration: Configuration, accessToken: string, claims: TokenClaims): Promise<TokenClaims | undefined> {
    const { client } = this.#issuer.libraries
    const { provider } = this.#issuer
    const isWhole = identityOf(provider, [claims])?.email && Object.hasOwn(claims, provider.groupsClaim)
    if (isWhole || configuration.serverMetadata().userinfo_endpoint === undefined) return undefined
    try {
      return await client.fetchUserInfo(configuration, accessToken, String(claims['sub']))
    } catch (error) {
      throw this.#issuer.unavailable(error)
    }
  }

  /** True when the provider or its client registration is at fault, not the browser's request. */
  #isUnavailable(error: unknown): boolean {
    const { client } = this.#issuer.libraries
    if (error instanceof client.ResponseBodyError) return !refusals.has(error.error)
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) if (cause instanceof Problem) return true
    return false
  }
}
