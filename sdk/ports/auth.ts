import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../model/caller.ts'
import type { Ref } from '../model/kind.ts'
import { contributions, port } from '../port.ts'
import type { Job } from './transport.ts'

/** Someone whose identity a provider vouches for. Never a session and never a right. */
export interface VerifiedIdentity {
  /** Which provider: `userpass`, `ldap`, or a configured OIDC name. */
  readonly provider: string
  /** Stable in the provider: the e-mail for local accounts, `sub` for OIDC, the DN for LDAP. */
  readonly subject: string
  /** Empty when the provider names none, or none that is verified: then only an existing account can be signed in to. */
  readonly email: string
  readonly isEmailVerified: boolean
  readonly firstName: string
  readonly lastName: string
  /** Absent where the provider does not report groups, which is not the same as none. */
  readonly groups?: readonly string[]
}

/** A site to which browsers are redirected to sign in. */
export interface SignInSite {
  /** What its identities name as `provider`, and a part of the path: lower-case letters, digits and dashes. */
  readonly id: string
  /** The label of the button. */
  readonly label: string
  /**
   * Where to send the browser, which shall come back to `callback`, and the secret state that this browser keeps until then.
   * Rejects with `Unavailable` while the site is unavailable.
   */
  redirect(callback: string): Promise<{ readonly url: string; readonly kept: string }>
  /**
   * The identity that returned. `address` is the callback with the query that the browser brought; `kept` as given out for it. Undefined for whatever the site does
   * not vouch for now: broken off, forged, used up, of another browser, not in the groups that may come in.
   */
  returned(address: URL, kept: string): Promise<VerifiedIdentity | undefined>
}

/** One or more ways to authenticate. Every method takes equally long for an unknown account and a wrong password. */
export interface AuthProvider {
  readonly id: string
  /** The label shown to users; the id by default. */
  readonly label?: string
  /** Undefined when the credentials are not valid; it never reveals which part was wrong. */
  password?(email: string, password: string): Promise<VerifiedIdentity | undefined>
  bearer?(token: string): Promise<VerifiedIdentity | undefined>
  /**
   * For reverse proxies that sign people in, such as Shibboleth or oauth2-proxy: the person whom the headers of a request name, and the address of the client. Called
   * only for requests of peers that `http.trustedProxies` lists, and for each of them, so it must be fast. Undefined when the proxy names no one;
   * throws `WrongCredentials` for headers that do not prove whom they name, which is counted.
   */
  request?(headers: IncomingHttpHeaders, address: string): Promise<VerifiedIdentity | undefined>
  readonly sites?: readonly SignInSite[]
}
/** Plugins that sign people in. */
export const AuthProviders = contributions<AuthProvider>('authProviders')

/** The credentials of a request. Each is absent when not sent. */
export interface Credentials {
  readonly session?: string
  readonly basic?: { readonly email: string; readonly password: string }
  readonly bearer?: string
  readonly headerKey?: string
  readonly queryKey?: string
  /** All headers of a request that a listed proxy sent on, for `AuthProvider.request`. */
  readonly proxied?: IncomingHttpHeaders
  /** `superAdmin=true` as a query parameter or cookie. */
  readonly wantsSuperAdmin: boolean
  /** The address of the client, for throttling. */
  readonly address: string
}

/** Turns credentials into a caller, once per request. */
export interface Callers {
  /**
   * The first valid one, in the order session, Basic, X-API-Key, `key`, Bearer, headers of a proxy. Nothing sent: anonymous. None is valid: `WrongCredentials`,
   * `SecondFactorRequired`, or `TooMany` after too many wrong tries, each of which is counted, also beside a right one. A right one of an account that
   * may not be used: `NotSignedIn`. Revocation and suspension count within a second on every kernel.
   */
  identify(credentials: Credentials): Promise<Caller>
}
export const Callers = port<Callers>('callers')

/** Keys in the messages of jobs, by which an extractor acts for the user on the job's target. */
export interface Keys {
  /**
   * A key for this job alone: signed, not stored, safe in a URL. It reaches the job's target and the dataset that the message names, with the rights of
   * the user at the time of use, until it expires or the job has ended. `NotFound` for an unknown user; undefined for no one's job
   * where no service key (`commKey`) is configured.
   */
  jobKey(job: Pick<Job, 'id' | 'target' | 'user' | 'message'>): Promise<string | undefined>
  /** True of a key in a waiting message that has expired, or is none of a job: one that was sent before jobs had keys. */
  isOutdated(key: string): boolean
}
export const Keys = port<Keys>('keys')

/** The current state of a job, for its key. */
export interface JobFacts {
  readonly target: Ref
  /** In whose name it runs; null for no one's. */
  readonly user: string | null
  /** `ExtractorInfo.name`. */
  readonly extractor: string
  /** `ended`: done or failed. A failed job that is submitted again is `open` again. */
  readonly state: 'open' | 'ended' | 'cancelled'
  /** When this server received the end. */
  readonly endedAt?: Date
  /** No key of it is valid from then on, whatever expiry the key itself names. */
  readonly keysUntil?: Date
}

/** The records of jobs, one read each: contributed by the plugin that keeps them. */
export interface JobRecords {
  /** Undefined for a job that is not known, or not any more. */
  factsOf(jobId: string): Promise<JobFacts | undefined>
}
export const JobRecords = contributions<JobRecords>('jobRecords')

/** The credential that something was created with, so that it can end with it. Contains no secret. */
export interface CredentialRef {
  readonly user: string
  /** Id of the API key. */
  readonly key?: string
  /** Id of the session. */
  readonly session?: string
  /** Fits the password that the account had then. */
  readonly stamp: string
  /** Made in superadmin mode: counts while the account is a server admin. */
  readonly superAdmin: boolean
}

/** References to credentials, for what acts on behalf of a user later and ends with the credential it was created with. */
export interface CredentialRefs {
  /** Of the caller; `NotSignedIn` for an anonymous one. */
  of(caller: Caller): Promise<CredentialRef>
  /**
   * The rights of the credential now. Undefined once the key or session has ended, the password is another one, or the account may not be used. Read
   * again each time, so that it holds for every kernel.
   */
  callerOf(ref: CredentialRef): Promise<Caller | undefined>
}
export const CredentialRefs = port<CredentialRefs>('credentialRefs')

/** Encrypts short secrets at rest with keys derived from the secret of the installation: any kernel opens what another one sealed. */
export interface SecretEncryption {
  /** `context` is not part of the result and must be the same when it is opened: what was sealed for one account is of no use to another. */
  seal(purpose: string, context: string, text: string): Promise<string>
  /** Undefined for what was not sealed here, or for another purpose or context. */
  open(purpose: string, context: string, sealed: string): Promise<string | undefined>
}
export const SecretEncryption = port<SecretEncryption>('secretEncryption')

/** Limits attempts that involve no password, such as mail links, for all kernels together. */
export interface RateLimiter {
  /**
   * Counts one attempt, successful or not; `TooMany`, with the time to wait, beyond so many in 15 minutes for one e-mail address or from one network.
   * Takes equally long for an unknown address.
   */
  consume(
    action: string,
    who: { readonly email?: string; readonly address: string },
    limits: { readonly perEmail?: number; readonly perNetwork: number },
  ): Promise<void>
}
export const RateLimiter = port<RateLimiter>('rateLimiter')

/** A way to sign up, for people who are mailed before they have an account. */
export interface SignUpWay {
  /** The single-use URL at which the owner of a mailbox creates an account, valid for some days; undefined where sign-up is disabled. */
  linkFor(email: string, days: number): Promise<string | undefined>
}
/** Plugins through which new accounts are created. */
export const SignUpWays = contributions<SignUpWay>('signUpWays')
