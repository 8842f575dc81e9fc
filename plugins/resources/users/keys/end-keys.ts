import { type StoredEvent, wire } from 'pounce/sdk'
import { type Keyring, KeyStore } from './keyring.ts'

/** Whoever changes a password may have all keys of the account end with it: those that were there by then. */
export class EndKeys {
  #keys: Keyring

  constructor(keys: Keyring) {
    this.#keys = keys
  }

  async handle({ subject, actor, at, data: { fields } }: StoredEvent<'user.updated'>): Promise<void> {
    if (fields.includes('keys')) await this.#keys.revokeAll(subject.id, at, actor)
  }
}
wire(EndKeys, KeyStore)
