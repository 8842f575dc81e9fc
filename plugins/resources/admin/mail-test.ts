import {
  type CallerUser,
  Clock,
  type Contributions,
  Installation,
  Mailer,
  Problem,
  routesFor,
  type Site,
  Sites,
  s,
  signedIn,
  Unavailable,
  wire,
} from 'pounce/sdk'
import { siteName } from 'pounce/sdk/kit'

/** 502: the mail server refused the message; the problem contains its reply. */
class MailUntaken extends Problem {
  constructor(message: string, options: { readonly cause: unknown }) {
    super(502, 'mail-untaken', message, options)
  }
}

/** The messages of the error and its causes, outermost first, in one line. */
const reasonOf = (error: unknown): string => {
  const lines: string[] = []
  for (let at = error; at instanceof Error && lines.length < 4; at = at.cause) if (!lines.includes(at.message)) lines.push(at.message)
  return lines
    .join(': ')
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .slice(0, 500)
}

/** Tests email delivery. */
class MailTest {
  #mailer: Mailer
  #sites: Contributions<Site>
  #installation: Installation
  #clock: Clock

  constructor(mailer: Mailer, sites: Contributions<Site>, installation: Installation, clock: Clock) {
    this.#mailer = mailer
    this.#sites = sites
    this.#installation = installation
    this.#clock = clock
  }

  /**
   * Sends an email immediately. Throws `Unavailable` when the mail server is unreachable and `MailUntaken` when it refuses the message,
   * each with its reply.
   */
  async send({ email }: CallerUser): Promise<{ readonly sent: boolean; readonly to: string; readonly message: string }> {
    const place = await siteName(this.#sites)
    const text = `An admin of ${place} requested this test email at ${this.#clock.now().toISOString()}. Email delivery works.\n\n${this.#installation.baseUrl}\n`
    try {
      await this.#mailer.send({ to: [email], subject: `[${place}] A test`, text })
    } catch (error) {
      const reason = reasonOf(error)
      throw error instanceof Unavailable ? new Unavailable(reason, { cause: error }) : new MailUntaken(reason, { cause: error })
    }
    const sent = this.#installation.plugins.some(plugin => plugin.startsWith('mail.'))
    const message = sent ? 'The mail server accepted the email' : 'No mail plugin is loaded: the email was written to the server log'
    return { sent, to: email, message }
  }
}
wire(MailTest, Mailer, Sites, Installation, Clock)

const testing = routesFor('admin', { tests: MailTest })

export const testMail = testing({
  method: 'POST',
  path: '/api/admin/mail/test',
  summary: 'Send a test email to the calling admin',
  description:
    'An addition to Clowder 1.x. Waits for the mail server: 200 once it accepts the email, or if no mail plugin is loaded (`sent` is then false); otherwise 502 or 503 with the reply of the mail server.',
  permission: 'serverAdmin',
  responses: {
    200: s.model(
      'MailTest',
      s.Object({
        status: s.String(),
        sent: s.Boolean({ description: 'False if no mail plugin is loaded and emails are written to the log' }),
        to: s.String(),
        message: s.String(),
      }),
    ),
  },
  throws: [MailUntaken, Unavailable],
  async handle({ caller }, { tests }) {
    return { status: 200, body: { status: 'success', ...(await tests.send(signedIn(caller))) } }
  },
})
