import { wire } from 'pounce/sdk'
import { type Keyring, KeyStore } from '../keys/keyring.ts'
import { Sessions, type StoredSessions } from './stored-sessions.ts'
import { type StoredTries, Tries } from './stored-tries.ts'

/** Removes sessions, counted tries and keys that are over, now and then. */
export class SweepSessions {
  #sessions: StoredSessions
  #tries: StoredTries
  #keys: Keyring

  constructor(sessions: StoredSessions, tries: StoredTries, keys: Keyring) {
    this.#sessions = sessions
    this.#tries = tries
    this.#keys = keys
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#sessions.sweep(signal)
    await this.#tries.sweep(signal)
    await this.#keys.sweep(signal)
  }
}
wire(SweepSessions, Sessions, Tries, KeyStore)
