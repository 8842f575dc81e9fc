import { routesFor, s, signedIn, Unavailable } from 'pounce/sdk'
import { MailTests, MailUntaken } from './mail-test.ts'

const testing = routesFor('admin', { tests: MailTests })

export const testMail = testing({
  method: 'POST',
  path: '/api/admin/mail/test',
  summary: 'Send one mail to the calling admin now',
  description:
    'An addition to Clowder 1.x. Waits for the mail server: 200 when it has taken the mail, or when no mail plugin runs (`sent` is false then); else 502 or 503 with what the mail server said.',
  permission: 'serverAdmin',
  responses: {
    200: s.Object({
      status: s.String(),
      sent: s.Boolean({ description: 'False when no mail plugin runs, and mails end in the log' }),
      to: s.String(),
      message: s.String(),
    }),
  },
  throws: [MailUntaken, Unavailable],
  async handle({ caller }, { tests }) {
    return { status: 200, body: { status: 'success', ...(await tests.send(signedIn(caller))) } }
  },
})
