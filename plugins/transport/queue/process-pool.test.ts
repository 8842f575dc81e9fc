import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { Extractor } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { openSandbox } from './open-sandbox.ts'
import { type PoolOptions, ProcessPool } from './process-pool.ts'

async function setUp(t: ExecutionContext, options: Partial<PoolOptions> = {}) {
  const root = await mkdtemp(join(tmpdir(), 'pounce-pool-'))
  const folder = join(root, 'processes')
  await writeFile(join(root, 'input'), 'hello')
  const pool = new ProcessPool({
    size: 2,
    runsPerProcess: 100,
    idleMs: 60_000,
    nativeMemoryMb: 256,
    folder,
    maxOutputBytes: 1_000_000,
    sandbox: () => openSandbox({ mode: 'off', firstUid: 64_200, dataFolder: root, log: silent }),
    log: silent,
    ...options,
  })
  t.teardown(async () => {
    await pool.dispose()
    await rm(root, { recursive: true, force: true })
  })
  /** Runs a fixture and returns the ID of its process. */
  const run = async (name = 'echo', memoryMb = 64): Promise<number> => {
    const module = new URL(`./fixtures/${name}.ts`, import.meta.url)
    const extractor = { memoryMb, module } as Extractor
    const input = { path: join(root, 'input'), filename: 'a', contentType: 'text/plain', sizeBytes: 5, outputFolder: root, parameters: {} }
    const request = { module: module.href, input }
    const signal = new AbortController().signal
    const output = await pool.run(extractor, request, { timeoutMs: 20_000, signal, progress: () => undefined }, async text => text)
    return JSON.parse(output).metadata.pid
  }
  const processes = async (): Promise<number> => (await readdir(folder)).length
  return { pool, run, processes }
}

test('runs with the same memory limit share a process, others do not', async t => {
  const { run, processes } = await setUp(t)
  const first = await run()
  t.is(await run(), first)
  t.not(await run('echo', 96), first)
  t.is(await run(), first)
  t.is(await processes(), 2)
})

test('disposing of the pool while a process is starting leaves nothing behind', async t => {
  const { pool, run, processes } = await setUp(t)
  const failed = t.throwsAsync(run('loop'))
  for (let found = 0; found === 0; await pause(1)) found = await processes().catch(() => 0)
  await pool.dispose()
  t.is(await processes(), 0)
  await failed
})

test('an idle process is replaced when a run needs another memory limit', async t => {
  const { run, processes } = await setUp(t, { size: 1 })
  await run()
  await run('echo', 96)
  t.is(await processes(), 1)
})

test('when the pool is full, an extractor can run only if an idle process has its memory limit', async t => {
  const { pool, run } = await setUp(t, { size: 1 })
  const module = new URL('./fixtures/echo.ts', import.meta.url)
  const [same, other] = [64, 96].map(memoryMb => ({ memoryMb, module }) as Extractor)
  t.true(pool.hasRoomFor(other))
  await run()
  t.true(pool.hasRoomFor(same))
  t.false(pool.hasRoomFor(other))
})

test('a process is replaced after `runsPerProcess` runs', async t => {
  const { run } = await setUp(t, { runsPerProcess: 2 })
  const first = await run()
  t.is(await run(), first)
  t.not(await run(), first)
})

test('a process is not reused after a failed run', async t => {
  const { run } = await setUp(t)
  const first = await run()
  await t.throwsAsync(run('exit'))
  t.not(await run(), first)
})

test('an idle process is stopped after `idleMs`', async t => {
  const { run, processes } = await setUp(t, { idleMs: 50 })
  await run()
  while ((await processes()) > 0) await pause(10)
  t.is(await processes(), 0)
})
