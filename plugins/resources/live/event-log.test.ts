import test from 'ava'
import { Clock, DocumentStore, ProgressListeners, type PublicEvent } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { listen, of } from '../../../test/support/live-events.ts'
import { EventLog } from './event-log.ts'

const [run, other] = ['1'.repeat(24), '2'.repeat(24)]

test('a pending report is dropped once another kernel has logged the end of its activity', async t => {
  const server = await bootForTest({ t })
  await server.drained()
  const stream = await listen(server.url, server.admin.key, '?superAdmin=true&type=extraction.*')
  const report = (id: string) => {
    const progress = { activity: 'extraction', id, actor: null, state: 'running', message: 'Started processing' } as const
    for (const listener of server.get(ProgressListeners).all()) listener.report(progress)
  }
  report(run)
  const subject = { kind: 'job', id: run } as const
  const expected = { id: run, type: 'extraction.finished', source: server.url, subject: `job/${run}`, data: { id: run } }
  const end: PublicEvent = {
    event: { ...expected, specversion: '1.0', time: new Date().toISOString(), datacontenttype: 'application/json' },
    subject,
    about: [subject],
    spaces: [],
    author: null,
    actor: null,
  }
  await new EventLog(server.get(DocumentStore), server.get(Clock)).append([end], false)
  report(other)
  await stream.first('the other activity', of('extraction.progressed', other))
  t.deepEqual(
    stream.events.filter(of('extraction.progressed', run)).map(({ type }) => type),
    [],
  )
  t.true(stream.events.some(of('extraction.finished', run)))
  stream.close()
})
