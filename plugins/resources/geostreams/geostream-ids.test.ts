import test from 'ava'
import { DocumentStore, GeoStore } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { GeostreamIds } from './geostream-ids.ts'

test('kernels that allocate concurrently never allocate a number twice, and each allocates in ascending order', async t => {
  const server = await bootForTest({ t })
  const kernels = Array.from({ length: 3 }, () => new GeostreamIds(server.get(DocumentStore), server.get(GeoStore)))
  const taken = await Promise.all(kernels.flatMap(kernel => Array.from({ length: 40 }, () => kernel.next('sensor'))))
  t.is(new Set(taken).size, 120)
  t.true(taken.every(number => Number.isSafeInteger(number) && number > 0))
  const readings = await Promise.all(kernels.flatMap(kernel => [kernel.take('datapoint', 1), kernel.take('datapoint', 4500)]))
  t.deepEqual(
    readings.map(({ length }) => length),
    [1, 4500, 1, 4500, 1, 4500],
  )
  for (const some of readings) t.true(some.every((number, at) => at === 0 || number > (some[at - 1] ?? 0)))
  t.is(new Set(readings.flat()).size, 3 * 4501)
  const after = new GeostreamIds(server.get(DocumentStore), server.get(GeoStore))
  t.true((await after.next('datapoint')) > Math.max(...readings.flat()))
})
