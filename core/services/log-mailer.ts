import { checkMail, type Mail, type Mailer } from 'pounce/sdk'
import type { KernelLog } from '../kernel/kernel-options.ts'

/** Where no plugin sends mail: a line in the log with all of it, links to sign up included, for whoever runs the server to hand on. */
export class LogMailer implements Mailer {
  readonly #log: Pick<KernelLog, 'warnOpenly'>

  constructor(log: Pick<KernelLog, 'warnOpenly'>) {
    this.#log = log
  }

  async send(mail: Mail): Promise<void> {
    checkMail(mail)
    this.#log.warnOpenly('Mail was not sent: no plugin provides mailer', { to: mail.to, subject: mail.subject, text: mail.text })
  }
}
