import test from 'ava'
import { clockContract, idsContract, logContract, metricsContract, silent } from 'pounce/sdk/testing'
import { systemClock } from './clock.ts'
import { ObjectIds } from './ids.ts'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'

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
