import test from 'ava'
import type { Installation } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { Broker } from './broker.ts'
import { usual } from './fixtures/rabbit-under-test.ts'
import { RabbitSink } from './rabbit-sink.ts'

// @separate-process: connections are checked after milliseconds.
const installation = { instance: 'abcdefghij' } as Installation

const connect = (changes: Partial<typeof usual>) => new Broker({ ...usual, ...changes }, installation, silent).connect()

test('an invalid URI fails the start with an error that names the setting and omits the password', async t => {
  for (const uri of [
    'nonsense',
    'http://u:hush-hush@127.0.0.1/',
    'amqp://u:hush-hush@127.0.0.1/a/b',
    'amqp://u:hush-hush%@127.0.0.1/',
    'amqp:///x',
  ]) {
    const error = await t.throwsAsync(connect({ uri }))
    t.regex(error?.message ?? '', /^transport\.rabbitmq\.uri: .* expected a URI like amqp:/)
    t.notRegex(error?.message ?? '', /hush-hush/)
  }
  for (const managementUrl of ['127.0.0.1:15672', 'amqp://127.0.0.1', ''])
    await t.throwsAsync(connect({ managementUrl }), { message: /^transport\.rabbitmq\.managementUrl / })
})

test('an unavailable broker does not prevent the start, and health reports the cause', async t => {
  const broker = new Broker(usual, installation, silent)
  t.teardown(() => broker.dispose())
  await broker.connect()
  t.throws(() => broker.health(), { message: /^Jobs are waiting: .*ECONNREFUSED/ })
  const record = { category: 'user_activity', type: 'login', user_id: '', user_name: '', created: 0 } as const
  await t.throwsAsync(new RabbitSink(usual, broker, silent).publish([record]), { message: 'The broker is unavailable' })
})
