import type { Mailer } from '../ports/kernel.ts'
import { checkMail, type Mail } from '../ports/mail.ts'

/** A mailer that records mails instead of sending them: `overrides: { [Mailer]: mailer }`. */
export class MemoryMailer implements Mailer {
  /** Oldest first. */
  readonly sent: Mail[] = []

  async send(mail: Mail): Promise<void> {
    checkMail(mail)
    this.sent.push(structuredClone(mail))
  }
}
