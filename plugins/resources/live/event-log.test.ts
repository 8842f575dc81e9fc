import test from 'ava'
import { Clock, type Collection, DocumentStore, ProgressListeners, type PublicEvent } from 'pounce/sdk'
import { bootForTest, FixedClock } from 'pounce/sdk/testing'
import { listen, of } from '../../../test/support/live-events.ts'
import { openStore } from '../../../test/support/sqlite-store.ts'
import { EventLog, LogRetention, liveLog } from './event-log.ts'

const settings = {
  ...{ heartbeatSeconds: 15, retrySeconds: 2, maxStreams: 10, maxStreamsPerCaller: 10, maxPendingBytes: 4096, pollMs: 200 },
  ...{ maxEvents: 100, maxAgeHours: 24 },
}

const [run, other] = ['1'.repeat(24), '2'.repeat(24)]

const endOf = (id: string, source: string): PublicEvent => {
  const subject = { kind: 'job', id } as const
  const about = { id, type: 'extraction.finished', source, subject: `job/${id}`, data: { id } }
  return {
    event: { ...about, specversion: '1.0', time: new Date().toISOString(), datacontenttype: 'application/json' },
    ...{ subject, about: [subject], spaces: [], author: null, actor: null },
  }
}
const eventAbout = (): PublicEvent => endOf(run, 'https://data.example.org')

test('a pending report is dropped once another kernel has logged the end of its activity', async t => {
  const server = await bootForTest({ t })
  await server.drained()
  const stream = await listen(server.url, server.admin.key, '?superAdmin=true&type=extraction.*')
  const report = (id: string) => {
    const progress = { activity: 'extraction', id, actor: null, state: 'running', message: 'Started processing' } as const
    for (const listener of server.get(ProgressListeners).all()) listener.report(progress)
  }
  report(run)
  const end = endOf(run, server.url)
  await new EventLog(settings, server.get(DocumentStore), server.get(Clock)).append([end], false)
  report(other)
  await stream.first('the other activity', of('extraction.progressed', other))
  t.deepEqual(
    stream.events.filter(of('extraction.progressed', run)).map(({ type }) => type),
    [],
  )
  t.true(stream.events.some(of('extraction.finished', run)))
  stream.close()
})

test('a time that the log may no longer cover has no position', async t => {
  const documents = await openStore(t)
  await documents.declare([liveLog as Collection<object>])
  const clock = new FixedClock()
  const log = new EventLog(settings, documents, clock)
  const retention = new LogRetention(settings, documents, log, clock)
  const add = (count: number) => log.append(Array.from({ length: count }, eventAbout), false)
  const hoursAgo = (hours: number) => new Date(clock.now().getTime() - hours * 3_600_000).toISOString()
  await add(1)
  clock.advance(1000)
  t.deepEqual(await log.positionAt('2000-01-01T00:00:00.000Z'), { sequence: 0 }, 'nothing was deleted')
  clock.advance(30 * 3_600_000)
  await add(10)
  await retention.run(new AbortController().signal)
  t.is(await log.positionAt(hoursAgo(25)), undefined, 'older than the retention')
  t.deepEqual(await log.positionAt(hoursAgo(23)), { sequence: 1 }, 'younger: everything since then is in the log')
  clock.advance(3_600_000)
  await add(100)
  await retention.run(new AbortController().signal)
  t.is(await log.positionAt(hoursAgo(2)), undefined, 'events since then were too many')
  clock.advance(1000)
  const since = hoursAgo(0)
  clock.advance(1000)
  await add(1)
  t.deepEqual(await log.positionAt(since), { sequence: 3 })
})
