import { type StatusPart, wire } from 'pounce/sdk'
import { Config, type LdapConfig } from './config.ts'
import { Directory } from './directory.ts'

/** Whether the directory answers, for the status page. */
export class LdapStatus implements StatusPart {
  readonly name = 'ldap'
  readonly details: Readonly<Record<string, string>>
  readonly #directory: Directory

  constructor({ url = '', baseDn = '' }: LdapConfig, directory: Directory) {
    this.details = { url, baseDn }
    this.#directory = directory
  }

  async check(): Promise<undefined> {
    await this.#directory.health()
  }
}
wire(LdapStatus, Config, Directory)
