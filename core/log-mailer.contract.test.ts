import test from 'ava'
import { mailerContract } from 'pounce/sdk/testing'
import { LogMailer } from './log-mailer.ts'
import { keptLog } from './testing-fixtures/boot.ts'

mailerContract(test, () => {
  const { log, lines } = keptLog()
  return { mailer: new LogMailer(log), count: async () => lines.length }
})
