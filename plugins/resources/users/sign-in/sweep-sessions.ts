import { wire } from 'pounce/sdk'
import { ApiKeys } from '../keys/api-keys.ts'
import { IdentityLinks } from './identity-links.ts'
import { LoginAttempts } from './login-attempts.ts'
import { StoredSessions } from './stored-sessions.ts'

/** Removes sessions, counted tries, keys and pending links that are over, now and then. */
export class SweepSessions {
  #sessions: StoredSessions
  #tries: LoginAttempts
  #keys: ApiKeys
  #links: IdentityLinks

  constructor(sessions: StoredSessions, tries: LoginAttempts, keys: ApiKeys, links: IdentityLinks) {
    this.#sessions = sessions
    this.#tries = tries
    this.#keys = keys
    this.#links = links
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#sessions.sweep(signal)
    await this.#tries.sweep(signal)
    await this.#keys.sweep(signal)
    await this.#links.sweep(signal)
  }
}
wire(SweepSessions, StoredSessions, LoginAttempts, ApiKeys, IdentityLinks)
