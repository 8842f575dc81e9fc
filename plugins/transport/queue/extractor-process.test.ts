import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { silent } from 'pounce/sdk/testing'
import { ExtractorProcess } from './extractor-process.ts'
import type { RunLimits } from './messages.ts'
import { openSandbox } from './open-sandbox.ts'
import { codeOf } from './process-pool.ts'
import type { RunFailure } from './run-failure.ts'

/** False also for a process that has exited but has not been reaped yet. */
const isRunning = (pid: number): boolean => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.startsWith('Z')
}

/** Polls until a condition holds. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(10)
}

async function setUp(t: ExecutionContext, memoryMb = 64, nativeMemoryMb = 256, starter: readonly string[] = []) {
  const folder = await mkdtemp(join(tmpdir(), 'pounce process, ü-'))
  await writeFile(join(folder, 'input'), 'hello')
  const sandbox = await openSandbox({ mode: 'off', firstUid: 64_200, dataFolder: folder, log: silent })
  const worker = await ExtractorProcess.start({
    folder: join(folder, 'process'),
    sandbox: { ...sandbox, slot: () => ({ ...sandbox.slot(), prefix: () => starter }) },
    readable: codeOf(new URL('./fixtures/echo.ts', import.meta.url)),
    needs: { childProcesses: true },
    memoryMb,
    nativeMemoryMb,
    maxOutputBytes: 1_000_000,
    log: silent,
  })
  t.teardown(async () => {
    await worker.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const run = (name: string, limits: Partial<RunLimits> = {}, parameters: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const input = {
      path: join(folder, 'input'),
      filename: 'a.txt',
      contentType: 'text/plain',
      sizeBytes: 5,
      outputFolder: folder,
      parameters,
    }
    const request = { module: new URL(`./fixtures/${name}.ts`, import.meta.url).href, input }
    const all = { timeoutMs: 20_000, signal: new AbortController().signal, progress: () => undefined, ...limits }
    return worker.run(request, all, async text => text)
  }
  return { folder, worker, run }
}

test('one process serves several runs', async t => {
  const { run, worker } = await setUp(t)
  const first = JSON.parse(await run('echo'))
  const second = JSON.parse(await run('echo'))
  t.is(first.metadata.text, 'hello')
  t.is(first.metadata.pid, second.metadata.pid)
  t.true(worker.isUsable)
  t.is(worker.runs, 2)
})

test('an extractor does not inherit the environment of the server', async t => {
  process.env['POUNCE_SECRET_OF_TEST'] = 'secret'
  const { run } = await setUp(t)
  const { metadata } = JSON.parse(await run('echo'))
  const allowed = new Set([
    'PATH',
    'HOME',
    'TMPDIR',
    'NODE_ENV',
    'LANG',
    'LC_ALL',
    'TZ',
    'LD_LIBRARY_PATH',
    'NODE_CHANNEL_FD',
    'NODE_CHANNEL_SERIALIZATION_MODE',
  ])
  t.deepEqual(
    metadata.names.filter((name: string) => !allowed.has(name)),
    [],
  )
})

test('an endless loop is stopped at its timeout', async t => {
  const { run, worker } = await setUp(t)
  const error = await t.throwsAsync<RunFailure>(run('loop', { timeoutMs: 700 }), { message: 'It took longer than 0.7 s and was stopped' })
  t.is(error.kind, 'killed')
  t.false(worker.isUsable)
})

test('exhausting the heap ends the process, not the server', async t => {
  const { run } = await setUp(t, 32)
  const error = await t.throwsAsync<RunFailure>(run('heap-hog'), { message: 'It exceeded 32 MiB of memory and was stopped' })
  t.is(error.kind, 'killed')
})

test('memory outside the heap is limited too', async t => {
  const { run } = await setUp(t, 32, 200)
  const error = await t.throwsAsync<RunFailure>(run('buffer-hog'), { message: 'It exceeded 232 MiB of memory and was stopped' })
  t.is(error.kind, 'killed')
})

test('a process that exits is reported as `killed`, an extractor that throws as `refused`', async t => {
  const first = await setUp(t)
  const exit = await t.throwsAsync<RunFailure>(first.run('exit'), { message: 'Its process exited without a result (exit code 3)' })
  t.is(exit.kind, 'killed')
  const second = await setUp(t)
  const thrown = await t.throwsAsync<RunFailure>(second.run('throw'), { message: /is damaged/ })
  t.is(thrown.kind, 'refused')
  t.true(second.worker.isUsable)
})

test('a process that exits during startup is reported with its exit code and its error output', async t => {
  const { run } = await setUp(t, 64, 256, ['/bin/sh', '-c', 'echo no such right >&2; exit 7', 'sh'])
  const failure = (await t.throwsAsync(run('echo'))) as RunFailure
  t.is(failure.message, 'The extractor process did not start (exit code 7)')
  t.is(failure.kind, 'fault')
  t.is((failure.cause as RunFailure).cause, 'no such right\n')
})

test('an uncaught error fails the run and retires the process', async t => {
  const { run, worker } = await setUp(t)
  const error = await t.throwsAsync<RunFailure>(run('late-throw'), { message: 'nobody caught this' })
  t.is(error.kind, 'refused')
  t.false(worker.isUsable)
})

test('an extractor can write only to its output folder', async t => {
  const { run } = await setUp(t)
  const elsewhere = await mkdtemp(join(tmpdir(), 'pounce-elsewhere-'))
  t.teardown(() => rm(elsewhere, { recursive: true, force: true }))
  const parameters = { path: join(elsewhere, 'file') }
  await t.throwsAsync(run('write', {}, parameters), { message: /permission|restricted/i })
  t.deepEqual(await readdir(elsewhere), [])
  t.is(await run('write', {}, { path: 'file' }), '{}')
})

test('a module that does not exist or exports no function is refused', async t => {
  const { run } = await setUp(t)
  t.is((await t.throwsAsync<RunFailure>(run('absent'))).kind, 'refused')
  t.is((await t.throwsAsync<RunFailure>(run('../messages'), { message: /exports no function/ })).kind, 'refused')
})

test('processes started by an extractor end with it', async t => {
  const { run, worker } = await setUp(t)
  const control = new AbortController()
  let pid = 0
  const running = run('grandchild', {
    signal: control.signal,
    progress: message => {
      pid = Number(message)
      control.abort(new Error('enough'))
    },
  })
  await t.throwsAsync(running, { message: 'enough' })
  t.false(worker.isUsable)
  await until(() => !isRunning(pid))
  t.false(isRunning(pid))
})

test('the folder of a process is deleted with it', async t => {
  const { run, worker, folder } = await setUp(t)
  await run('echo')
  t.true((await readdir(folder)).includes('process'))
  await worker.stop()
  t.false((await readdir(folder)).includes('process'))
})
