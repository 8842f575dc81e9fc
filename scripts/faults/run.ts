/**
 * `npm run faults`: uploads with two extractors over RabbitMQ, while kernels and the broker are killed. Every acknowledged upload must be stored,
 * every job delivered, and few of them twice. `--write` updates the counts in docs/reliability.md.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { TestFetch } from 'pounce/sdk/testing'
import { childAdmin } from '../../test/support/child-server.ts'
import { basic } from '../../test/support/people.ts'
import { newDataset, ok } from '../../test/support/scene.ts'
import { seededRandom as diceOf } from '../../test/support/seeded-random.ts'
import { placesOn, type ServerPart } from '../../test/support/server-places.ts'
import { until } from '../../test/support/until.ts'
import { balancer } from './balancer.ts'
import { ownBroker } from './broker.ts'
import { check } from './checking.ts'
import { FaultExtractor } from './extractor.ts'
import { Kernels } from './kernels.ts'
import { Uploading } from './uploading.ts'

const { values } = parseArgs({
  options: {
    uploads: { type: 'string', default: '1000' },
    'kernel-kills': { type: 'string', default: '20' },
    'broker-kills': { type: 'string', default: '5' },
    kernels: { type: 'string', default: '1' },
    /** Backends besides RabbitMQ that are servers, such as `documents.mongodb,blobs.s3,search.elasticsearch`, at `POUNCE_TEST_…_URL`. */
    parts: { type: 'string', default: '' },
    seed: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const wanted = { uploads: Number(values.uploads), kernelKills: Number(values['kernel-kills']), brokerKills: Number(values['broker-kills']) }
const seededRandom = diceOf(...(values.seed === undefined ? [] : [Number(values.seed)]))
const say = (text: string): void => void process.stderr.write(`${text}\n`)

const addressOf = (name: string): string => {
  const address = process.env[`POUNCE_TEST_${name}_URL`]
  if (!address) throw new Error(`POUNCE_TEST_${name}_URL is not set`)
  return address
}

const endings: (() => Promise<void>)[] = []

const run = async (): Promise<boolean> => {
  const broker = await ownBroker()
  endings.push(broker.end)
  const folder = await mkdtemp(join(tmpdir(), 'pounce-faults-'))
  endings.push(() => rm(folder, { recursive: true, force: true }))
  const front = await balancer()
  endings.push(front.close)
  const parts = values.parts.split(',').filter(part => part !== '') as ServerPart[]
  const places = await placesOn({ teardown: end => void endings.push(end) }, addressOf, parts)
  const kernels = new Kernels(
    folder,
    {
      ...places.settings,
      POUNCE_REPLACE_PLUGINS: [...parts, 'transport.rabbitmq', 'resources.event-sink'].join(','),
      POUNCE_TRANSPORT__RABBITMQ__URI: broker.url,
      POUNCE_TRANSPORT__RABBITMQ__MANAGEMENT_URL: broker.managementUrl,
    },
    front,
  )
  endings.push(() => kernels.end())
  await kernels.start(Number(values.kernels))

  /** A client that retries idempotent requests whose response was cut off by a kill. */
  const asking =
    (headers: Readonly<Record<string, string>>): TestFetch =>
    async (path, { json, ...init } = {}) => {
      const body = json === undefined ? {} : { body: JSON.stringify(json) }
      const type = json === undefined ? {} : { 'content-type': 'application/json' }
      const isSafe = (init.method ?? 'GET') === 'GET'
      for (let tries = 1; ; tries += 1) {
        try {
          return await fetch(front.url + path, { ...init, ...body, headers: { ...headers, ...type, connection: 'close' } })
        } catch (error) {
          if (!isSafe || tries > 100) throw error
          await pause(100)
        }
      }
    }

  const signedIn = asking({ authorization: basic(childAdmin.email, childAdmin.password) })
  const { key } = await ok<{ key: string }>(signedIn('/api/users/keys?name=faults', { method: 'POST' }))
  const call = asking({ 'x-api-key': key })
  const dataset = await newDataset(call)

  const extractors = ['faults.first', 'faults.second'].map(name => new FaultExtractor(name, broker.url))
  for (const extractor of extractors) {
    extractor.start()
    endings.push(() => extractor.end())
  }
  const names = extractors.map(({ name }) => name)
  await until('the extractors to be registered', async () => {
    const known = (await ok<{ name: string }[]>(call('/api/extractors'))).map(({ name }) => name)
    return names.every(name => known.includes(name))
  })
  await ok(call('/api/extractors/enabled?superAdmin=true', { method: 'POST', json: { enabled: names } }))

  const began = performance.now()
  const uploading = new Uploading(call, dataset, seededRandom)
  const uploaded = uploading.run(wanted.uploads)
  let brokerKills = 0
  const step = wanted.uploads / (wanted.kernelKills + 1)
  const killBroker = async (): Promise<void> => {
    for (; brokerKills < wanted.brokerKills; brokerKills += 1) {
      const due = ((brokerKills + 1) * wanted.uploads) / (wanted.brokerKills + 1)
      await until('uploads', () => uploading.acked.length >= due, Boolean, 600_000)
      await broker.kill()
      await pause(seededRandom.int(2000))
      await broker.start()
      say(`broker killed ${brokerKills + 1}×, ${uploading.acked.length} uploads acknowledged`)
    }
  }
  const killKernels = async (): Promise<void> => {
    for (let n = 1; n <= wanted.kernelKills; n += 1) {
      await until('uploads', () => uploading.acked.length >= n * step, Boolean, 600_000)
      await kernels.killOne(seededRandom)
      say(`kernel killed ${n}×, ${uploading.acked.length} uploads acknowledged`)
    }
  }
  await Promise.all([uploaded, killBroker(), killKernels()])
  const uploadSeconds = (performance.now() - began) / 1000
  say('waiting for the extractors')
  const { faults, jobs, duplicates } = await check(call, uploading.acked, extractors, 600_000)
  const seconds = (performance.now() - began) / 1000

  const isKept = faults.length === 0 && duplicates <= jobs * 0.01
  const lines = [
    `Parts: ${parts.length === 0 ? 'SQLite, disk, FTS5' : parts.join(', ')}, RabbitMQ; ${values.kernels} ${values.kernels === '1' ? 'kernel' : 'kernels'}; seed ${seededRandom.seed}.`,
    '',
    '| What | Count |',
    '|---|---|',
    `| uploads acknowledged | ${uploading.acked.length} |`,
    `| uploads interrupted by a kill | ${uploading.cutOff} |`,
    `| uploads refused (503) | ${uploading.refused.length} |`,
    `| kernels killed | ${kernels.kills} |`,
    `| broker killed | ${brokerKills} |`,
    `| jobs | ${jobs} |`,
    `| jobs delivered more than once, under the same id | ${duplicates} (${((duplicates / Math.max(jobs, 1)) * 100).toFixed(2)} %) |`,
    `| requeued by an extractor because the server was unavailable | ${extractors.reduce((sum, each) => sum + each.retries, 0)} |`,
    `| dead-lettered by an extractor, and resent | ${extractors.reduce((sum, each) => sum + each.gaveUp, 0)} |`,
    `| lost or damaged records, bytes, jobs, metadata | ${faults.length} |`,
    `| seconds of uploads; until everything was processed | ${uploadSeconds.toFixed(0)}; ${seconds.toFixed(0)} |`,
  ]
  process.stdout.write(`${lines.join('\n')}\n${faults.slice(0, 40).join('\n')}\n${uploading.refused.slice(0, 5).join('\n')}\n`)

  if (values.write) {
    const path = join(import.meta.dirname, '../../docs/reliability.md')
    const mark = `<!-- ${values.kernels} kernels, ${parts.join(' ') || 'embedded'} -->`
    const text = await readFile(path, 'utf8')
    const at = text.indexOf(mark)
    if (at < 0) throw new Error(`docs/reliability.md has no section for this run: ${mark} is missing`)
    const after = text.indexOf('<!-- /run -->', at)
    const date = new Date().toISOString().slice(0, 10)
    await writeFile(path, `${text.slice(0, at + mark.length)}\n\nRun on ${date}. ${lines.join('\n')}\n\n${text.slice(after)}`)
  }

  return isKept
}

try {
  process.exitCode = (await run()) ? 0 : 1
} finally {
  for (const end of endings.reverse()) await end()
}
process.exit()
