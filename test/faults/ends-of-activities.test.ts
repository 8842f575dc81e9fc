import test from 'ava'
import { type BlobStore, type DocumentStore, ProgressListeners, Unavailable } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { embeddedStores } from '../support/embedded-stores.ts'
import { overridesOf, pluginsOnStores } from '../support/faulty-stores.ts'
import { listen, of } from '../support/live-events.ts'
import { somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'
import { webhookTarget } from '../support/webhook-target.ts'
import { newWebhook } from '../support/webhooks.ts'

const id = '1'.repeat(24)

/** A store that writes nothing while it is down. */
class Outage {
  isDown = false
  refused = 0

  guard(documents: DocumentStore): DocumentStore {
    return new Proxy(documents, {
      get: (target, member) => {
        const value: unknown = Reflect.get(target, member, target)
        if (typeof value !== 'function') return value
        const call = (...values: unknown[]): unknown => Reflect.apply(value, target, values)
        if (member !== 'commit' && member !== 'commitEach') return call
        return (...values: unknown[]) => {
          if (!this.isDown) return call(...values)
          this.refused += 1
          return Promise.reject(new Unavailable('The store is down'))
        }
      },
    })
  }
}

test('the end of an activity during an outage of the store reaches streams and webhooks once, after the outage', async t => {
  const outage = new Outage()
  const { documents, blobs } = await embeddedStores(t)
  const server = await bootForTest({
    t,
    plugins: [...pluginsOnStores, 'resources.live', 'resources.webhooks'],
    overrides: overridesOf(outage.guard(documents), blobs as BlobStore),
    config: { outbound: { allow: ['127.0.0.1'] } },
  })
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  await newWebhook(ann, target.url, { filter: { types: ['bulk.finished'] } })
  await server.drained()
  const stream = await listen(server.url, ann.key, '?type=bulk.finished')
  t.teardown(() => stream.close())
  outage.isDown = true
  for (const listener of server.get(ProgressListeners).all())
    listener.report({ activity: 'bulk', id, actor: ann.id, state: 'finished', done: 1, total: 1 })
  await until('two attempts', () => outage.refused > 1)
  outage.isDown = false
  await stream.first('the end', of('bulk.finished', id))
  await until('the delivery', () => target.received[0])
  await server.drained()
  t.is(stream.events.length, 1)
  t.is(target.received.length, 1)
})
