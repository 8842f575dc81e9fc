import test from 'ava'
import { Invalid, Problem, Unavailable } from 'pounce/sdk'
import { IndividualMails } from 'pounce/sdk/kit'
import { MemoryMailer, silent } from 'pounce/sdk/testing'

class PickyMailer extends MemoryMailer {
  readonly failing = new Map<string, Error>()

  override async send(mail: Parameters<MemoryMailer['send']>[0]): Promise<void> {
    const error = this.failing.get(mail.to[0] ?? '')
    if (error) throw error
    await super.send(mail)
  }
}

const mailsTo = (...names: readonly string[]) =>
  names.map(id => ({ user: { id, email: `${id}@example.org` }, subject: 'Ready', text: 'Hello' }))
const opened = (failing: Readonly<Record<string, Error>>) => {
  const mailer = new PickyMailer()
  for (const [id, error] of Object.entries(failing)) mailer.failing.set(`${id}@example.org`, error)
  return { mailer, mails: new IndividualMails(mailer, silent), sent: () => mailer.sent.map(({ to }) => to[0]?.split('@')[0]) }
}

test('a refused recipient keeps nobody else from getting the email', async t => {
  const { mails, sent } = opened({ ann: new Problem(502, 'mail-refused', 'refused'), bob: new Invalid('not an address') })
  await mails.send('e1', mailsTo('ann', 'bob', 'cat'))
  t.deepEqual(sent(), ['cat'])
})

test('when an event is handled again, only the users who have not been sent the email get it', async t => {
  const { mailer, mails, sent } = opened({ bob: new Unavailable('busy') })
  await t.throwsAsync(mails.send('e1', mailsTo('ann', 'bob', 'cat')), { instanceOf: Unavailable })
  t.deepEqual(sent(), ['ann', 'cat'])
  mailer.failing.clear()
  await mails.send('e1', mailsTo('ann', 'bob', 'cat'))
  t.deepEqual(sent(), ['ann', 'cat', 'bob'])
  await mails.send('e2', mailsTo('ann'))
  t.is(sent().length, 4)
})

test('after three failures in a row the mail server counts as unavailable', async t => {
  const away = new Unavailable('away')
  const { mails, mailer, sent } = opened({ ann: away, bob: away, cat: away })
  await t.throwsAsync(mails.send('e1', mailsTo('ann', 'bob', 'cat', 'dan')), { is: away })
  t.deepEqual(sent(), [])
  mailer.failing.clear()
  await mails.send('e1', mailsTo('ann', 'bob', 'cat', 'dan'))
  t.deepEqual(sent(), ['ann', 'bob', 'cat', 'dan'])
})
