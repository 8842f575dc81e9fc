import { mock } from 'node:test'
import test from 'ava'
import { definePlugin } from 'pounce/sdk'
import { recordingLog } from '../../test/support/recording-log.ts'
import { Lifecycles } from './lifecycles.ts'

const hanging = {
  name: 'test.hanging',
  plugin: definePlugin({ id: 'test.hanging', summary: 'Hangs.' }),
  instances: [{ start: () => new Promise<void>(() => undefined) }],
  resolve: () => undefined as never,
  instanceOf: () => undefined as never,
}

test.serial('a plugin that is still starting after 10 s is named in the log, and fails the start after the limit', async t => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  t.teardown(() => mock.timers.reset())
  const { log, lines } = recordingLog()
  const started = new Lifecycles(log, 25_000).start(hanging)
  mock.timers.tick(9_999)
  t.deepEqual(lines, [])
  mock.timers.tick(1)
  t.like(lines[0], { level: 'warn', message: 'Plugin is still starting', plugin: 'test.hanging' })
  mock.timers.tick(15_000)
  await t.throwsAsync(started, { message: 'test.hanging did not start: start() took longer than 25 s (startTimeoutMs)' })
  t.is(lines.length, 2)
})
