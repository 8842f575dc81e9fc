import { placesOn, type ServerPart } from '../../test/support/server-places.ts'
import { load, onePart, request } from './load.ts'
import { newKey, type Server, startBaseline, startPounce } from './servers.ts'
import { median, type Row, round, spread } from './table.ts'

interface Unit {
  step: number
  dataset: string
  file: string
  count: number
}

const clients = 32
const sample = onePart('sample.txt', 'text/plain', Buffer.alloc(4096, 'leaf '))
const json = { 'content-type': 'application/json' }
const document = JSON.stringify({
  '@context': ['https://example.org/context'],
  agent: { '@type': 'cat:user', user_id: 'https://example.org/api/users/u', name: 'U' },
  content: { instrument: 'camera 7', depth: 12.5, note: 'a short note about plot 3' },
})

/** Dataset, 4 kB file, metadata: three sequential durable requests on each of 32 connections; resolves to units per second. */
export const unitsPerSecond = async (
  server: Server,
  key: string,
  seconds: number,
  warmUpSeconds = 1,
): Promise<{ units: number; p99: number; errors: number }> => {
  let units = 0
  let counting = false
  const auth = { 'x-api-key': key }
  setTimeout(() => {
    counting = true
  }, warmUpSeconds * 1000)
  const measured = await load<Unit>({
    port: server.port,
    connections: clients,
    seconds,
    warmUpSeconds,
    wantsBody: true,
    newState: () => ({ step: 0, dataset: '', file: '', count: 0 }),
    next: state => {
      state.count += 1
      if (state.step === 0)
        return request(
          'POST',
          '/api/datasets/createempty',
          { ...auth, ...json },
          JSON.stringify({ name: `set ${state.count}`, description: 'a test' }),
        )
      if (state.step === 1)
        return request('POST', `/api/uploadToDataset/${state.dataset}`, { ...auth, 'content-type': sample.type }, sample.body)
      return request('POST', `/api/files/${state.file}/metadata.jsonld`, { ...auth, ...json }, document)
    },
    got: (state, status, body) => {
      if (status >= 400) throw new Error(`${status}: ${body}`)
      if (state.step === 0) state.dataset = (JSON.parse(body) as { id: string }).id
      if (state.step === 1) state.file = (JSON.parse(body) as { id: string }).id
      if (state.step === 2 && counting) units += 1
      state.step = (state.step + 1) % 3
    },
  })
  return { units: units / seconds, p99: measured.p99, errors: measured.errors }
}

/** Built-in extractors would process every file on the same cores; the baseline has none, so neither side runs them. */
export const withoutExtractors = (plugins: readonly string[]): string =>
  JSON.stringify(plugins.filter(plugin => !plugin.startsWith('extractors.')))

/** Workload 1: small-file ingest with all side effects. */
export const ingest = async (rounds: number, seconds: number, plugins: readonly string[]): Promise<readonly Row[]> => {
  const pounce: number[] = []
  const baseline: number[] = []
  const p99: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    for (const isPounce of round % 2 === 0 ? [true, false] : [false, true]) {
      const server = isPounce ? await startPounce({ settings: { POUNCE_PLUGINS: withoutExtractors(plugins) } }) : await startBaseline()
      const measured = await unitsPerSecond(server, isPounce ? await newKey(server) : 'none', seconds)
      await server.stop()
      ;(isPounce ? pounce : baseline).push(measured.units)
      if (isPounce) p99.push(measured.p99)
    }
  }
  const workload = '1 · dataset + 4 kB + metadata, 32 clients'
  return [
    { workload, subject: 'node:http + node:sqlite, group commit', figure: spread(baseline, 'units/s') },
    {
      workload,
      subject: `Pounce (p99 of a request ${round(median(p99))} ms)`,
      figure: spread(pounce, 'units/s'),
      ratio: median(pounce) / median(baseline),
      goal: 0.85,
    },
  ]
}

const servers = ['MONGODB', 'S3', 'ELASTICSEARCH', 'RABBITMQ', 'RABBITMQ_MANAGEMENT'] as const
const parts: readonly ServerPart[] = ['documents.mongodb', 'blobs.s3', 'search.elasticsearch', 'transport.rabbitmq']

/** Workload 1 on the servers at `POUNCE_TEST_…_URL`, compared with the embedded backends; no rows if one of the variables is not set. */
export const ingestOnServers = async (rounds: number, seconds: number, plugins: readonly string[]): Promise<readonly Row[]> => {
  const address = (name: string): string => process.env[`POUNCE_TEST_${name}_URL`] ?? ''
  if (servers.some(name => address(name) === '')) return []
  const [embedded, distributed]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    for (const rates of round % 2 === 0 ? [embedded, distributed] : [distributed, embedded]) {
      const endings: (() => Promise<void>)[] = []
      const { settings } = await placesOn({ teardown: end => void endings.push(end) }, address, rates === embedded ? [] : parts)
      const server = await startPounce({ settings: { ...settings, POUNCE_PLUGINS: withoutExtractors(plugins) } })
      rates.push((await unitsPerSecond(server, await newKey(server), seconds)).units)
      await server.stop()
      for (const end of endings) await end()
    }
  }
  const workload = '1 · the same on servers of this machine'
  return [
    { workload, subject: 'embedded parts', figure: spread(embedded, 'units/s') },
    {
      workload,
      subject: 'MongoDB, S3, Elasticsearch, RabbitMQ',
      figure: spread(distributed, 'units/s'),
      ratio: median(distributed) / median(embedded),
    },
  ]
}
