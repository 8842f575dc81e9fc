import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { eventually } from '../../../sdk/testing/transport-contract.ts'

const script = fileURLToPath(new URL('./fixtures/server.ts', import.meta.url))

/** Servers on one folder, one after the other. */
async function setUp(t: ExecutionContext) {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-kill-'))
  const confirmed = new Set<string>()
  let looping = 0
  let server: ChildProcess | undefined
  const runners = (): readonly Process[] => runnersBelow(server?.pid ?? -1)
  let left: readonly Process[] = []
  const kill = async (): Promise<void> => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    left = runners()
    const exited = once(server, 'exit')
    server.kill('SIGKILL')
    await exited
  }
  const start = (first: number, count: number, queue = 'wait'): void => {
    server = fork(script, [folder, `${first}`, `${count}`, queue], { execArgv: ['--disable-warning=ExperimentalWarning'] })
    server.on('message', message => {
      if (String(message).endsWith('looping')) looping += 1
      else confirmed.add(String(message))
    })
  }
  t.teardown(async () => {
    await kill()
    await eventually(() => stillThere(left).length === 0)
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const results = async (): Promise<readonly string[]> =>
    (await readFile(join(folder, 'results'), 'utf8').catch(() => '')).split('\n').filter(line => line !== '')
  return { folder, confirmed, looping: () => looping, runners, start, kill, results }
}

interface Process {
  readonly pid: string
  readonly parent: string
  readonly stat: string
  readonly command: string
}

const processes = (): readonly Process[] => {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8', maxBuffer: 1 << 26 })
  return stdout.split('\n').flatMap(line => {
    const [pid, parent, stat, ...words] = line.trim().split(/\s+/)
    return pid && parent && stat ? [{ pid, parent, stat, command: words.join(' ') }] : []
  })
}

/** The extractor processes that descend from a server. Their depth below it and their paths depend on the sandbox. */
function runnersBelow(server: number): readonly Process[] {
  const all = processes()
  const family = new Set([`${server}`])
  for (let before = 0; before < family.size; ) {
    before = family.size
    for (const { pid, parent } of all) if (family.has(parent)) family.add(pid)
  }
  return all.filter(({ pid, stat, command }) => family.has(pid) && !stat.startsWith('Z') && isRunner(command))
}

const isRunner = (command: string): boolean => /^\S*node .*\/runner\.ts /.test(`${command} `)

/** The IDs of those processes that are still running, even if their parents are not. */
const stillThere = (some: readonly Process[]): readonly string[] =>
  processes()
    .filter(({ pid, stat, command }) => !stat.startsWith('Z') && some.some(one => one.pid === pid && one.command === command))
    .map(({ pid }) => pid)

test('a repeatedly killed server loses no job, and runs only a few twice', async t => {
  const { folder, confirmed, start, kill, results } = await setUp(t)
  let published = 0
  for (const [round, afterMore] of [3, 8, 1, 12, 5].entries()) {
    const before = (await results()).length
    start(published, 25)
    published += 25
    await eventually(async () => (await results()).length >= before + afterMore)
    await kill()
    t.true(confirmed.size > 0, `round ${round}`)
  }
  start(published, 5)
  await eventually(async () => {
    const have = new Set(await results())
    return confirmed.size >= 5 && [...confirmed].every(id => have.has(id))
  })
  const all = await results()
  t.log(`${confirmed.size} confirmed, ${all.length} results, ${all.length - new Set(all).size} twice`)
  // Results being stored at a kill may be stored again: at most those of the jobs in progress, for each kill.
  t.true(all.length - new Set(all).size <= 5 * 8)
  await eventually(async () => (await readdir(join(folder, 'transport.queue', 'runs'))).length === 0)
})

test('a killed server leaves no extractor running, not even one in an endless loop', async t => {
  const { looping, runners, start, kill } = await setUp(t)
  start(0, 2, 'loop')
  // A waiting process would notice the end of the server; a looping one does not.
  await eventually(() => looping() === 2 && runners().filter(({ stat }) => stat.startsWith('R')).length === 2)
  const some = runners()
  t.is(some.length, 2)
  await kill()
  await eventually(() => stillThere(some).length === 0)
  t.deepEqual(stillThere(some), [])
})
