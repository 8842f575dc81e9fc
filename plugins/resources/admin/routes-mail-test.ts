import { routesFor, s, signedIn, Unavailable } from 'pounce/sdk'
import { MailTest, MailUntaken } from './mail-test.ts'

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
