import { randomBytes } from 'node:crypto'
import { CommitConflict, configPort, DocumentStore, port, wire } from 'pounce/sdk'
import { settings } from '../collections.ts'
import { config, type Settings } from '../config.ts'

const id = 'secret'

/** Random text that all kernels of an installation share: configured, or made once and kept with the records. */
export class InstallationSecret {
  #configured: string | undefined
  #documents: DocumentStore
  #value: string | undefined

  constructor({ secret }: Pick<Settings, 'secret'>, documents: DocumentStore) {
    this.#configured = secret
    this.#documents = documents
  }

  async value(): Promise<string> {
    this.#value ??= this.#configured ?? (await this.#stored())
    return this.#value
  }

  async #stored(): Promise<string> {
    const known = await this.#documents.get(settings, id)
    if (known) return known.value
    try {
      const value = randomBytes(32).toString('base64url')
      return (await this.#documents.commit({ insert: { id, value }, into: settings })).value
    } catch (error) {
      if (error instanceof CommitConflict && error.reason === 'exists') return this.#stored()
      throw error
    }
  }
}
wire(InstallationSecret, configPort(config), DocumentStore)

/** Inside this plugin: the secret. */
export const Secret = port<InstallationSecret>('users.secret')
