import test from 'ava'
import { collection, DocumentStore } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { listen, of } from '../../../../test/support/live-events.ts'
import { newDataset } from '../../../../test/support/scene.ts'
import { up } from './0001-events-as-text.ts'

const liveLog = collection<{ readonly events: string | readonly unknown[] }>()('live.log')

test('events that were stored as objects are replayed after the migration, even if it runs twice', async t => {
  const server = await bootForTest({ t })
  const dataset = await newDataset(server.as(server.admin.key))
  await server.drained()
  const documents = server.get(DocumentStore)
  for await (const { id, events } of documents.walk(liveLog))
    await documents.commit({ update: id, in: liveLog, set: { events: JSON.parse(String(events)) as readonly unknown[] } })
  for (let twice = 0; twice < 2; twice += 1) await up(documents)
  const stream = await listen(server.url, server.admin.key, '?since=0')
  t.like(await stream.first('the dataset', of('dataset.created', dataset)), { subject: `dataset/${dataset}` })
  stream.close()
})
