import test from 'ava'
import { clockContract, idsContract, logContract, mailerContract, metricsContract, silent } from 'pounce/sdk/testing'
import { recordingLog } from '../../test/support/recording-log.ts'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'
import { LogMailer, ObjectIds, systemClock } from './services.ts'

clockContract(test, () => systemClock)

test('the system clock shows the time of the machine', t => {
  const before = Date.now()
  const now = systemClock.now().getTime()
  t.true(now >= before && now <= Date.now())
})

idsContract(test, () => new ObjectIds(systemClock))

logContract(test, () => {
  const written: string[] = []
  const log = createLog({ level: 'debug', stream: { write: text => void written.push(text) } }).with({ plugin: 'contract' })
  return { log, lines: () => written.map(text => text.replace(/\n$/, '')) }
})

metricsContract(test, () => createMetrics(true, silent))

mailerContract(test, () => {
  const { log, lines } = recordingLog()
  return { mailer: new LogMailer(log), count: async () => lines.length }
})

test('a link in a logged mail is not redacted', async t => {
  const { log, lines } = recordingLog()
  await new LogMailer(log).send({
    to: ['ann@example.org'],
    subject: 'Finish',
    text: 'Go to:\nhttps://data.example.org/api/signup/finish?token=abc-123',
  })
  t.is(lines.length, 1)
  t.like(lines[0], { to: ['ann@example.org'], text: 'Go to:\nhttps://data.example.org/api/signup/finish?token=abc-123' })
})
