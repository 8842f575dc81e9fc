import type { IncomingHttpHeaders } from 'node:http'
import {
  type After,
  and,
  Clock,
  CommitConflict,
  configPort,
  DocumentStore,
  eq,
  event,
  Installation,
  Log,
  type NewEvent,
  NotSignedIn,
  ne,
  type Page,
  range,
  type Stored,
  type StoredEvent,
  type Time,
  type UserRecord,
  wire,
} from 'pounce/sdk'
import { cookieIn, cookieName, networkOf, removeFound, requireDone, sessionCookie, setCookie } from 'pounce/sdk/kit'
import { type SessionRecord, type SignInMethod, sessions, users } from '../collections.ts'
import { config, type Settings } from '../config.ts'
import { idOfHash, isSameDigest, newToken, sha256 } from '../keys/installation-secret.ts'

type User = UserRecord & Stored
type Session = SessionRecord & Stored
const dayMs = 86_400_000
const touchEveryMs = 60_000
const maxUserAgent = 200
/** Maximum number of sessions of an account; a further one ends the oldest. */
const maxSessions = 1000
/** Maximum number of sessions that a sign-in ends, if there are more than `maxSessions`. */
const maxEnded = 200

/** Binds a session to the password at its start. */
export const stampOf = (user: User): string => sha256(`${user.id}\n${user.passwordHash ?? ''}`).slice(0, 32)

/** The part of an address that its owner recognizes: the first three numbers, or a /64. */
const shortened = (address: string): string => networkOf(address).replace(/\.\d+$/, '.0/24')

const ended = (id: string, user: string, actor: string): NewEvent =>
  event('session.ended', { kind: 'user', id: user }, { session: id }, actor)

/** Sessions of signed-in browsers. */
export class StoredSessions {
  #idleMs: number
  #maxMs: number
  #documents: DocumentStore
  #clock: Clock
  #installation: Installation
  #log: Log

  constructor({ sessionIdleDays, sessionMaxDays }: Settings, documents: DocumentStore, clock: Clock, installation: Installation, log: Log) {
    this.#idleMs = sessionIdleDays * dayMs
    this.#maxMs = sessionMaxDays * dayMs
    this.#documents = documents
    this.#clock = clock
    this.#installation = installation
    this.#log = log
  }

  /**
   * Begins a session, and ends the one that was open in this browser, and the oldest ones beyond the maximum. Returns the value of the `Set-Cookie` header with the token: it is
   * always generated here, and stored nowhere else.
   */
  async begin(
    user: User,
    { headers, address }: { readonly headers: IncomingHttpHeaders; readonly address: string },
    methods: readonly SignInMethod[],
    identity?: string,
  ): Promise<string> {
    const before = this.tokenIn(headers.cookie)
    if (before !== undefined) await this.close(before)
    const token = newToken()
    const hash = sha256(token)
    const now = this.#clock.now()
    const created = now.toISOString()
    const expires = new Date(now.getTime() + Math.min(this.#idleMs, this.#maxMs)).toISOString()
    const session: SessionRecord = {
      user: user.id,
      hash,
      stamp: stampOf(user),
      created,
      extended: created,
      expires,
      lastUsed: created,
      network: shortened(address),
      userAgent: (headers['user-agent'] ?? '').replace(/[^\u0020-\u007e]/g, '?').slice(0, maxUserAgent),
      authenticated: created,
      methods,
      ...(identity === undefined ? {} : { identity }),
    }
    await this.#documents.commit({ insert: { id: idOfHash(hash), ...session }, into: sessions })
    await this.#endOldest(user.id)
    return this.cookie(token)
  }

  async #endOldest(user: string): Promise<void> {
    const ofUser = { using: 'byUser', where: eq('user', user) } as const
    const excess = (await this.#documents.count(sessions, { ...ofUser, upTo: maxSessions + maxEnded })) - maxSessions
    if (excess <= 0) return
    const { items } = await this.#documents.find(sessions, { ...ofUser, sort: { by: 'created', order: 'ascending' }, limit: excess })
    const ends = items.map(({ id }) => ({ change: { tombstone: id, in: sessions }, events: [ended(id, user, user)] }))
    requireDone(await this.#documents.commitEach(ends))
  }

  /** Records that the owner of a session has reauthenticated; returns the time. */
  async reauthenticated({ id }: Session, methods: readonly SignInMethod[]): Promise<string> {
    const authenticated = this.#clock.now().toISOString()
    try {
      await this.#documents.commit({ update: id, in: sessions, set: { authenticated, methods } })
    } catch (error) {
      throw error instanceof CommitConflict ? new NotSignedIn('The session has ended; sign in again', { cause: error }) : error
    }
    return authenticated
  }

  /** The session that a request belongs to. */
  async current(cookies: string | undefined): Promise<Session | undefined> {
    const token = this.tokenIn(cookies)
    return token === undefined ? undefined : this.find(token)
  }

  /** The open sessions of a user, newest first. Ended ones are kept until they expire, so a page can be shorter than its limit. */
  async of(user: User, page: { readonly after?: After; readonly limit: number }): Promise<Page<Session>> {
    const found = await this.#documents.find(sessions, {
      using: 'byUser',
      where: eq('user', user.id),
      sort: { by: 'created', order: 'descending' },
      ...page,
    })
    return { ...found, items: found.items.filter(session => !this.#isOver(session) && this.fits(session, user)) }
  }

  /** Ends one session of a user. False when they have none with this id. */
  async revoke(user: string, id: string, actor: string): Promise<boolean> {
    try {
      await this.#documents.commit({ tombstone: id, in: sessions, where: eq('user', user) }, [ended(id, user, actor)])
      return true
    } catch (error) {
      if (error instanceof CommitConflict) return false
      throw error
    }
  }

  /** Ends all sessions of a user, except the one with the id `except`, and the keys of their jobs. */
  async revokeAll(user: string, actor: string, except?: string): Promise<void> {
    await this.#documents.commit({ update: user, in: users, set: { signedOutAt: this.#clock.now().toISOString() } })
    const others = except === undefined ? [] : [ne('id', except)]
    await removeFound(this.#documents, sessions, {
      using: 'byUser',
      where: and(eq('user', user), ...others),
      events: ({ id }) => [ended(id, user, actor)],
    })
  }

  /** Ends the sessions of a user that had begun by `begunBy`. */
  async endBegunBy(user: string, begunBy: Time, actor = user): Promise<void> {
    await removeFound(this.#documents, sessions, {
      using: 'byUser',
      where: and(eq('user', user), range('created', { lte: begunBy })),
      events: ({ id }) => [ended(id, user, actor)],
    })
  }

  /** The id of the session of a request, whether or not it is still open. */
  idIn(cookies: string | undefined): string | undefined {
    const token = this.tokenIn(cookies)
    return token === undefined ? undefined : idOfHash(sha256(token))
  }

  /** The session of a token, to be checked against the account; undefined when it has expired. */
  async find(token: string): Promise<Session | undefined> {
    const hash = sha256(token)
    const session = await this.#documents.get(sessions, idOfHash(hash))
    if (!session || !isSameDigest(session.hash, hash) || this.#isOver(session)) return undefined
    await this.#noteUse(session)
    return session
  }

  /** True for an open session of the account in its current state. */
  async isOpen(id: string, user: User): Promise<boolean> {
    const session = await this.#documents.get(sessions, id)
    return session?.user === user.id && !this.#isOver(session) && this.fits(session, user)
  }

  /** False once the password has changed since the session began. */
  fits(session: SessionRecord, user: User): boolean {
    return isSameDigest(session.stamp, stampOf(user))
  }

  /** Ends a session. An unknown token is not an error. */
  async close(token: string): Promise<void> {
    const session = await this.#documents.get(sessions, idOfHash(sha256(token)))
    if (!session) return
    const { id, user } = session
    try {
      await this.#documents.commit({ tombstone: id, in: sessions }, [event('user.signed-out', { kind: 'user', id: user }, {}, user)])
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  /** Deletes expired sessions. */
  async sweep(signal: AbortSignal): Promise<void> {
    const now = this.#clock.now().toISOString()
    await removeFound(this.#documents, sessions, { using: 'byExpiry', where: range('expires', { lte: now }), signal })
  }

  /** The value of the `Set-Cookie` header that sets or clears a token. */
  cookie(token: string | undefined): string {
    const maxAgeSeconds = token === undefined ? 0 : this.#maxMs / 1000
    return setCookie(sessionCookie, token ?? '', { maxAgeSeconds, baseUrl: this.#installation.baseUrl })
  }

  /** The token in a `Cookie` header. */
  tokenIn(cookies: string | undefined): string | undefined {
    return cookieIn(cookies, cookieName(sessionCookie, this.#installation.baseUrl))
  }

  #isOver(session: SessionRecord): boolean {
    return this.#clock.now().toISOString() >= session.expires
  }

  /** At most once a minute; once a day it extends the session. A failure must not end a session in use, so it only fails to extend it. */
  async #noteUse(session: Session): Promise<void> {
    const now = this.#clock.now()
    const used = session.lastUsed ?? session.created
    if (now.getTime() - Date.parse(used) < touchEveryMs) return
    const lastUsed = now.toISOString()
    const end = Math.min(now.getTime() + this.#idleMs, Date.parse(session.created) + this.#maxMs)
    const isDue = now.getTime() - Date.parse(session.extended) >= dayMs
    const longer = isDue ? { extended: lastUsed, expires: new Date(end).toISOString() } : {}
    try {
      const where = session.lastUsed === undefined ? eq('extended', session.extended) : eq('lastUsed', session.lastUsed)
      await this.#documents.commit({ update: session.id, in: sessions, where, set: { lastUsed, ...longer } })
    } catch (error) {
      if (!(error instanceof CommitConflict)) this.#log.warn('Failed to record the use of a session', { user: session.user, error })
    }
  }
}
wire(StoredSessions, configPort(config), DocumentStore, Clock, Installation, Log)

/** Ends the sessions of an account that is suspended: they are not resumed when it is activated again. */
export class EndSessionsOnUserUpdated {
  readonly #sessions: StoredSessions

  constructor(sessions: StoredSessions) {
    this.#sessions = sessions
  }

  async handle({ subject, actor, at, data: { status } }: StoredEvent<'user.updated'>): Promise<void> {
    if (status === 'Inactive') await this.#sessions.endBegunBy(subject.id, at, actor)
  }
}
wire(EndSessionsOnUserUpdated, StoredSessions)
