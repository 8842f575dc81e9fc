import { type AuthProvider, Log, Problem, type VerifiedIdentity, wire } from 'pounce/sdk'
import { defaultJsonLimits, parseJson, type SignInSite } from 'pounce/sdk/kit'
import { identityOf } from './issuer.ts'
import { Issuers } from './issuers.ts'
import { OidcProvider } from './oidc-provider.ts'

const maxTokenLength = 16_000

/** Accounts of OpenID Connect providers: users are redirected there, programs send access tokens issued there. */
export class OidcAccounts implements AuthProvider {
  readonly id = 'oidc'
  readonly #issuers: Issuers
  readonly #log: Log
  #sites: readonly SignInSite[] | undefined

  constructor(issuers: Issuers, log: Log) {
    this.#issuers = issuers
    this.#log = log
  }

  get sites(): readonly SignInSite[] {
    this.#sites ??= this.#issuers.all().map(issuer => new OidcProvider(issuer, this.#log))
    return this.#sites
  }

  async bearer(token: string): Promise<VerifiedIdentity | undefined> {
    const named = issuerIn(token)
    if (named === undefined) return undefined
    for (const issuer of this.#issuers.all()) {
      const { audience, issuer: address } = issuer.provider
      if (audience === undefined || plain(address) !== plain(named)) continue
      const claims = await issuer.verified(token, audience)
      const identity = claims && identityOf(issuer.provider, [claims])
      if (identity) return identity
    }
    return undefined
  }
}
wire(OidcAccounts, Issuers, Log)

const plain = (address: string): string => address.replace(/\/$/, '')

/** The issuer claimed by a token, not verified yet. Undefined for text that is not a token. */
const issuerIn = (token: string): string | undefined => {
  if (token.length > maxTokenLength || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined
  try {
    const { iss } = parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url'), defaultJsonLimits) as { readonly iss?: unknown }
    return typeof iss === 'string' ? iss : undefined
  } catch (error) {
    if (error instanceof Problem || error instanceof TypeError) return undefined
    throw error
  }
}
