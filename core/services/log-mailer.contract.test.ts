import test from 'ava'
import { mailerContract } from 'pounce/sdk/testing'
import { keptLog } from '../../test/support/kept-log.ts'
import { LogMailer } from './log-mailer.ts'

mailerContract(test, () => {
  const { log, lines } = keptLog()
  return { mailer: new LogMailer(log), count: async () => lines.length }
})

test('a link in a mail can be read in the log, for it is nowhere else', async t => {
  const { log, lines } = keptLog()
  await new LogMailer(log).send({
    to: ['ann@example.org'],
    subject: 'Finish',
    text: 'Go to:\nhttps://data.example.org/api/signup/finish?token=abc-123',
  })
  t.is(lines.length, 1)
  t.like(lines[0], { to: ['ann@example.org'], text: 'Go to:\nhttps://data.example.org/api/signup/finish?token=abc-123' })
})
