import { checkMail, Log, type Mail, type Mailer, wire } from 'pounce/sdk'
import { Config, type SmtpConfig } from './config.ts'
import { SmtpServer } from './smtp-server.ts'

/** Hands messages to the mail server. */
export class SmtpMailer implements Mailer {
  readonly #from: { readonly name: string; readonly address: string }
  readonly #server: SmtpServer
  readonly #log: Log

  constructor({ from = '', fromName }: SmtpConfig, server: SmtpServer, log: Log) {
    this.#from = { name: fromName, address: from }
    this.#server = server
    this.#log = log
  }

  async send(mail: Mail): Promise<void> {
    checkMail(mail)
    const { to, subject, text } = mail
    const { rejected = [] } = await this.#server.call(transport => transport.sendMail({ from: this.#from, to: [...to], subject, text }))
    // Sending again would reach those who have it a second time, and be refused as well.
    if (rejected.length > 0) this.#log.warn('The mail server rejected some recipients of an email', { refused: rejected, subject })
  }
}
wire(SmtpMailer, Config, SmtpServer, Log)
