import type { CompactVerifyGetKey, JWTPayload } from 'jose'
import type { Configuration } from 'openid-client'
import { type Fetch, type Log, Unavailable, type VerifiedIdentity } from 'pounce/sdk'
import { isJsonObject } from 'pounce/sdk/kit'
import type { OidcConfig, ProviderConfig } from './config.ts'
import { fetchAt, type LibraryFetch } from './guarded-fetch.ts'

/** The messages of an error for the log, without its details, as errors of the libraries contain tokens and personal data. */
export const reasonOf = (error: unknown): string => {
  const messages: string[] = []
  for (let cause = error; cause instanceof Error && messages.length < 6; cause = cause.cause) {
    const code = 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : ''
    messages.push(`${cause.message}${code}`)
  }
  return messages.join(': ')
}

export interface Libraries {
  readonly client: typeof import('openid-client')
  readonly jose: typeof import('jose')
}

const hourMs = 3_600_000

/** Requests are not sent to an unavailable provider during this time. */
const restMs = 3000

/** Tolerated clock difference. */
const toleranceSeconds = 30

interface Discovered {
  readonly configuration: Configuration
  readonly keys: CompactVerifyGetKey
  readonly until: number
}

/** One provider: its endpoints, and the keys with which it signs; fetched on demand and cached for an hour. */
export class Issuer {
  readonly provider: ProviderConfig
  readonly libraries: Libraries
  readonly #limits: OidcConfig
  readonly #log: Log
  readonly #fetch: LibraryFetch
  #known: Discovered | undefined
  #asking: Promise<Discovered> | undefined
  #restUntil = 0

  constructor(provider: ProviderConfig, limits: OidcConfig, fetch: Fetch, log: Log, libraries: Libraries) {
    this.provider = provider
    this.libraries = libraries
    this.#limits = limits
    this.#log = log
    const origins = new Set([provider.issuer, ...provider.alsoAt].map(address => new URL(address).origin))
    this.#fetch = fetchAt(fetch, origins, limits.timeoutMs)
  }

  /** The endpoints and our client registration. Rejects with `Unavailable` while the provider is unavailable. */
  async configuration(): Promise<Configuration> {
    return (await this.#discovered()).configuration
  }

  /**
   * The claims of a valid token that this provider has signed for an audience; undefined for any other text. Rejects with
   * `Unavailable` while its keys cannot be fetched.
   */
  async verified(token: string, audience: string): Promise<JWTPayload | undefined> {
    const { configuration, keys } = await this.#discovered()
    const { jose } = this.libraries
    try {
      const { payload } = await jose.jwtVerify(token, keys, {
        issuer: configuration.serverMetadata().issuer,
        audience,
        algorithms: [...this.#limits.algorithms],
        requiredClaims: ['exp', 'sub'],
        clockTolerance: toleranceSeconds,
      })
      return typeof payload.sub === 'string' && payload.sub !== '' && payload.sub.length <= 255 ? payload : undefined
    } catch (error) {
      if (!(error instanceof jose.errors.JOSEError)) throw error
      this.#log.debug('Token rejected', { provider: this.provider.name, reason: reasonOf(error) })
      return undefined
    }
  }

  /** `Unavailable` for a failure that was not caused by the caller's input. */
  unavailable(cause: unknown): Unavailable {
    this.#log.error(`Unexpected response from the provider ${this.provider.name}`, { reason: reasonOf(cause) })
    return new Unavailable(`${this.provider.label} is unreachable; try again later, or sign in another way`, { cause })
  }

  async #discovered(): Promise<Discovered> {
    if (this.#known && this.#known.until > performance.now()) return this.#known
    if (this.#restUntil > performance.now()) return this.#orKnown(new Unavailable(`${this.provider.label} is unreachable`))
    this.#asking ??= this.#discover().finally(() => {
      this.#asking = undefined
    })
    try {
      this.#known = await this.#asking
      return this.#known
    } catch (error) {
      return this.#orKnown(error)
    }
  }

  /** Endpoints rarely move: a stale answer is better than none. */
  #orKnown(error: unknown): Discovered {
    if (this.#known) return this.#known
    throw error
  }

  async #discover(): Promise<Discovered> {
    const { client, jose } = this.libraries
    const { issuer, clientId, clientSecret, clientAuthentication } = this.provider
    const authentication = clientAuthentication === 'post' ? client.ClientSecretPost : client.ClientSecretBasic
    try {
      const configuration = await client.discovery(
        new URL(issuer),
        clientId,
        undefined,
        clientSecret === undefined ? client.None() : authentication(clientSecret),
        {
          [client.customFetch]: this.#fetch,
          timeout: Math.ceil(this.#limits.timeoutMs / 1000) + 1,
          ...(issuer.startsWith('http:') ? { execute: [client.allowInsecureRequests] } : {}),
        },
      )
      const { jwks_uri: address } = configuration.serverMetadata()
      if (address === undefined) throw new Unavailable('the provider publishes no jwks_uri')
      const keys = jose.createRemoteJWKSet(new URL(address), {
        [jose.customFetch]: this.#fetchKeys,
        timeoutDuration: this.#limits.timeoutMs + 1000,
        cooldownDuration: this.#limits.refetchKeysAfterMs,
      })
      return { configuration, keys: this.#orAway(keys), until: performance.now() + hourMs }
    } catch (cause) {
      this.#restUntil = performance.now() + restMs
      throw this.unavailable(cause)
    }
  }

  /** Forged tokens must not cause as many requests while the provider is unavailable. */
  readonly #fetchKeys: LibraryFetch = (address, init) => {
    if (this.#restUntil > performance.now()) return Promise.reject(new Unavailable('the last request to the provider failed'))
    return this.#fetch(address, init)
  }

  /** A failure to fetch keys says nothing about the token. */
  #orAway(keys: CompactVerifyGetKey): CompactVerifyGetKey {
    const { JWKSNoMatchingKey, JWKSMultipleMatchingKeys, JOSENotSupported } = this.libraries.jose.errors
    return async (header, token) => {
      try {
        return await keys(header, token)
      } catch (error) {
        if ([JWKSNoMatchingKey, JWKSMultipleMatchingKeys, JOSENotSupported].some(kind => error instanceof kind)) throw error
        if (this.#restUntil > performance.now()) throw new Unavailable(`${this.provider.label} is unreachable`, { cause: error })
        this.#restUntil = performance.now() + restMs
        throw this.unavailable(error)
      }
    }
  }
}

/** Claims about a user. */
export type TokenClaims = Readonly<Record<string, unknown>>

const maxGroups = 1000

/** A claim by name, or by a path into nested objects. */
const claimOf = (claims: TokenClaims, name: string): unknown => {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.')) value = isJsonObject(value) && Object.hasOwn(value, part) ? value[part] : undefined
  return value
}

const textOf = (claims: TokenClaims, name: string): string => {
  const value = claimOf(claims, name)
  return typeof value === 'string' ? value : ''
}

/** The groups of a user; undefined where the claim is absent. */
const groupsOf = (sources: readonly TokenClaims[], name: string): readonly string[] | undefined => {
  const value = sources.map(claims => claimOf(claims, name)).find(found => found !== undefined)
  if (value === undefined) return undefined
  return [value]
    .flat()
    .filter(group => typeof group === 'string')
    .slice(0, maxGroups)
}

/** The address and its verified flag must come from the same source. */
const emailOf = (sources: readonly TokenClaims[], { emailClaim, trustsEmail }: ProviderConfig): string => {
  const isVerified = (claims: TokenClaims): boolean =>
    [true, 'true'].includes(claimOf(claims, `${emailClaim}_verified`) as boolean | string)
  const source = sources.find(claims => textOf(claims, emailClaim) !== '' && (trustsEmail || isVerified(claims)))
  return source ? textOf(source, emailClaim) : ''
}

const namesOf = (sources: readonly TokenClaims[], { firstNameClaim, lastNameClaim }: ProviderConfig): readonly [string, string] => {
  const first = (name: string): string => sources.map(claims => textOf(claims, name)).find(text => text !== '') ?? ''
  const names = [first(firstNameClaim), first(lastNameClaim)] as const
  if (names.some(name => name !== '')) return names
  const whole = first('name').trim()
  const at = whole.lastIndexOf(' ')
  return at < 0 ? ['', whole] : [whole.slice(0, at), whole.slice(at + 1)]
}

/**
 * The identity of a user from one or more sets of claims, the first of which identifies the user. Undefined for users who are not in the
 * groups that may sign in. An unverified email address is ignored.
 */
export const identityOf = (provider: ProviderConfig, sources: readonly TokenClaims[]): VerifiedIdentity | undefined => {
  const subject = textOf(sources[0] ?? {}, 'sub')
  const groups = groupsOf(sources, provider.groupsClaim)
  const mayEnter = provider.onlyGroups.length === 0 || provider.onlyGroups.some(group => groups?.includes(group))
  if (subject === '' || !mayEnter) return undefined
  const email = emailOf(sources, provider)
  const [firstName, lastName] = namesOf(sources, provider)
  return { provider: provider.name, subject, email, isEmailVerified: email !== '', firstName, lastName, ...(groups ? { groups } : {}) }
}
