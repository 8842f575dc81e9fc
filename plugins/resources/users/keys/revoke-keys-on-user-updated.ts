import { type StoredEvent, wire } from 'pounce/sdk'
import { ApiKeys } from './api-keys.ts'

/** Whoever changes a password may have all keys of the account end with it: those that were there by then. */
export class RevokeKeysOnUserUpdated {
  #keys: ApiKeys

  constructor(keys: ApiKeys) {
    this.#keys = keys
  }

  async handle({ subject, actor, at, data: { fields } }: StoredEvent<'user.updated'>): Promise<void> {
    if (fields.includes('keys')) await this.#keys.revokeAll(subject.id, at, actor)
  }
}
wire(RevokeKeysOnUserUpdated, ApiKeys)
