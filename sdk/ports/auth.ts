import type { Caller } from '../model/caller.ts'
import { contributions, port } from '../port.ts'

/** Someone whose identity a provider vouches for. Never a session and never a right. */
export interface VerifiedIdentity {
  /** Which provider: `userpass`, `ldap`, or a configured OIDC name. */
  readonly provider: string
  /** Stable in the provider: the e-mail for local accounts, `sub` for OIDC, the DN for LDAP. */
  readonly subject: string
  /** Empty when the provider names none, or none that counts: then only an account that is known already is opened. */
  readonly email: string
  readonly isEmailVerified: boolean
  readonly firstName: string
  readonly lastName: string
  /** Absent where the provider says nothing of groups, which is not the same as none. */
  readonly groups?: readonly string[]
}

/** A site to which browsers are sent to sign in there. */
export interface SignInSite {
  /** What its identities name as `provider`, and a part of the path: lower-case letters, digits and dashes. */
  readonly id: string
  /** What people read on the button. */
  readonly label: string
  /**
   * Where to send the browser, which shall come back to `callback`, and what this browser alone must remember, in secret, until it does.
   * Rejects with `Unavailable` while the site is away.
   */
  redirect(callback: string): Promise<{ readonly url: string; readonly kept: string }>
  /**
   * Who came back. `address` is the callback with the query that the browser brought; `kept` as given out for it. Undefined for whatever the site does
   * not vouch for now: broken off, forged, used up, of another browser, not in the groups that may come in.
   */
  returned(address: URL, kept: string): Promise<VerifiedIdentity | undefined>
}

/** A way to prove who one is, or several. Every method takes as long for an unknown account as for a wrong password. */
export interface AuthProvider {
  readonly id: string
  /** What people read who can choose; the id unless given. */
  readonly label?: string
  /** Undefined when this provider does not vouch for them; it never says which part was wrong. */
  password?(email: string, password: string): Promise<VerifiedIdentity | undefined>
  bearer?(token: string): Promise<VerifiedIdentity | undefined>
  readonly sites?: readonly SignInSite[]
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

/** Counts who knocks at a door where no password is shown, for all kernels together. */
export interface Knocks {
  /**
   * Counts one knock, right or wrong; `TooMany`, with the time to wait, beyond so many in 15 minutes for one e-mail address or from one network.
   * Takes as long for an address that nobody has.
   */
  knock(
    door: string,
    who: { readonly email?: string; readonly address: string },
    limits: { readonly perEmail?: number; readonly perNetwork: number },
  ): Promise<void>
}
export const Knocks = port<Knocks>('knocks')

/** A way to sign up, for people who are written to before they have an account. */
export interface SignUpWay {
  /** The address at which the owner of a mailbox makes an account, once, for some days; undefined where nobody signs up by themselves. */
  linkFor(email: string, days: number): Promise<string | undefined>
}
export const SignUpWays = contributions<SignUpWay>('signUpWays')
