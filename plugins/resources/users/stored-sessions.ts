import {
  Clock,
  CommitConflict,
  configPort,
  DocumentStore,
  Installation,
  Log,
  port,
  range,
  removeFound,
  type Stored,
  type UserRecord,
  wire,
} from 'pounce/sdk'
import { type SessionRecord, sessions } from './collections.ts'
import { config, type Settings } from './config.ts'
import { idOfHash, isSameDigest, newToken, sha256 } from './secrets.ts'
import { type StoredTries, Tries } from './stored-tries.ts'

type User = UserRecord & Stored
const dayMs = 86_400_000
const cookieName = 'pounce_session'

/** Ties a session to the password it began with. */
const stampOf = (user: User): string => sha256(`${user.id}\n${user.passwordHash ?? ''}`).slice(0, 32)

/** Browsers that are signed in. */
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

  /** Begins a session; its token goes into a cookie and nowhere else. */
  async open(user: User): Promise<string> {
    const token = newToken()
    const hash = sha256(token)
    const now = this.#clock.now()
    const created = now.toISOString()
    const expires = new Date(now.getTime() + Math.min(this.#idleMs, this.#maxMs)).toISOString()
    await this.#documents.commit({
      insert: { id: idOfHash(hash), user: user.id, hash, stamp: stampOf(user), created, extended: created, expires },
      into: sessions,
    })
    return token
  }

  /** The id of the user who is signed in with this token, and what must fit the account; undefined when the session has ended. */
  async find(token: string): Promise<(SessionRecord & Stored) | undefined> {
    const hash = sha256(token)
    const session = await this.#documents.get(sessions, idOfHash(hash))
    if (!session || !isSameDigest(session.hash, hash) || this.#isOver(session)) return undefined
    await this.#extend(session)
    return session
  }

  /** False once the password is another one than when the session began. */
  fits(session: SessionRecord, user: User): boolean {
    return isSameDigest(session.stamp, stampOf(user))
  }

  /** Ends a session. An unknown token is no error. */
  async close(token: string): Promise<void> {
    try {
      await this.#documents.commit({ tombstone: idOfHash(sha256(token)), in: sessions })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  /** Removes sessions that are over. */
  async sweep(signal: AbortSignal): Promise<void> {
    const now = this.#clock.now().toISOString()
    await removeFound(this.#documents, sessions, { using: 'byExpiry', where: range('expires', { lte: now }), signal })
  }

  /** The value of the `Set-Cookie` header that hands out a token, or takes it back. */
  cookie(token: string | undefined): string {
    const value = token === undefined ? `${cookieName}=; Max-Age=0` : `${cookieName}=${token}; Max-Age=${Math.floor(this.#maxMs / 1000)}`
    return `${value}; Path=/; HttpOnly; SameSite=Lax${this.#installation.baseUrl.startsWith('https:') ? '; Secure' : ''}`
  }

  /** The token in a `Cookie` header. */
  tokenIn(cookies: string | undefined): string | undefined {
    return cookies?.match(/(?:^|;)\s*pounce_session="?([\w-]+)"?\s*(?:;|$)/)?.[1]
  }

  #isOver(session: SessionRecord): boolean {
    return this.#clock.now().toISOString() >= session.expires
  }

  /** Once a day at most. A session in use is worth more than the note, so a failure only shortens it. */
  async #extend(session: SessionRecord & Stored): Promise<void> {
    const now = this.#clock.now()
    if (now.getTime() - Date.parse(session.extended) < dayMs) return
    const expires = new Date(Math.min(now.getTime() + this.#idleMs, Date.parse(session.created) + this.#maxMs)).toISOString()
    try {
      await this.#documents.commit({ update: session.id, in: sessions, set: { extended: now.toISOString(), expires } })
    } catch (error) {
      if (!(error instanceof CommitConflict)) this.#log.warn('a session was not extended', { user: session.user, error })
    }
  }
}
wire(StoredSessions, configPort(config), DocumentStore, Clock, Installation, Log)

/** Inside this plugin: the sessions. */
export const Sessions = port<StoredSessions>('users.sessions')

/** Removes sessions and counted tries that are over, now and then. */
export class SweepSessions {
  #sessions: StoredSessions
  #tries: StoredTries

  constructor(stored: StoredSessions, tries: StoredTries) {
    this.#sessions = stored
    this.#tries = tries
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#sessions.sweep(signal)
    await this.#tries.sweep(signal)
  }
}
wire(SweepSessions, Sessions, Tries)
