import { constants, copyFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { until } from '../../test/support/until.ts'
import { fixturePlugin, main, pounce, startPounce, startServer } from '../kernel/fixtures/pounce.ts'

const statusOf = async (url: string): Promise<number> => (await fetch(url, { headers: { connection: 'close' } })).status

test('a start prints the address, the data folder and the startup messages of plugins', async t => {
  const folder = await tempFolder(t)
  const { url, waitForOutput, text } = await startServer(t, folder)
  t.is(await statusOf(`${url}/healthz`), 200)
  t.is(await statusOf(`${url}/readyz`), 200)
  await waitForOutput(/hint of the plugin/)
  t.true(text.out.includes(folder))
})

test('a second server on the same data folder is refused, naming the first one; after kill -9 a new one starts', async t => {
  const folder = await tempFolder(t)
  const first = await startServer(t, folder)
  const second = await pounce(['start', '--port', '0', '--data', folder])
  t.is(second.code, 1)
  t.regex(second.err, new RegExp(`is used by the process ${first.pid}:`))
  first.kill('SIGKILL')
  await first.ended
  const third = await startServer(t, folder)
  t.is(await statusOf(`${third.url}/readyz`), 200)
})

test('a second server is refused even if the lock file of the first one was deleted', async t => {
  const folder = await tempFolder(t)
  const first = await startServer(t, folder)
  await rm(join(folder, 'kernel.lock'))
  const second = await pounce(['start', '--port', '0', '--data', folder])
  t.is(second.code, 1)
  t.regex(second.err, new RegExp(`is used by the process ${first.pid}:`))
  t.is(await statusOf(`${first.url}/readyz`), 200)
  first.kill('SIGKILL')
  await first.ended
  const third = await startServer(t, folder)
  t.is(await statusOf(`${third.url}/readyz`), 200)
})

test('a server started by an older Node ends when its launcher is killed, and a new one starts on the same data folder', async t => {
  // Another file with the same program, as this test runs on the installed Node already.
  const older = join(await tempFolder(t), 'node')
  await copyFile(process.execPath, older, constants.COPYFILE_FICLONE)
  const script = join(dirname(older), 'launch.mjs')
  const module = (name: string): string => JSON.stringify(pathToFileURL(join(dirname(main), name)).href)
  await writeFile(
    script,
    `if (process.execPath === ${JSON.stringify(older)}) await (await import(${module('installed-node.js')})).runOnInstalledNode()
     else await import(${module('main.js')})`,
  )
  const folder = await tempFolder(t)
  const launcher = await startServer(t, folder, {}, [older, script])
  t.is(await statusOf(`${launcher.url}/healthz`), 200)
  launcher.kill('SIGKILL')
  // Its output is closed when the server has ended, too.
  t.is((await launcher.ended).signal, 'SIGKILL')
  const next = await startServer(t, folder, {}, [older, script])
  t.is(await statusOf(`${next.url}/readyz`), 200)
  next.kill('SIGTERM')
  t.is((await next.ended).code, 0)
})

test('SIGTERM waits for a running request, with 503 or no new connections meanwhile, and exits with 0', async t => {
  const { url, kill, ended, waitForOutput } = await startServer(t, await tempFolder(t))
  const running = fetch(`${url}/api/slow`)
  await waitForOutput(/The slow request has begun/)
  kill('SIGTERM')
  await waitForOutput(/Stopping/)
  const readiness = await statusOf(`${url}/readyz`).catch(() => 503)
  t.is(readiness, 503)
  const answer = await running
  t.deepEqual([answer.status, await answer.json()], [200, { waited: true }])
  t.is((await ended).code, 0)
})

test('a second signal ends the process immediately', async t => {
  const { url, kill, ended, waitForOutput } = await startServer(t, await tempFolder(t))
  const running = fetch(`${url}/api/endless`)
  await waitForOutput(/The endless request has begun/)
  kill('SIGTERM')
  await waitForOutput(/Stopping/)
  kill('SIGINT')
  t.is((await ended).code, 1)
  await t.throwsAsync(running)
})

test('SIGTERM or SIGINT without running requests exits with 0', async t => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { kill, ended } = await startServer(t, await tempFolder(t))
    kill(signal)
    t.deepEqual(await ended, { code: 0, signal: null })
  }
})

test('uncaught errors are logged and do not end the process', async t => {
  const { url, waitForOutput } = await startServer(t, await tempFolder(t))
  t.is((await fetch(`${url}/api/faults`, { method: 'POST' })).status, 200)
  await waitForOutput(/^(?=.*thrown in a timer)(?=.*"plugin":"test\.commands")/m)
  await waitForOutput(/^(?=.*rejected by nobody)(?=.*"plugin":"test\.commands")/m)
  t.is(await statusOf(`${url}/healthz`), 200)
})

test('a port in use is refused with exit code 1', async t => {
  const { url } = await startServer(t, await tempFolder(t))
  const { code, err } = await pounce(['start', '--port', new URL(url).port, '--data', await tempFolder(t)])
  t.is(code, 1)
  t.regex(err, new RegExp(`${new URL(url).port}`))
  t.notRegex(err, /^ {4}at /m)
})

test('warnings of the configuration are logged', async t => {
  const { text } = await startServer(t, await tempFolder(t), { CLOWDER_SECRET: 'x' })
  t.regex(text.out, /CLOWDER_SECRET has no effect/)
})

test('SIGUSR1 opens no debugger', async t => {
  const { url, kill, text } = await startServer(t, await tempFolder(t))
  kill('SIGUSR1')
  await until('the signal to be handled', () => /Signal ignored|Debugger listening/.test(text.out + text.err))
  t.notRegex(text.out + text.err, /Debugger listening/)
  t.is(await statusOf(`${url}/healthz`), 200)
})

const hanging = { POUNCE_PLUGINS: ['memory-plugin', 'hanging-plugin'].map(fixturePlugin).join() }

test('a plugin whose start hangs is reported by name after the time limit, and the process exits', async t => {
  const { code, err } = await pounce(['start', '--port', '0', '--data', await tempFolder(t)], {
    ...hanging,
    POUNCE_START_TIMEOUT_MS: '300',
  })
  t.is(code, 1)
  t.is(err, 'test.hanging did not start: start() took longer than 0.3 s (startTimeoutMs)\n')
})

test('a bug in the start of a plugin is reported with its file and line', async t => {
  const file = join(await tempFolder(t), 'index.js')
  const lines = [
    "import { definePlugin } from 'pounce/sdk'",
    'class Failing {',
    '  start() {',
    '    undefined.length',
    '  }',
    '}',
    "export const plugin = definePlugin({ id: 'acme.failing', summary: 's', services: [Failing] })",
  ]
  await writeFile(file, lines.join('\n'))
  const environment = { POUNCE_PLUGINS: [fixturePlugin('memory-plugin'), dirname(file)].join() }
  const { code, err } = await pounce(['start', '--port', '0', '--data', await tempFolder(t)], environment)
  t.is(code, 1)
  t.is(err, `acme.failing did not start: Cannot read properties of undefined (reading 'length') (${file}:4)\n`)
})

test('SIGTERM during a hanging start ends the process immediately with 0', async t => {
  const { waitForOutput, kill, ended } = await startPounce(t, ['start', '--port', '0', '--data', await tempFolder(t)], {
    ...hanging,
    POUNCE_START_TIMEOUT_MS: '3600000',
  })
  await waitForOutput(/The start hangs/)
  kill('SIGTERM')
  t.deepEqual(await ended, { code: 0, signal: null })
})

test('a command with a hanging plugin also exits', async t => {
  const { code, err } = await pounce(['doctor', '--data', await tempFolder(t)], { ...hanging, POUNCE_START_TIMEOUT_MS: '300' })
  t.is(code, 1)
  t.regex(err, /^test\.hanging did not start: /m)
})
