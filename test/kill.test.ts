import { readdir } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import { BlobStore, type Collection, Counters, DocumentStore, MetadataDocuments, type Transport, Transports } from 'pounce/sdk'
import type { BlobEntry } from 'pounce/sdk/store-kit'
import { bootForTest, type TestServer, usualOrFull } from 'pounce/sdk/testing'
import { files } from '../plugins/resources/files/collection.ts'
import { previews, thumbnails } from '../plugins/resources/previews/collections.ts'
import { dataFolder, runPounce } from './support/child-server.ts'
import { extracted } from './support/extracted.ts'
import { type Acked, eachOf, KilledServer } from './support/killed-server.ts'
import { ok } from './support/scene.ts'
import { seededRandom } from './support/seeded-random.ts'
import { digestOf } from './support/streams.ts'
import { drained, until } from './support/until.ts'

const kills = usualOrFull(8, 50)
const uploaders = 8

const outOfLuck = 'StatusMessage.error: The server ended during 5 runs of this'

/** What is wrong with the record, bytes or search entry of an acknowledged upload; undefined if nothing is. */
const faultOf = async (server: KilledServer, { id, name, token, sizeBytes, sha256 }: Acked): Promise<string | undefined> => {
  const look = () => ok<Record<string, string>>(server.call(`/api/files/${id}/metadata`))
  const info = await until(`${name} to be PROCESSED`, look, ({ status }) => status === 'PROCESSED', 60_000)
  await extracted(path => server.call(path), id, 60_000)
  const seen = [info['filename'], info['size'], info['sha256']].join()
  if (seen !== [name, sizeBytes, sha256].join()) return `${name} has the record ${seen}`
  const answer = await server.call(`/api/files/${id}/blob?tracking=false`)
  const got = await digestOf(answer.body as ReadableStream<Uint8Array>)
  if (answer.status !== 200 || got.sha256 !== sha256 || got.sizeBytes !== sizeBytes)
    return `${name} has ${got.sizeBytes} bytes, ${got.sha256}`
  const { results } = await ok<{ results: { id: string }[] }>(server.call(`/api/search?query=${token}`))
  return results.map(each => each.id).join() === id ? undefined : `${name} is found as ${JSON.stringify(results)}`
}

/** The outcome of an upload's extraction: `done`, dead-lettered after five kills of the server, or a fault. */
const runOf = async (server: KilledServer, { id, name, sha256 }: Acked): Promise<string> => {
  const runs = await ok<{ extractor_id: string; status: string }[]>(server.call(`/api/files/${id}/extractions`))
  const documents = await ok<{ content: { sha256: string } }[]>(server.call(`/api/files/${id}/metadata.jsonld`))
  const [run, ...others] = runs
  const found = documents.map(each => each.content.sha256).join()
  if (run?.extractor_id === 'pounce.digest' && others.length === 0) {
    if (run.status === 'DONE' && found === sha256) return 'done'
    // The fifth kill may have happened between its result and its final status.
    if (run.status === outOfLuck && ['', sha256].includes(found)) return 'dead-lettered'
  }
  return `${name}: ${JSON.stringify({ runs, documents })}`
}

test('kills during 8 concurrent uploads lose nothing that was acknowledged and leave no orphaned bytes', async t => {
  t.timeout(900_000)
  const random = seededRandom()
  t.log(`seed ${random.seed}`)
  const server = new KilledServer(await dataFolder(t), random)
  t.teardown(() => server.end())
  await server.prepare()
  await server.end()
  const uploading = Array.from({ length: uploaders }, () => server.upload())
  for (let killed = 0; killed < kills; killed += 1) await server.killOnce()
  server.stop()
  await server.start()
  await Promise.all(uploading)
  t.deepEqual(server.refused, [])
  const { acked } = server
  t.log(
    `${acked.length} uploads were answered, ${acked.filter(each => each.extract).length} of them to be extracted, ${server.cutOff} cut off`,
  )
  t.true(acked.length > kills && server.cutOff > kills / 2)

  await drained(server.call, 60_000)
  const faults: string[] = []
  await eachOf(acked, async each => {
    const fault = await faultOf(server, each)
    if (fault !== undefined) faults.push(fault)
  })
  t.deepEqual(faults, [])
  for (const each of acked.filter(({ extract }) => extract)) {
    const run = await runOf(server, each)
    t.true(run === 'done' || run === 'dead-lettered', run)
  }
  await idle(server)
  await drained(server.call, 60_000)
  t.is(await server.end('SIGTERM'), 0)
  await nothingLeft(t, server)
})

/** Waits for all extractions, including those of unacknowledged uploads. */
const idle = ({ call }: KilledServer) =>
  until(
    'the extractors to be idle',
    () => ok<{ waiting: number; running: number }[]>(call('/api/extractions/queues')),
    queues => queues.every(({ waiting, running }) => waiting + running === 0),
    60_000,
  )

const nothingLeft = async (t: ExecutionContext, { folder, acked }: KilledServer): Promise<void> => {
  const sweep = async (): Promise<{ removed: number; seen: number }> => {
    const { code, out, err } = await runPounce(folder, 'blobs', 'sweep', '--grace-hours', '0')
    if (code !== 0) throw new Error(out + err)
    return JSON.parse(out) as { removed: number; seen: number }
  }
  const { removed } = await sweep()
  t.log(`the sweep removed ${removed} blobs`)
  t.is((await sweep()).removed, 0)

  const kernel = await bootForTest({ folder, t })
  const documents = kernel.get(DocumentStore)
  // Including unacknowledged uploads.
  const all = await Array.fromAsync(documents.scan(files, { using: 'byCreated' }))
  t.log(`${await reviveAll(kernel, all)} runs had seen five ends of the server and were dead-lettered`)
  const named = all.map(file => file.blob)
  const bytes = all.reduce((sum, file) => sum + file.sizeBytes, 0)
  t.true(all.every(file => file.status === 'PROCESSED'))
  for (const derived of [previews, thumbnails] as readonly Collection<{ readonly blob: string }>[])
    for await (const one of documents.scan(derived, { using: 'byBlob' })) named.push(one.blob)
  const stored: BlobEntry[] = await Array.fromAsync(kernel.get(BlobStore).list())
  t.deepEqual(stored.map(each => each.key).sort(), named.sort())
  t.true(all.length >= acked.length)
  t.like(await kernel.get(Counters).instance(), { files: all.length, bytes, datasets: 1, users: 1 })
  for (const queue of await queueOf(kernel).queues()) t.like(queue, { waiting: 0, running: 0, dead: 0 }, queue.queue)
  const rests = (await readdir(folder, { recursive: true })).filter(path => /^(?:blobs\/tmp|transport\.queue\/runs)\/./.test(path))
  t.deepEqual(rests, [])
}

/** The transport of the built-in extractors. */
const queueOf = (kernel: TestServer): Transport => {
  const queue = kernel
    .get(Transports)
    .all()
    .find(({ kind }) => kind === 'queue')
  if (!queue) throw new Error('transport.queue is not running')
  return queue
}

/** Revives dead-lettered jobs and waits until they have run; resolves to their number. */
const reviveAll = async (kernel: TestServer, all: readonly { readonly id: string }[]): Promise<number> => {
  const transport = queueOf(kernel)
  let revived = 0
  for (const { id } of all) {
    const target = { kind: 'file', id } as const
    for (const { job } of await transport.pending(target)) {
      await transport.revive(job.id)
      await until(
        `the job on ${id} to end`,
        () => transport.pending(target),
        pending => pending.length === 0,
      )
      const { items } = await kernel.get(MetadataDocuments).of(target)
      if (items.length !== 1) throw new Error(`The extraction of ${id} added ${items.length} documents`)
      revived += 1
    }
  }
  await kernel.drained()
  return revived
}
