import type { Caller } from '../model/caller.ts'
import { contributions, port } from '../port.ts'

/** Someone whose identity a provider vouches for. Never a session and never a right. */
export interface VerifiedIdentity {
  /** Which provider: `userpass`, `ldap`, or a configured OIDC name. */
  readonly provider: string
  /** Stable in the provider: the e-mail for local accounts, `sub` for OIDC, the DN for LDAP. */
  readonly subject: string
  readonly email: string
  readonly isEmailVerified: boolean
  readonly firstName: string
  readonly lastName: string
  readonly groups: readonly string[]
}

/** A way to prove who one is. Every method takes as long for an unknown account as for a wrong password. */
export interface AuthProvider {
  readonly id: string
  /** Undefined when this provider does not vouch for them; it never says which part was wrong. */
  password?(email: string, password: string): Promise<VerifiedIdentity | undefined>
  bearer?(token: string): Promise<VerifiedIdentity | undefined>
  /** Where to send the browser, and what to remember until it returns. */
  redirect?(returnTo: string): Promise<{ readonly url: string; readonly state: string }>
  /** The way back. */
  returned?(query: Readonly<Record<string, string>>, state: string): Promise<VerifiedIdentity | undefined>
}
export const AuthProviders = contributions<AuthProvider>('authProviders')

/** What a request brought along to prove who sends it. Each is absent when not sent. */
export interface Credentials {
  readonly session?: string
  readonly basic?: { readonly email: string; readonly password: string }
  readonly bearer?: string
  readonly headerKey?: string
  readonly queryKey?: string
  /** `superAdmin=true` as a query parameter or cookie. */
  readonly wantsSuperAdmin: boolean
  /** The address of the other end, for throttling. */
  readonly address: string
}

/** Turns credentials into a caller, once per request. */
export interface Callers {
  /**
   * Nothing sent: anonymous. Anything wrong, unknown, expired or revoked: `NotSignedIn`, never a silent fall-back to anonymous.
   * Too many wrong tries: `TooMany`. Revocation and suspension count within a second on every kernel.
   */
  identify(credentials: Credentials): Promise<Caller>
}
export const Callers = port<Callers>('callers')

/** API keys that the system itself needs. */
export interface Keys {
  /**
   * The user's `_extraction_key`, made when there is none: what a job message carries so that an extractor can act for the user
   * with scope `extraction`. The same text until the user revokes it. `NotFound` for an unknown user.
   */
  extractionKeyOf(userId: string): Promise<string>
  /** The key that belongs to nobody (`commKey`): what the message of nobody's job carries. Undefined when none is configured. */
  serviceKey(): string | undefined
}
export const Keys = port<Keys>('keys')
