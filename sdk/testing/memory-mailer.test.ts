import test from 'ava'
import { mailerContract } from './mailer-contract.ts'
import { MemoryMailer } from './memory-mailer.ts'

mailerContract(test, () => {
  const mailer = new MemoryMailer()
  return { mailer, count: async () => mailer.sent.length }
})

test('sent mails are kept unchanged and in order', async t => {
  const mailer = new MemoryMailer()
  const first = { to: ['ann@example.org', 'bob@example.org'], subject: 'Größe 葉', text: 'One\n\nTwo' }
  await mailer.send(first)
  await mailer.send({ ...first, to: ['eve@example.org'] })
  t.deepEqual(mailer.sent, [first, { ...first, to: ['eve@example.org'] }])
})
