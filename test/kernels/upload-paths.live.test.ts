import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { formWith, newDataset, ok } from '../support/scene.ts'
import { until } from '../support/until.ts'
import { SeveralKernels } from './several-kernels.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'S3', 'ELASTICSEARCH')

live('fifty uploads by path through two kernels create each folder once, and are one entry of the feed', async t => {
  t.timeout(180_000)
  const kernels = await SeveralKernels.begin(t, url, 2, { POUNCE_RESOURCES__FILES__BATCH_QUIET_SECONDS: '6' })
  const dataset = await newDataset((path, init) => kernels.call(0, path, init))
  const send = (n: number): Promise<Response> => {
    const query = new URLSearchParams({ extract: 'false', path: `a/b/c${n % 3}/f${n}.txt`, batch: 'both' })
    return kernels.call(n % 2, `/api/uploadToDataset/${dataset}?${query}`, { method: 'POST', body: formWith('abc', `f${n}.txt`) })
  }
  const statuses = (await Promise.all(Array.from({ length: 50 }, (_, n) => send(n)))).map(({ status }) => status)
  t.deepEqual([...new Set(statuses)], [200])
  const folders = await ok<{ name: string }[]>(kernels.call(1, `/api/datasets/${dataset}/folders`))
  t.deepEqual(folders.map(({ name }) => name).toSorted(), ['/a', '/a/b', '/a/b/c0', '/a/b/c1', '/a/b/c2'])
  const lines = () => ok<{ event_type: string; object_id: string }[]>(kernels.call(0, '/api/events?limit=200'))
  const isWhole = (found: Awaited<ReturnType<typeof lines>>): boolean => found.some(({ event_type }) => event_type === 'add_file_folder_50')
  const entry = await until('the feed entry of the batch', lines, isWhole, 90_000)
  const own = entry.filter(({ object_id }) => object_id === dataset).map(({ event_type }) => event_type)
  t.deepEqual(own.toSorted(), ['add_file_folder_50', 'create_dataset'])
})

live('a bulk job of two kernels ends with an outcome for each file', async t => {
  const kernels = await SeveralKernels.begin(t, url, 2)
  const dataset = await newDataset((path, init) => kernels.call(0, path, init))
  const body = new FormData()
  for (let n = 0; n < 300; n++) body.append('File', new Blob([`${n}`]), `f${n}.txt`)
  await ok(kernels.call(0, `/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', body }))
  const { id } = await ok<{ id: string }>(
    kernels.call(0, '/api/bulk', { method: 'POST', json: { act: 'tag', tags: ['a'], select: { dataset } } }),
  )
  const look = () => ok<{ state: string; done: number; failed: number }>(kernels.call(1, `/api/bulk/${id}`))
  t.like(await until('the job to finish', look, ({ state }) => state === 'finished', 60_000), { done: 300, failed: 0 })
})
