import { type StatusPart, wire } from 'pounce/sdk'
import { Config, type SmtpConfig } from './config.ts'
import { SmtpServer } from './smtp-server.ts'

/** Whether the mail server answers, for the status page. */
export class SmtpStatus implements StatusPart {
  readonly name = 'mail'
  readonly details: Readonly<Record<string, string>>
  readonly #server: SmtpServer

  constructor({ host = '', from = '' }: SmtpConfig, server: SmtpServer) {
    this.details = { host, from }
    this.#server = server
  }

  async check(): Promise<undefined> {
    await this.#server.health()
  }
}
wire(SmtpStatus, Config, SmtpServer)
