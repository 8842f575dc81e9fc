/**
 * `npm run bench:flames`: flame graphs of the server's main thread under load, as docs/performance/<workload>.svg. `--only ingest,dataset` selects
 * workloads; `--tree <folder>` profiles another checkout, `--suffix=-before` is added to its file names. The server runs from its sources, so that
 * function and file names are those of the code.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type CpuProfile, drawFlame, framesOf } from './draw-flame.ts'
import { unitsPerSecond, withoutExtractors } from './ingest.ts'
import { load, onePart, request } from './load.ts'
import { newKey, type Server, sent, startPounce } from './servers.ts'

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, tree: { type: 'string', default: '' }, suffix: { type: 'string', default: '' } },
})
const root = join(import.meta.dirname, '../..')
const tree = values.tree === '' ? root : resolve(values.tree)
const seconds = 8
const { plugins } = JSON.parse(await readFile(join(tree, 'config/default.json'), 'utf8')) as { plugins: readonly string[] }

const newDataset = (server: Server, key: string, name = 'profiled'): Promise<string> =>
  sent(
    server,
    '/api/datasets/createempty',
    { 'x-api-key': key, 'content-type': 'application/json' },
    JSON.stringify({ name, description: '' }),
  )

const newFile = async (server: Server, key: string, bytes: number): Promise<string> => {
  const { type, body } = onePart('profiled.bin', 'application/octet-stream', Buffer.alloc(bytes, 'leaf '))
  const dataset = await newDataset(server, key)
  return sent(server, `/api/uploadToDataset/${dataset}?extract=false`, { 'x-api-key': key, 'content-type': type }, body)
}

const get = async ({ port }: Server, path: string, key: string, connections = 32): Promise<void> => {
  const bytes = request('GET', path, { 'x-api-key': key })
  const { errors } = await load({ port, connections, seconds, warmUpSeconds: 0, newState: () => undefined, next: () => bytes })
  if (errors > 0) throw new Error(`${path}: ${errors} error responses`)
}

/** The load, and the title of its image. */
const workloads: Readonly<Record<string, { readonly title: string; readonly run: (server: Server, key: string) => Promise<unknown> }>> = {
  ingest: {
    title: 'Workload 1: dataset, file of 4 kB and metadata, 32 clients',
    run: (server, key) => unitsPerSecond(server, key, seconds, 0),
  },
  dataset: {
    title: 'GET of a dataset by id, 32 clients',
    run: async (server, key) => get(server, `/api/datasets/${await newDataset(server, key)}`, key),
  },
  download: {
    title: 'GET of a file of 4 kB, 32 clients',
    run: async (server, key) => get(server, `/api/files/${await newFile(server, key, 4096)}`, key),
  },
  listing: {
    title: 'GET of the 50 newest datasets, 32 clients',
    run: async (server, key) => {
      for (let n = 0; n < 60; n += 1) await newDataset(server, key, `listed ${n}`)
      await get(server, '/api/datasets?limit=50', key)
    },
  },
  search: {
    title: 'Search for a word that 60 datasets have, 8 clients',
    run: async (server, key) => {
      for (let n = 0; n < 60; n += 1) await newDataset(server, key, `searched ${n}`)
      await get(server, '/api/search?query=searched&size=20', key, 8)
    },
  },
}

const profiled = async (name: string): Promise<void> => {
  const workload = workloads[name]
  if (!workload) throw new Error(`Unknown workload ${name}; one of ${Object.keys(workloads).join(', ')} expected`)
  const folder = await mkdtemp(join(tmpdir(), 'pounce-flames-'))
  const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-interval=500']
  const settings = { POUNCE_PLUGINS: withoutExtractors(plugins), POUNCE_TEST_TREE: 'true' }
  const server = await startPounce({ tree, flags, settings })
  const key = await newKey(server)
  const fromUs = Number(process.hrtime.bigint() / 1000n)
  await workload.run(server, key)
  await server.stop()
  // There is one profile per thread; the main thread is 0.
  const written = (await readdir(folder)).find(file => /^CPU\.\d+\.\d+\.\d+\.0\./.test(file))
  if (written === undefined) throw new Error(`No profile of the main thread in ${folder}`)
  const frames = framesOf(JSON.parse(await readFile(join(folder, written), 'utf8')) as CpuProfile, fromUs)
  await writeFile(join(root, `docs/performance/${name}${values.suffix}.svg`), drawFlame(frames, workload.title))
  await rm(folder, { recursive: true, force: true })
  process.stdout.write(`${name}: ${Math.round(frames.totalUs / 1000)} ms of the main thread\n`)
}

for (const name of values.only === '' ? Object.keys(workloads) : values.only.split(',')) await profiled(name)
process.exit(0)
