import { checkMail, type Log, type Mail, type Mailer } from 'pounce/sdk'

/** Where no plugin sends mail: one line in the log, without the text, which may hold a secret link. */
export class LogMailer implements Mailer {
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  async send(mail: Mail): Promise<void> {
    checkMail(mail)
    this.#log.warn('Mail was not sent: no plugin provides mailer', { to: mail.to, subject: mail.subject, characters: mail.text.length })
  }
}
