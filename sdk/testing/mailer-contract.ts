import type { Mailer } from '../ports/kernel.ts'
import { Invalid } from '../problem.ts'
import { contractTest, type TestRunner } from './any-runner.ts'

/** A mailer and the number of messages accepted by its next hop. */
export interface MailerSubject {
  readonly mailer: Mailer
  count(): Promise<number>
}

const mail = { to: ['ann@example.org'], subject: 'Your account', text: 'Hello Ann,\n\nit is ready.\n.\n\nPounce' }

/** The contract of Mailer. */
export function mailerContract(runner: TestRunner, make: () => MailerSubject | Promise<MailerSubject>): void {
  const test = contractTest(runner)
  test('mailer: the next hop has each message when send resolves', async t => {
    const { mailer, count } = await make()
    await mailer.send(mail)
    t.is(await count(), 1)
    await Promise.all([mailer.send(mail), mailer.send({ ...mail, to: ['bob@example.org', 'eve+x@sub.example.org'] })])
    t.is(await count(), 3)
  })

  test('mailer: characters of any script and text of any length are accepted', async t => {
    const { mailer, count } = await make()
    await mailer.send({ ...mail, subject: 'Größe 葉 🍂', text: `${'葉'.repeat(5000)}\n`.repeat(5) })
    await mailer.send({ ...mail, subject: '', text: '' })
    t.is(await count(), 2)
  })

  test('mailer: a line break in the subject or an address is refused, and nothing is sent', async t => {
    const { mailer, count } = await make()
    for (const end of ['\n', '\r', '\r\n', '\u0000', '\u000b', '\u0085', '\u2028'].map(character => `${character}Bcc: eve@example.org`)) {
      await t.throwsAsync(mailer.send({ ...mail, subject: `Hello${end}` }), { instanceOf: Invalid }, JSON.stringify(end))
      await t.throwsAsync(mailer.send({ ...mail, to: [`ann@example.org${end}`] }), { instanceOf: Invalid }, JSON.stringify(end))
      await t.throwsAsync(mailer.send({ ...mail, to: ['ann@example.org', `${end}@example.org`] }), { instanceOf: Invalid })
    }
    t.is(await count(), 0)
  })

  test('mailer: each recipient is one bare address, and at least one is required', async t => {
    const { mailer, count } = await make()
    const wrong = [
      ...['', 'ann', '@example.org', 'ann@', 'ann@example.org, eve@example.org', 'ann@example.org;eve@example.org'],
      ...[
        'Ann <ann@example.org>',
        '<ann@example.org>',
        'ann@example.org eve@example.org',
        'a"b@example.org',
        `${'x'.repeat(300)}@example.org`,
      ],
    ]
    for (const address of wrong) await t.throwsAsync(mailer.send({ ...mail, to: [address] }), { instanceOf: Invalid }, address)
    await t.throwsAsync(mailer.send({ ...mail, to: [] }), { instanceOf: Invalid })
    t.is(await count(), 0)
  })
}
