import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'
import { bootForTest, skippedBecause } from 'pounce/sdk/testing'
import { Webhook } from 'standardwebhooks'
import { ok } from '../support/scene.ts'
import { newDataset, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'
import { type Received, webhookTarget } from '../support/webhook-target.ts'
import { installPython, pythonWith } from './python-environment.ts'

const deliveries = 1000
const library = { name: 'standardwebhooks', release: '1.0.0' }
const missing = await installPython(library)
const python = missing === undefined ? test : skippedBecause(test, missing)

/** The body of a message and the headers that a verifier reads. */
interface Shown {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

const shown = ({ body, headers }: Received): Shown => ({
  body,
  headers: Object.fromEntries(['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(name => [name, String(headers[name])])),
})

/** A message with one change, which depends on `at`. */
const tampered = ({ body, headers }: Shown, at: number): Shown => {
  const place = at % body.length
  const other = body[place] === 'x' ? 'y' : 'x'
  switch (at % 4) {
    case 0:
      return { body: body.slice(0, place) + other + body.slice(place + 1), headers }
    case 1:
      return { body, headers: { ...headers, 'webhook-id': `${headers['webhook-id']}0` } }
    case 2:
      return { body, headers: { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) } }
    default:
      return { body, headers: { ...headers, 'webhook-signature': `v1,${Buffer.alloc(32, at).toString('base64')}` } }
  }
}

const ends: (() => Promise<void>)[] = []
const server = await bootForTest({ config: { outbound: { allow: ['127.0.0.1'] } } })
test.after.always(async () => {
  for (const end of ends) await end()
  await server.stop()
})
let messages: readonly Shown[] = []
let secret = ''

test.before(async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget({ teardown: end => void ends.push(end) })]
  const filter = { types: ['tags.added'] }
  secret = (await ok<{ secret: string }>(ann.call('/api/webhooks', { method: 'POST', json: { url: target.url, filter } }))).secret
  const datasets = await Promise.all(Array.from({ length: 20 }, () => newDataset(ann)))
  await Promise.all(
    datasets.map(async dataset => {
      for (let at = 0; at < deliveries / datasets.length; at += 1) await ann.post(`/api/datasets/${dataset}/tags`, { tags: [`${at}`] })
    }),
  )
  await until('all deliveries', () => target.received.length >= deliveries, Boolean, 120_000)
  messages = target.received.map(shown)
  t.log(`${messages.length} deliveries`)
})

test('the verifier from npm accepts a thousand deliveries and rejects each one that was tampered with', t => {
  const verifier = new Webhook(secret)
  for (const { body, headers } of messages) verifier.verify(body, headers)
  const passed = messages.map(tampered).filter(({ body, headers }) => {
    try {
      verifier.verify(body, headers)
      return true
    } catch {
      return false
    }
  })
  t.true(messages.length >= deliveries)
  t.deepEqual(passed, [])
})

const program = `
import json, sys
from standardwebhooks import Webhook
given = json.load(sys.stdin)
verifier = Webhook(given["secret"])
def accepts(message):
    try:
        verifier.verify(message["body"], message["headers"])
        return True
    except Exception:
        return False
print(json.dumps([sum(map(accepts, given["genuine"])), sum(map(accepts, given["tampered"]))]))
`

python('the verifier from PyPI accepts a thousand deliveries and rejects each one that was tampered with', async t => {
  const running = promisify(execFile)(pythonWith(library), ['-c', program], { maxBuffer: 1024 * 1024 })
  running.child.stdin?.end(JSON.stringify({ secret, genuine: messages, tampered: messages.map(tampered) }))
  t.deepEqual(JSON.parse((await running).stdout), [messages.length, 0])
})
