import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { startedIndex } from './test-index.ts'

test('a server that accepts connections but does not respond delays the start by one check only', async t => {
  let requests = 0
  const server = createServer(() => {
    requests += 1
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await startedIndex(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, { index: 'pounce' })
  t.is(requests, 1)
})
