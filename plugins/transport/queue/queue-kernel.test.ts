import test from 'ava'
import { BlobStore, definePlugin, type Extractor, Extractors, provide, type Transport, Transports } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { eventually, idsOf, jobFor } from '../../../sdk/testing/transport-contract.ts'
import { TestListener } from '../../../test/support/transport-listener.ts'
import { fixtureExtractor } from './fixtures/extractors.ts'

const fixture = fixtureExtractor('echo')

class EchoExtractor implements Extractor {
  readonly info = fixture.info
  readonly module = fixture.module
  readonly timeoutMs = 30_000
  readonly memoryMb = 64
}

const echo = definePlugin({ id: 'extractors.echo', summary: 'For this test.', provides: [provide(Extractors, EchoExtractor)] })

test('in a kernel, extractors of other plugins are announced and run; jobs survive a restart', async t => {
  const transportOf = (): Transport => {
    const [transport] = server.get(Transports).all()
    if (!transport) throw new Error('transport.queue contributed nothing')
    return transport
  }
  const server = await bootForTest({ t, plugins: ['documents.sqlite', 'blobs.disk', 'transport.queue', echo] })
  const { key } = await server.get(BlobStore).put(Buffer.from('hello'))
  const [first, second] = [jobFor(1, { queue: 'echo' }), jobFor(2, { queue: 'echo' })]
  await transportOf().publish([first])
  await server.restart()
  const transport = transportOf()
  t.deepEqual(await idsOf(transport, first.target), [first.id])
  const listener = new TestListener(key)
  await transport.listen(listener)
  await transport.publish([second])
  await eventually(async () => [...(await idsOf(transport, first.target)), ...(await idsOf(transport, second.target))].length === 0)
  t.deepEqual(
    listener.heartbeats.map(({ queue }) => queue),
    ['echo'],
  )
  t.deepEqual(
    listener.results.map(({ job }) => job),
    [first, second],
  )
})
