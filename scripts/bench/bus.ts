import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type ChannelModel, connect } from 'amqplib'
import { type ExtractorInfo, type Transport, Transports } from 'pounce/sdk'
import type { Job, JobStatus } from 'pounce/sdk/kit'
import { bootForTest, silent, type TestServer } from 'pounce/sdk/testing'
import { Heartbeats } from '../../plugins/transport/rabbitmq/heartbeats.ts'
import { median, type Row, round, spread } from './table.ts'

const hex = (n: number): string => n.toString(16).padStart(24, '0')
const plugins = ['documents.sqlite', 'blobs.disk', 'transport.queue', 'access.policy', 'resources.users'] as const

/** A job like one that an upload creates. */
const job = (n: number, queue: string): Job => ({
  id: hex(n),
  queue,
  target: { kind: 'file', id: hex(0x1000000 + n) },
  user: null,
  message: {
    msgid: hex(n),
    jobid: hex(n),
    id: hex(0x1000000 + n),
    intermediateId: hex(0x1000000 + n),
    datasetId: hex(7),
    fileSize: '4096',
    host: 'https://data.example.org',
    flags: '',
    notifies: ['ann@example.org'],
    routing_key: 'clowder.file.image.jpeg',
    activity: 'created',
    filename: `leaf ${n}.jpg`,
    source: { id: { resourceType: "'file", id: hex(0x1000000 + n) }, mimeType: 'image/jpeg', extra: { filename: `leaf ${n}.jpg` } },
    target: '{}',
  },
  parameters: {},
})

const transportOf = (server: TestServer, kind: string): Transport => {
  const found = server
    .get(Transports)
    .all()
    .find(each => each.kind === kind)
  if (!found) throw new Error(`No transport ${kind} runs`)
  return found
}

/** Callbacks that a measured transport does not need. */
const deaf = {
  status: async (_status: JobStatus) => undefined,
  result: async () => undefined,
  heartbeat: async () => undefined,
  input: async () => undefined,
}

const batches = (count: number, first: number, queue: string): Job[][] =>
  Array.from({ length: Math.ceil(count / 1000) }, (_, at) =>
    Array.from({ length: Math.min(1000, count - at * 1000) }, (_, n) => job(first + at * 1000 + n, queue)),
  )

/** Jobs per second that the embedded transport makes durable, batches of a thousand. */
const embeddedRate = async (count: number): Promise<number> => {
  const server = await bootForTest({ plugins })
  try {
    const transport = transportOf(server, 'queue')
    const all = batches(count, 1, 'bench.queue')
    const at = performance.now()
    for (const jobs of all) await transport.publish(jobs)
    return (count / (performance.now() - at)) * 1000
  } finally {
    await server.stop()
  }
}

const queueOf = async (model: ChannelModel): Promise<string> => {
  const channel = await model.createChannel()
  const { queue } = await channel.assertQueue(`bench.${randomBytes(6).toString('hex')}`, { durable: true, autoDelete: false })
  await channel.close()
  return queue
}

const deleteQueue = async (model: ChannelModel, queue: string): Promise<void> => {
  const channel = await model.createChannel()
  await channel.deleteQueue(queue)
  await channel.close()
}

/** Messages per second of a program that publishes sequentially and waits for each confirm. */
const plainRate = async (model: ChannelModel, seconds: number): Promise<number> => {
  const queue = await queueOf(model)
  const channel = await model.createConfirmChannel()
  const bytes = Buffer.from(JSON.stringify(job(1, queue).message))
  let sent = 0
  const began = performance.now()
  while (performance.now() - began < seconds * 1000) {
    channel.sendToQueue(queue, bytes, { persistent: true, contentType: 'application/json' })
    await channel.waitForConfirms()
    sent += 1
  }
  const rate = (sent / (performance.now() - began)) * 1000
  await channel.close()
  await deleteQueue(model, queue)
  return rate
}

/** Jobs per second from `publish` until the extractor has received all of them: durable in the store, sent, confirmed, consumed. */
const bridgedRate = async (model: ChannelModel, uri: string, count: number): Promise<number> => {
  const queue = await queueOf(model)
  const server = await bootForTest({
    plugins,
    also: ['transport.rabbitmq'],
    config: { transport: { rabbitmq: { uri } }, resources: { users: { commKey: 'a-key-for-the-bench' } } },
  })
  const channel = await model.createChannel()
  try {
    const transport = transportOf(server, 'rabbitmq')
    await transport.listen(deaf)
    const seen = new Set<string>()
    await channel.consume(queue, message => message && void seen.add((JSON.parse(message.content.toString()) as { msgid: string }).msgid), {
      noAck: true,
    })
    const all = batches(count, 1, queue)
    const at = performance.now()
    for (const jobs of all) await transport.publish(jobs)
    while (seen.size < count) {
      if (performance.now() - at > 120_000) throw new Error(`${count - seen.size} of ${count} jobs were not delivered`)
      await pause(2)
    }
    return (count / (performance.now() - at)) * 1000
  } finally {
    await channel.close()
    await server.stop()
    await deleteQueue(model, queue)
  }
}

/** Workload 8: jobs per second delivered to extractors, compared with a plain publisher. Uses the broker at `POUNCE_TEST_RABBITMQ_URL`. */
export const dispatch = async (rounds: number, count: number): Promise<readonly Row[]> => {
  const uri = process.env['POUNCE_TEST_RABBITMQ_URL']
  const [plain, embedded, bridged]: [number[], number[], number[]] = [[], [], []]
  const model = uri === undefined ? undefined : await connect(uri)
  for (let round = 0; round < rounds; round += 1) {
    if (model && uri !== undefined) {
      plain.push(await plainRate(model, 3))
      bridged.push(await bridgedRate(model, uri, count))
    }
    embedded.push(await embeddedRate(count))
  }
  await model?.close()
  const workload = '8 · jobs made durable and sent'
  const ours = { workload, subject: 'transport.queue, published', figure: spread(embedded, 'jobs/s') }
  if (plain.length === 0) return [ours]
  const compared = (rates: readonly number[]) => ({ ratio: median(rates) / median(plain), goal: 2 })
  return [
    { workload, subject: 'amqplib, persistent, each confirm waited for', figure: spread(plain, 'messages/s') },
    { ...ours, ...compared(embedded) },
    { workload, subject: 'transport.rabbitmq, until the extractor has it', figure: spread(bridged, 'jobs/s'), ...compared(bridged) },
  ]
}

const info = (n: number): ExtractorInfo => ({
  name: `bench.extractor.${n}`,
  version: '1.0',
  description: 'An extractor that says that it lives',
  author: 'bench',
  contributors: [],
  contexts: [{ width: 'http://example.org/width' }],
  repository: [{ repType: 'git', repUrl: 'https://example.org/extractor.git' }],
  external_services: [],
  libraries: [],
  bibtex: [],
  maturity: 'Development',
  defaultLabels: [],
  process: { file: ['image/*'], dataset: [], metadata: [] },
  categories: ['EXTRACT'],
  parameters: {},
})

/** Workload 9: unchanged heartbeats per second. */
export const heartbeats = async (seconds: number): Promise<readonly Row[]> => {
  const texts = Array.from({ length: 500 }, (_, n) =>
    Buffer.from(JSON.stringify({ id: `extractor ${n}`, queue: info(n).name, owner: '', extractor_info: info(n) })),
  )
  let taken = 0
  const ear = new Heartbeats({
    link: undefined as never,
    log: silent,
    metrics: { count: () => undefined, gauge: () => undefined, observe: () => undefined },
    take: async () => {
      taken += 1
    },
  })
  for (const text of texts) ear.received(text)
  while (taken < texts.length) await pause(2)
  let received = 0
  const at = performance.now()
  while (performance.now() - at < seconds * 1000) {
    for (const text of texts) ear.received(text)
    received += texts.length
    await pause(0)
  }
  const rate = (received / (performance.now() - at)) * 1000
  const workload = '9 · heartbeats of 500 extractors, unchanged'
  return [{ workload, subject: 'taken in', figure: `${round(rate)} heartbeats/s`, ratio: rate, goal: 20_000 }]
}
