import type { Log, Mailer } from './ports/kernel.ts'
import type { Mail } from './ports/mail.ts'
import { Problem } from './problem.ts'

/** An email to one user. */
export interface IndividualMail extends Omit<Mail, 'to'> {
  readonly user: { readonly id: string; readonly email: string }
}

/** Failures in a row after which the mail server counts as unavailable. */
const maxFailures = 3
/** Maximum number of events whose recipients are remembered. */
const maxEvents = 1000

/**
 * Sends the emails of an event, one to each user. A refused one is logged; after another failure the others are still sent, and when the event is handled
 * again by this server, only the rest. At most one for a user and event.
 */
export class IndividualMails {
  readonly #mailer: Mailer
  readonly #log: Log
  /** Users who were sent the email of an event that is going to be handled again. */
  readonly #sent = new Map<string, Set<string>>()

  constructor(mailer: Mailer, log: Log) {
    this.#mailer = mailer
    this.#log = log
  }

  /** Throws the first failure that a retry could resolve. */
  async send(event: string, mails: readonly IndividualMail[]): Promise<void> {
    const sent = this.#sentOf(event)
    const failures: unknown[] = []
    let inARow = 0
    for (const { user, subject, text } of mails) {
      if (sent.has(user.id)) continue
      if (inARow === maxFailures) break
      try {
        await this.#mailer.send({ to: [user.email], subject, text })
        inARow = 0
      } catch (error) {
        if (!isUndeliverable(error)) {
          failures.push(error)
          inARow += 1
          continue
        }
        this.#log.warn('Failed to send an email', { user: user.id, subject, error })
      }
      sent.add(user.id)
    }
    if (failures.length > 0) throw failures[0]
    this.#sent.delete(event)
  }

  #sentOf(event: string): Set<string> {
    const known = this.#sent.get(event)
    if (known) return known
    const [oldest] = this.#sent.keys()
    if (oldest !== undefined && this.#sent.size >= maxEvents) this.#sent.delete(oldest)
    const sent = new Set<string>()
    this.#sent.set(event, sent)
    return sent
  }
}

/** True if a retry could not deliver the email. */
export const isUndeliverable = (error: unknown): boolean => error instanceof Problem && error.retryAfterSeconds === undefined
