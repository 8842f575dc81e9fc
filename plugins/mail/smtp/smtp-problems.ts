import { Problem, Unavailable } from 'pounce/sdk'

/** What nodemailer says of a failure, as far as it is looked at. */
interface Failure {
  readonly code?: unknown
  readonly responseCode?: unknown
}

/** 502: the mail server will not take this message, today or tomorrow. */
export class MailRefused extends Problem {
  constructor(answer: number, options: { readonly cause: unknown }) {
    super(502, 'mail-refused', `The mail server refused the message for good, with ${answer}`, options)
  }
}

const isRefusedForGood = (status: unknown): status is number => typeof status === 'number' && status >= 500 && status < 600

/** The failure of a delivery in the words of the SDK. */
export function asProblem(error: unknown): Error {
  if (error instanceof Problem) return error
  const { code, responseCode }: Failure = typeof error === 'object' && error !== null ? error : {}
  // A password that is not taken is for an admin to mend; the mail itself is fine.
  if (isRefusedForGood(responseCode) && code !== 'EAUTH') return new MailRefused(responseCode, { cause: error })
  return new Unavailable(
    code === 'EAUTH' ? 'The mail server rejects mail.smtp.user and mail.smtp.password' : 'The mail server is unreachable',
    { cause: error },
  )
}
