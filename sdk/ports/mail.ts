import { Invalid } from '../problem.ts'
import type { Mailer } from './kernel.ts'

/** An email. */
export type Mail = Parameters<Mailer['send']>[0]

/** RFC 5321, 4.5.3.1.3, without the angle brackets. */
const maxAddressLength = 254
const maxRecipients = 100
/** RFC 5322, 2.1.1: a line has at most 998 characters, of which `Subject: ` takes nine. */
const maxSubjectLength = 989

/** A single mailbox without a display name: nothing that could end the line, separate addresses or start another header. */
const address = /^[^\s\p{C}<>()[\]:;,@"\\]+@[^\s\p{C}<>()[\]:;,@"\\]+$/u

/** True for a bare address that mail can be sent to. */
export const isMailAddress = (text: string): boolean => text.length <= maxAddressLength && address.test(text)

/**
 * Throws `Invalid` unless the mail has 1 to 100 recipients, each a bare address of at most 254 characters, and a single-line subject. Every Mailer calls this
 * before sending, so that user input cannot add headers or recipients.
 */
export const checkMail = ({ to, subject, text }: Mail): void => {
  if (to.length === 0 || to.length > maxRecipients)
    throw new Invalid(`An email must have 1 to ${maxRecipients} recipients, not ${to.length}`)
  if (!to.every(isMailAddress)) throw new Invalid('A recipient is not a plain email address')
  if (subject.length > maxSubjectLength || /[\p{Cc}\u2028\u2029]/u.test(subject)) {
    throw new Invalid(`The subject of an email must be one line of at most ${maxSubjectLength} characters without control characters`)
  }
  if (text.includes('\0')) throw new Invalid('The text of an email must not contain null characters')
}
