import { existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { silent, skippedBecause } from 'pounce/sdk/testing'
import { eventually } from '../../../sdk/testing/transport-contract.ts'
import { Bubblewrap } from './bubblewrap.ts'
import { dataFolder, sandboxedProcess } from './fixtures/sandboxed-process.ts'
import { openSandbox } from './open-sandbox.ts'
import { OwnUser } from './own-user.ts'
import type { Sandbox } from './sandbox.ts'

const firstUid = 64_200 + (process.pid % 1000)
const ownCode = fileURLToPath(new URL('./runner.ts', import.meta.url))

const userFolder = join(tmpdir(), `pounce-sandbox-test-${process.pid}`)
const probedUser = await OwnUser.probe({
  folder: userFolder,
  // Inaccessible to all other users; the results of the probe are tested below.
  dataFolder: '/root',
  code: ownCode,
  firstUid,
})
const probed = { bubblewrap: await Bubblewrap.probe(), user: probedUser }
const alone: Sandbox = await openSandbox({ mode: 'off', firstUid, dataFolder: '/', log: silent })

test.after.always(() => rm(userFolder, { recursive: true, force: true, maxRetries: 5 }))

const listening = (server: Server, at: number | string): Promise<Server> => new Promise(resolve => server.listen(at, () => resolve(server)))

/** Servers that an extractor must not reach; `visits` counts connections. */
async function servers(t: ExecutionContext, data: string) {
  let visits = 0
  const visited = () =>
    createServer(socket => {
      visits += 1
      socket.destroy()
    })
  const tcp = await listening(visited(), 0)
  const unix = await listening(visited(), join(data, 'socket'))
  t.teardown(() => Promise.all([tcp, unix].map(server => new Promise(closed => server.close(closed)))))
  const address = tcp.address()
  return { port: String(typeof address === 'object' ? address?.port : ''), socket: join(data, 'socket'), visits: () => visits }
}

/** Every operation that is denied to the JavaScript of an extractor, and its target. */
const waysOfScripts = (
  data: string,
  { port, socket }: { readonly port: string; readonly socket: string },
): readonly (readonly [string, string])[] => {
  const inData = (name: string): string => join(data, name)
  const secrets = [inData('pounce.db'), inData('config.json'), inData('blobs/other'), inData('blobs/input')]
  const system = ['/etc/passwd', '/etc/hostname', '/proc/self/environ', `/proc/${process.pid}/environ`, `/proc/${process.pid}/cmdline`]
  return [
    ...[...secrets, ...system].map(path => ['read', path] as const),
    ...[data, '/', '/etc', '/proc', inData('processes')].map(path => ['list', path] as const),
    ...[inData('new'), '/tmp/escaped', inData('pounce.db'), ownCode].map(path => ['write', path] as const),
    ...['symlink', 'hardlink', 'worker'].map(way => [way, inData('config.json')] as const),
    ...['sqlite', 'builtin'].map(way => [way, inData('pounce.db')] as const),
    ...['tcp', 'fetch', 'webSocket'].map(way => [way, port] as const),
    ...['kill', 'killBelow', 'debug'].map(way => [way, String(process.pid)] as const),
    ...['require', 'resolved', 'hooks', 'listen', 'udp', 'dns', 'spawn', 'replace', 'inspector', 'binding', 'flags', 'shm'].map(
      way => [way, ''] as const,
    ),
    ...['overwriteInput', 'chmodInput'].map(way => [way, ''] as const),
    ['unix', socket],
    ['rename', inData('renamed')],
    ['report', inData('report.json')],
    ['dlopen', '/usr/lib/anything.node'],
  ]
}

/** The same for native code, which Node's permission model does not restrict: programs for a Node without it, each of which prints nothing when it fails. */
const waysOfPrograms = (data: string, { port, socket }: { readonly port: string; readonly socket: string }): readonly string[] => {
  const reads = (path: string): string => `require('node:fs').readFileSync(${JSON.stringify(path)})`
  const connects = (options: object): string =>
    `require('node:net').connect(${JSON.stringify(options)}).on('connect', () => process.exit(0)).on('error', () => process.exit(1))`
  return [
    ...['pounce.db', 'config.json', 'blobs/other', 'blobs/input'].map(name => reads(join(data, name))),
    reads(`/proc/${process.pid}/environ`),
    `require('node:fs').readdirSync(${JSON.stringify(join(data, 'blobs'))})`,
    ...[join(data, 'new'), join(data, 'pounce.db'), ownCode, '/etc/escaped'].map(
      path => `require('node:fs').writeFileSync(${JSON.stringify(path)}, '')`,
    ),
    `process.kill(${process.pid}, 0)`,
    `process._debugProcess(${process.pid})`,
    connects({ port: Number(port), host: '127.0.0.1' }),
    connects({ path: socket }),
    `require('node:dns').lookup('example.org', error => process.exit(error ? 1 : 0))`,
  ]
}

const layers = [
  ['the permission model alone', test, alone],
  ...(['bubblewrap', 'user'] as const).map(kind => {
    const sandbox = probed[kind]
    return [kind, typeof sandbox === 'string' ? skippedBecause(test, sandbox) : test, sandbox] as const
  }),
] as const

const asRoot = process.getuid?.() === 0 ? test : skippedBecause(test, 'a dedicated user requires root')

asRoot('the folder that a dedicated user has outside the data folder is deleted with it', async t => {
  const folder = `${userFolder}-goes`
  const user = await OwnUser.probe({ folder, dataFolder: '/root', code: ownCode, firstUid })
  t.true(existsSync(folder))
  if (typeof user === 'string') throw new Error(user)
  await user.dispose()
  t.false(existsSync(folder))
})

for (const [layer, test, sandbox] of layers) {
  if (typeof sandbox === 'string') {
    test(`${layer}: an extractor cannot escape`, () => undefined)
    continue
  }

  test(`${layer}: scripts cannot escape`, async t => {
    const data = await dataFolder(t)
    const { visits, ...targets } = await servers(t, data)
    const { tries, worker } = await sandboxedProcess(t, sandbox, data)
    t.is(await tries('input'), 'hello')
    const before = await readdir(data, { recursive: false })
    for (const [way, target] of waysOfScripts(data, targets)) await t.throwsAsync(tries(way, target), undefined, `${way} ${target}`)
    t.true(worker.isUsable)
    t.is(visits(), 0)
    t.deepEqual(await readdir(data), before)
    t.is(await readFile(join(data, 'blobs', 'input'), 'utf8'), 'hello')
  })

  test(`${layer}: the environment of the server is not inherited`, async t => {
    process.env['POUNCE_SECRET_OF_TEST'] = 'secret'
    const { tries } = await sandboxedProcess(t, sandbox, await dataFolder(t))
    const names = Object.keys((await tries('environment')) as object)
    const expected = new Set(['HOME', 'LANG', 'LC_ALL', 'LD_LIBRARY_PATH', 'PATH', 'PWD', 'TMPDIR', 'TZ'])
    t.deepEqual(
      names.filter(name => !expected.has(name)),
      [],
    )
  })

  test(`${layer}: a run that writes endlessly is stopped`, async t => {
    const data = await dataFolder(t)
    const first = await sandboxedProcess(t, sandbox, data)
    await t.throwsAsync(first.tries('fill'), { message: 'It wrote more than 2000000 bytes and was stopped' })
    const second = await sandboxedProcess(t, sandbox, data)
    // Files are limited in blocks of 512 bytes, to slightly more than the folder: on a busy machine the run can be stopped before its write fails.
    await t.throwsAsync(second.tries('grow'), { message: /EFBIG|It wrote more than 2000000 bytes/ })
  })

  test(`${layer}: an overlong or malformed message ends the process, not the server`, async t => {
    const data = await dataFolder(t)
    for (const way of ['line', 'nonsense']) {
      const { tries, worker } = await sandboxedProcess(t, sandbox, data)
      await t.throwsAsync(tries(way), { message: 'Its messages could not be read, and it was stopped' })
      t.false(worker.isUsable)
    }
  })

  test(`${layer}: a run that starts more than 32 processes is stopped`, async t => {
    const { tries } = await sandboxedProcess(t, sandbox, await dataFolder(t), { childProcesses: true })
    await t.throwsAsync(tries('forks', '40'), { message: 'It started more than 32 processes and was stopped' })
  })

  if (sandbox === alone) continue

  test(`${layer}: native code cannot escape`, async t => {
    const data = await dataFolder(t)
    const { visits, ...targets } = await servers(t, data)
    const { tries } = await sandboxedProcess(t, sandbox, data, { childProcesses: true, nativeAddons: true })
    t.is(await tries('outside', 'console.log(1)'), '1\n')
    const before = await readdir(data)
    for (const code of waysOfPrograms(data, targets)) await t.throwsAsync(tries('outside', code), undefined, code)
    t.is(visits(), 0)
    t.deepEqual(await readdir(data), before)
  })
}

const { test: inBubblewrap, sandbox: bubblewrap } =
  typeof probed.bubblewrap === 'string'
    ? { test: skippedBecause(test, probed.bubblewrap), sandbox: alone }
    : { test, sandbox: probed.bubblewrap as Sandbox }

inBubblewrap('bubblewrap: system files that no program needs are hidden, and writes to system folders fail', async t => {
  const { tries } = await sandboxedProcess(t, bubblewrap, await dataFolder(t), { childProcesses: true })
  for (const path of ['/etc/passwd', '/etc/shadow', '/etc/hostname', '/home', '/var/log', '/sys/kernel', '/run'])
    await t.throwsAsync(tries('outside', `require('node:fs').statSync('${path}')`), undefined, path)
  for (const path of ['/dev/shm/escaped', '/tmp/escaped', '/escaped', '/usr/escaped'])
    await t.throwsAsync(tries('outside', `require('node:fs').writeFileSync('${path}', '')`), undefined, path)
})

inBubblewrap('bubblewrap: an extractor that declares network access can connect', async t => {
  const data = await dataFolder(t)
  const { port, visits } = await servers(t, data)
  const { tries } = await sandboxedProcess(t, bubblewrap, data, { network: true })
  t.is(await tries('tcp', port), 'connect')
  await eventually(() => visits() > 0)
  t.is(visits(), 1)
})

test('an extractor can access what it has declared, and nothing else', async t => {
  const data = await dataFolder(t)
  const { port } = await servers(t, data)
  const { tries } = await sandboxedProcess(t, alone, data, { network: true, readPaths: [join(data, 'blobs')] })
  t.is(await tries('tcp', port), 'connect')
  t.is(await tries('read', join(data, 'blobs', 'other')), 'upload of somebody else')
  for (const [way, target] of [
    ['read', join(data, 'config.json')],
    ['spawn', ''],
    ['worker', ownCode],
    ['sqlite', join(data, 'pounce.db')],
  ] as const)
    await t.throwsAsync(tries(way, target), undefined, way)
})
