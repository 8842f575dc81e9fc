import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../model/caller.ts'
import type { Ref } from '../model/kind.ts'
import { contributions, port } from '../port.ts'
import type { Job } from './transport.ts'

/** An identity confirmed by a provider. Never a session or a permission. */
export interface VerifiedIdentity {
  /** The provider: `userpass`, `ldap`, or the configured name of an OIDC provider. */
  readonly provider: string
  /** Stable within the provider: the email for local accounts, `sub` for OIDC, the DN for LDAP. */
  readonly subject: string
  /** Empty if the provider supplies no verified address; then only an existing account can sign in. */
  readonly email: string
  readonly isEmailVerified: boolean
  readonly firstName: string
  readonly lastName: string
  /** Absent if the provider does not report groups, as opposed to an empty list. */
  readonly groups?: readonly string[]
}

/** An external site where users sign in through a redirect. */
export interface SignInSite {
  /** The `provider` of its identities, and a path segment: lower-case letters, digits and dashes. */
  readonly id: string
  /** The label of the button. */
  readonly label: string
  /**
   * The URL to redirect the browser to, which returns it to `callback`, and the secret state to keep in this browser until then. Rejects with `Unavailable`
   * while the site is unreachable.
   */
  redirect(callback: string): Promise<{ readonly url: string; readonly kept: string }>
  /**
   * The identity of the returning user. `address` is the callback URL with the received query; `kept` is the state from `redirect`. Undefined for anything the
   * site does not confirm: sign-in cancelled, forged, already used, from another browser, or not in an admitted group.
   */
  returned(address: URL, kept: string): Promise<VerifiedIdentity | undefined>
}

/** One or more ways to authenticate. Each takes equally long for an unknown account and a wrong password. */
export interface AuthProvider {
  readonly id: string
  /** The label shown to users; the id by default. */
  readonly label?: string
  /** Undefined for invalid credentials, without revealing which part was wrong. */
  password?(email: string, password: string): Promise<VerifiedIdentity | undefined>
  bearer?(token: string): Promise<VerifiedIdentity | undefined>
  /**
   * For reverse proxies that authenticate users, such as Shibboleth or oauth2-proxy: returns the user named by the request headers; `address` is the client's
   * address. Called for every request from a peer in `http.trustedProxies`, and for no others, so it must be fast. Undefined when the headers name no user;
   * throws `WrongCredentials`, which counts as a failed attempt, for headers that do not prove the user.
   */
  request?(headers: IncomingHttpHeaders, address: string): Promise<VerifiedIdentity | undefined>
  readonly sites?: readonly SignInSite[]
}
/** Plugins that authenticate users. */
export const AuthProviders = contributions<AuthProvider>('authProviders')

/** The credentials of a request. Each is absent when not sent. */
export interface Credentials {
  readonly session?: string
  readonly basic?: { readonly email: string; readonly password: string }
  readonly bearer?: string
  readonly headerKey?: string
  readonly queryKey?: string
  /** All headers of a request forwarded by a trusted proxy, for `AuthProvider.request`. */
  readonly proxied?: IncomingHttpHeaders
  /** `superAdmin=true` as a query parameter or cookie. */
  readonly wantsSuperAdmin: boolean
  /** The client's address, for throttling. */
  readonly address: string
}

/** Resolves the caller from the credentials, once per request. */
export interface Callers {
  /**
   * Uses the first valid credential, in the order session, Basic, X-API-Key, `key`, Bearer, proxy headers. Without credentials: anonymous. Without a valid one:
   * `WrongCredentials`, `SecondFactorRequired`, or `TooMany` after too many failed attempts; each wrong credential is counted, even next to a valid one. A
   * valid credential of an account that may not be used: `NotSignedIn`. Revocation and suspension take effect within a second on every kernel.
   */
  identify(credentials: Credentials): Promise<Caller>
}
export const Callers = port<Callers>('callers')

/** Keys in job messages, with which an extractor acts for the user on the job's target. */
export interface Keys {
  /**
   * A key for this job only: signed, not stored, safe in a URL. It is valid for the job's target and the dataset in the message, with the user's rights at the
   * time of use, until it expires or the job ends. `NotFound` for an unknown user; undefined for a job without user if no service key (`commKey`) is
   * configured.
   */
  jobKey(job: Pick<Job, 'id' | 'target' | 'user' | 'message'>): Promise<string | undefined>
  /** True for a key in a waiting message that has expired or is not a job key, because it was sent before jobs had keys. */
  isOutdated(key: string): boolean
}
export const Keys = port<Keys>('keys')

/** The current state of a job, for its key. */
export interface JobDetails {
  readonly target: Ref
  /** The user it runs for; null for none. */
  readonly user: string | null
  /** `ExtractorInfo.name`. */
  readonly extractor: string
  /** `ended`: done or failed. Resubmitting a failed job makes it `open` again. */
  readonly state: 'open' | 'ended' | 'cancelled'
  /** When this server received the end. */
  readonly endedAt?: Date
  /** All keys of the job are invalid after this time, whatever their own expiry. */
  readonly keysUntil?: Date
}

/** Access to job records, one read each; contributed by the plugin that stores them. */
export interface JobRecords {
  /** Undefined for an unknown or deleted job. */
  details(jobId: string): Promise<JobDetails | undefined>
}
export const JobRecords = contributions<JobRecords>('jobRecords')

/** Refers to the credential that something was created with, so that both can end together. Contains no secret. */
export interface CredentialRef {
  readonly user: string
  /** Id of the API key. */
  readonly key?: string
  /** Id of the session. */
  readonly session?: string
  /** Changes with the account's password. */
  readonly stamp: string
  /** Created in superadmin mode, which applies while the account is a server admin. */
  readonly superAdmin: boolean
}

/** References to credentials, for things that later act on behalf of a user and end with the credential they were created with. */
export interface CredentialRefs {
  /** The credential of the caller; `NotSignedIn` for anonymous callers. */
  of(caller: Caller): Promise<CredentialRef>
  /**
   * The current rights of the credential. Undefined once the key or session has ended, the password was changed, or the account may not be used. Read on every
   * call, so that it is up to date on every kernel.
   */
  callerOf(ref: CredentialRef): Promise<Caller | undefined>
}
export const CredentialRefs = port<CredentialRefs>('credentialRefs')

/** Encrypts short secrets at rest with keys derived from the installation's secret; any kernel can decrypt them. */
export interface SecretEncryption {
  /** `context` is not part of the result and must be the same in `open`: a secret sealed for one account cannot be used for another. */
  seal(purpose: string, context: string, text: string): Promise<string>
  /** Undefined for text that was not sealed here, or for another purpose or context. */
  open(purpose: string, context: string, sealed: string): Promise<string | undefined>
}
export const SecretEncryption = port<SecretEncryption>('secretEncryption')

/** Limits attempts without a password, such as requests for mail links, across all kernels. */
export interface RateLimiter {
  /**
   * Counts an attempt, successful or not; throws `TooMany` with the time to wait above the limit per 15 minutes for an email address or a network. Takes
   * equally long for an unknown address.
   */
  consume(
    action: string,
    who: { readonly email?: string; readonly address: string },
    limits: { readonly perEmail?: number; readonly perNetwork: number },
  ): Promise<void>
}
export const RateLimiter = port<RateLimiter>('rateLimiter')

/** A way to sign up, for people who get a mail before they have an account. */
export interface SignUpWay {
  /** A single-use URL for the owner of a mailbox to create an account, valid for the given days; undefined if sign-up is disabled. */
  linkFor(email: string, days: number): Promise<string | undefined>
}
/** Plugins that offer sign-up. */
export const SignUpWays = contributions<SignUpWay>('signUpWays')
