import { randomBytes } from 'node:crypto'
import test from 'ava'
import { type Comments, Conflict, type Files, Invalid, type MetadataDocuments, type Searchable, type Sections } from 'pounce/sdk'
import { PermissionCatalog } from 'pounce/sdk/kit'
import { FixedClock, silent } from 'pounce/sdk/testing'
import { everything, request, searchDocument, searchId } from '../../../sdk/testing/search-documents.ts'
import { freshIndex } from '../../../test/support/fts-index.ts'
import { MemoryDocuments } from '../../../test/support/memory-documents.ts'
import { until } from '../../../test/support/until.ts'
import { IndexRebuilder } from './index-rebuilder.ts'
import { IndexSources } from './index-sources.ts'
import { Indexer } from './indexer.ts'
import { ReindexTasks } from './reindex-tasks.ts'

const none = () => Promise.reject(new Error('not called here'))
const metadata: MetadataDocuments = { add: none, get: none, of: async () => ({ items: [] }) }
const comments: Comments = { add: none, edit: none, get: none, of: async () => ({ items: [] }) }
const sections = { of: async () => ({ items: [] }) } as Pick<Sections, 'of'> as Sections
const files: Files = {
  get: none,
  getMany: none,
  change: none,
  create: none,
  copy: none,
  in: none,
  named: none,
  countIn: none,
  ofBatch: none,
  async *ofDataset() {
    yield* []
  },
}

/** Blocks its callers until it is opened. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { passed: promise, open: resolve }
}

/** Kernels on one store and one index with three files, the second of which waits for `hold` on each read. */
async function kernels(t: Parameters<typeof freshIndex>[0], hold: () => Promise<void> = () => Promise.resolve()) {
  const { index } = await freshIndex(t)
  const clock = new FixedClock()
  const documents = new MemoryDocuments(clock, { next: () => randomBytes(12).toString('hex') })
  let readings = 0
  const logged: (readonly [level: string, message: string, fields: unknown])[] = []
  const level = (name: string) => (message: string, fields?: unknown) => void logged.push([name, message, fields])
  const log = { debug: silent.debug, info: level('info'), warn: level('warn'), error: level('error') }
  const searchable: Searchable = {
    kind: 'file',
    describe: async ids => new Map(ids.map(id => [id, searchDocument(Number.parseInt(id, 16), { name: 'leaf' })])),
    async *all() {
      readings += 1
      yield searchId(1)
      await hold()
      yield* [searchId(2), searchId(3)]
    },
    present: none,
    summarize: none,
  }
  const searchables = { all: () => [searchable] }
  const make = (roles: readonly ('http' | 'worker')[] = ['http', 'worker']): IndexRebuilder => {
    const contents = new IndexSources(new Indexer(index, searchables, metadata, comments, sections), searchables, files)
    const place = {
      instance: 'test',
      version: '0',
      dataFolder: '',
      baseUrl: '',
      plugins: [],
      admins: [],
      permissions: new PermissionCatalog(),
    }
    return new IndexRebuilder(
      index,
      contents,
      new ReindexTasks(documents, clock),
      { ...place, roles: new Set(roles) },
      { all: () => [] },
      log,
    )
  }
  const count = async (): Promise<number> => (await index.search(request({ op: 'all' }, { scope: everything }))).total
  return { make, index, clock, count, readings: () => readings, logged }
}

const state = (kernel: IndexRebuilder, wanted: string) =>
  until(
    `the state ${wanted}`,
    () => kernel.latest(),
    latest => latest?.state === wanted,
  )

test('one of several kernels builds the index, and all can read the result', async t => {
  const { make, count, readings } = await kernels(t)
  const [one, two] = [make(), make()]
  await Promise.all([one.request(null, true, 'test'), two.request(null, true, 'test'), one.run(), two.run()])
  const done = await state(two, 'done')
  t.like(done, { count: 3, total: 3, problem: null, owner: null })
  t.is(await count(), 3)
  t.is(readings(), 2, 'counted once and read once')
  await Promise.all([one.dispose(), two.dispose()])
})

test('a kernel that only serves requests leaves the rebuild to one that runs jobs', async t => {
  const { make, count } = await kernels(t)
  const [serving, working] = [make(['http']), make()]
  t.like(await serving.request(null, true, 'test'), { state: 'queued' })
  t.is(await count(), 0)
  await working.run()
  await state(serving, 'done')
  t.is(await count(), 3)
  await working.dispose()
})

test('the index is not emptied while a rebuild counts, and a rebuild requested after it was emptied fills it', async t => {
  const held = gate()
  const { make, count } = await kernels(t, () => held.passed)
  const kernel = make()
  await kernel.request(null, true, 'test')
  await state(kernel, 'running')
  await t.throwsAsync(kernel.clear(0), { instanceOf: Conflict })
  const cleared = kernel.clear()
  held.open()
  await cleared
  t.like(await kernel.latest(), { state: 'done', count: 3 }, 'a rebuild that ends soon is awaited')
  t.is(await count(), 0)
  t.like(await kernel.request(null, true, 'test'), { state: 'queued' })
  await state(kernel, 'done')
  t.is(await count(), 3)
  await kernel.dispose()
})

test('the rebuild of a killed kernel is resumed after its lease expires, and not before', async t => {
  const held = gate()
  let isHeld = true
  const { make, clock, count } = await kernels(t, () => (isHeld ? held.passed : Promise.resolve()))
  const [killed, next] = [make(), make()]
  await killed.request(null, true, 'test')
  await state(next, 'running')
  await next.run()
  t.like(await next.request(null, true, 'again'), { state: 'running', reason: 'test' })
  t.is(await count(), 0)
  isHeld = false
  clock.advance(60_000)
  await next.run()
  await state(next, 'done')
  t.is(await count(), 3)
  held.open()
  await Promise.all([killed.dispose(), next.dispose()])
  t.like(await next.latest(), { state: 'done', count: 3 })
})

test('a rebuild of a killed kernel does not wait for the end of a lease from before the clock was set back', async t => {
  const [began, held] = [gate(), gate()]
  let isHeld = true
  const hold = (): Promise<void> => {
    began.open()
    return isHeld ? held.passed : Promise.resolve()
  }
  const { make, clock, count } = await kernels(t, hold)
  const [killed, next] = [make(), make()]
  await killed.request(null, true, 'test')
  await began.passed
  isHeld = false
  clock.advance(-24 * 60 * 60_000)
  await next.run()
  t.is(await until('the rebuild to end', count, found => found > 0, 5000), 3)
  held.open()
  await Promise.all([killed.dispose(), next.dispose()])
})

test('a kernel that stops releases its rebuild, which is not logged as a failure', async t => {
  const held = gate()
  const { make, count, logged } = await kernels(t, () => held.passed)
  const [first, second] = [make(), make()]
  await first.request(null, true, 'test')
  await state(first, 'running')
  const stopped = first.dispose()
  held.open()
  await stopped
  t.deepEqual(
    logged.map(([level]) => level),
    ['info', 'info'],
  )
  t.like(logged.at(-1), {
    1: 'Search index rebuild interrupted by shutdown; it continues at the next start or on another kernel',
    2: undefined,
  })
  t.like(await second.latest(), { state: 'queued', owner: null })
  await second.run()
  await state(second, 'done')
  t.is(await count(), 3)
  await second.dispose()
})

test('a check interrupted by shutdown is not logged', async t => {
  const { make, index, logged } = await kernels(t)
  const { promise, reject } = Promise.withResolvers<boolean>()
  index.needsRebuild = () => promise
  const [stopped, running] = [make(), make()]
  stopped.start()
  running.start()
  await stopped.dispose()
  reject(new Error('the index is closed'))
  await until(
    'the running kernel to log its warning',
    async () => logged.map(([, message]) => message),
    messages => messages.length > 0,
  )
  t.deepEqual(
    logged.map(([, message]) => message),
    ['Failed to check the search index'],
  )
})

test('a failure is reported without the error message, unless it is a Problem', async t => {
  for (const [error, problem] of [
    [new Error('/secret/path'), /^an internal error; see the server log$/],
    [new Invalid('The document is too large'), /^The document is too large$/],
  ] as const) {
    const { make, logged } = await kernels(t, () => Promise.reject(error))
    const kernel = make()
    await kernel.request(null, true, 'test')
    const { problem: logLine } = (await state(kernel, 'failed')) ?? {}
    t.regex(logLine ?? '', problem)
    await kernel.dispose()
    t.deepEqual(logged.at(-1), ['error', 'Search index rebuild failed', { error }])
  }
})

test('the command waits for its rebuild to end, and is refused while another kernel runs one', async t => {
  const held = gate()
  const { make, count } = await kernels(t, () => held.passed)
  const [server, command] = [make(), make()]
  await server.request(null, true, 'test')
  await state(server, 'running')
  await t.throwsAsync(
    command.rebuild(() => undefined),
    { instanceOf: Conflict },
  )
  held.open()
  await state(server, 'done')
  t.is(await command.rebuild(() => undefined), 3)
  t.is(await count(), 3)
  await Promise.all([server.dispose(), command.dispose()])
})

test('an index that replaced the one in use is rebuilt once, and one that was emptied on purpose is not', async t => {
  const { make, index, count } = await kernels(t)
  const kernel = make()
  await kernel.rebuild(() => undefined)
  await kernel.clear()
  await kernel.run()
  t.like(await kernel.latest(), { state: 'done', reason: 'by the reindex command' })
  t.is(await count(), 0)

  await index.clear()
  await kernel.run()
  t.like(await state(kernel, 'done'), { reason: 'another index was in use meanwhile' })
  t.is(await count(), 3)
  const { requested } = (await kernel.latest()) ?? {}
  await kernel.run()
  t.like(await kernel.latest(), { state: 'done', requested })
  await kernel.dispose()
})
