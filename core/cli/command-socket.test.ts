import { mkdir, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { plugins, pounce, startServer } from '../kernel/fixtures/pounce.ts'

test('commands run in the server of the data folder', async t => {
  const data = await tempFolder(t)
  const at = ['--data', data]
  const absent = await pounce(['status', ...at])
  t.deepEqual([absent.code, absent.err], [1, `No server runs on the data folder ${data}\n`])
  const server = await startServer(t, data)
  const { mode } = await stat(join(data, 'commands.sock'))
  t.is(mode & 0o777, 0o600)

  const status = await pounce(['status', '--json', ...at])
  t.like(JSON.parse(status.out), { url: server.url, process: server.pid, ready: true, data })
  // The same results and exit codes as without a server.
  const table = await pounce(['greeting', 'say', 'Ada', '--times', '2', '--very-loud', ...at])
  t.deepEqual([table.code, table.out], [0, 'at  text\n0   ADA\n1   ADA\n'])
  t.regex(table.err, /^1 of 2\n/)
  const refused = await pounce(['greeting', 'say', 'nobody', ...at])
  t.deepEqual([refused.code, refused.out, refused.err], [1, '', 'Nobody is there\n'])
  const unknown = await pounce(['greeting', 'shout', ...at])
  t.is(unknown.code, 2)
  t.regex(unknown.err, /unknown command 'shout'|too many arguments/)
  const doctor = await pounce(['doctor', '--ill', ...at])
  t.is(doctor.code, 1)
  t.is((await pounce(['events', 'dead-letters', '--json', ...at])).out, '[]\n')
  const plugins = JSON.parse((await pounce(['plugin', 'list', '--json', ...at])).out) as { plugin: string; health: string }[]
  t.true(plugins.some(({ plugin, health }) => plugin === 'test.commands' && health === 'ok'))

  server.kill('SIGTERM')
  t.is((await server.ended).code, 0)
  await t.throwsAsync(stat(join(data, 'commands.sock')), { code: 'ENOENT' })
})

test('the default data folder is that of a server started in the same folder, and a file or a variable can set another', async t => {
  const folder = await tempFolder(t)
  await startServer(t, join(folder, 'data'))
  t.is((await pounce(['status'], {}, folder)).code, 0)
  await writeFile(join(folder, 'pounce.json'), JSON.stringify({ data: 'elsewhere' }))
  const named = await pounce(['status', '--config', 'pounce.json'], {}, folder)
  t.is(named.err, `No server runs on the data folder ${join(folder, 'elsewhere')}\n`)
  t.is((await pounce(['status', '--config', 'pounce.json'], { POUNCE_DATA: join(folder, 'data') }, folder)).code, 0)
})

test('a relative path is resolved against the working directory of the command', async t => {
  const data = await tempFolder(t)
  const folder = await tempFolder(t)
  await writeFile(join(folder, 'name.txt'), 'Grace\n')
  await startServer(t, data)
  const read = await pounce(['greeting', 'read', '--from', 'name.txt', '--data', data], {}, folder)
  t.deepEqual([read.code, read.out], [0, 'text  Grace\n'])
  const pipe = await pounce(['greeting', 'read', '--from', '/dev/stdin', '--data', data], {}, folder)
  t.is(pipe.code, 1)
  t.regex(pipe.err, /--from \/dev\/stdin: the command runs in the server, which cannot read this/)
})

test('the socket of a killed server is replaced, and without a server commands access the folder directly', async t => {
  const data = await tempFolder(t)
  const first = await startServer(t, data)
  first.kill('SIGKILL')
  await first.ended
  t.true((await stat(join(data, 'commands.sock'))).isSocket())
  t.is((await pounce(['greeting', 'say', 'Ada', '--data', data])).code, 0)
  const second = await startServer(t, data)
  t.is((JSON.parse((await pounce(['status', '--json', '--data', data])).out) as { process?: number }).process, second.pid)
})

test('plugins are switched in the server, or without one for the next start', async t => {
  const data = await tempFolder(t)
  const at = ['--data', data]
  const [, commands = ''] = plugins
  const stored = { POUNCE_PLUGINS: `documents.sqlite,${commands}` }
  const run = (...words: string[]) => pounce([...words, ...at], stored)
  const first = await startServer(t, data, stored)
  const off = await run('plugin', 'off', 'test.commands')
  t.deepEqual([off.code, off.out], [0, 'plugin  test.commands\nstate   off\n'])
  t.is((await fetch(`${first.url}/api/faults`, { method: 'POST' })).status, 404)
  t.regex((await run('greeting', 'say', 'Ada')).err, /unknown command 'greeting'/)
  const listed = JSON.parse((await run('plugin', 'list', '--json')).out) as { plugin: string; state: string; source: string }[]
  t.like(
    listed.find(({ plugin }) => plugin === 'test.commands'),
    { state: 'off', source: commands, switchable: true },
  )
  const refused = await run('plugin', 'off', 'documents.sqlite')
  t.is(refused.code, 1)
  t.regex(refused.err, /documents\.sqlite cannot be switched because it provides documentStore/)
  first.kill('SIGTERM')
  await first.ended

  const unavailable = await run('greeting', 'say', 'Ada')
  t.deepEqual(
    [unavailable.code, unavailable.err],
    [1, 'The plugin of the command greeting say is switched off: see `pounce plugin list`\n'],
  )
  t.is((await run('plugin', 'on', 'test.commands')).out, 'plugin  test.commands\nstate   on after the next start\n')
  t.is((await run('greeting', 'say', 'Ada')).code, 0)
  await startServer(t, data, stored)
  t.is((await run('greeting', 'say', 'Ada')).code, 0)
})

test('a client that sends invalid or too much data is refused, and the server keeps running', async t => {
  const data = await tempFolder(t)
  await startServer(t, data)
  const answerTo = (text: string): Promise<string> =>
    new Promise(done => {
      let answer = ''
      const socket = connect(join(data, 'commands.sock'))
      // At once: the server waits 5 s for it.
      socket.write(text)
      socket.setEncoding('utf8').on('data', (piece: string) => {
        answer += piece
      })
      socket.on('error', () => undefined)
      socket.on('close', () => done(answer))
    })
  t.regex(await answerTo('hello\n'), /"exit":1/)
  t.is(await answerTo('x'.repeat(100_000)), '')
  t.regex(await answerTo(`${JSON.stringify({ words: ['start'], folder: '/', isTerminal: false })}\n`), /unknown command 'start'/)
  t.is((await pounce(['status', '--data', data])).code, 0)
})

test('a server with a data folder path too long for a socket runs without one', async t => {
  const data = join(await tempFolder(t), 'x'.repeat(100))
  await mkdir(data)
  await startServer(t, data)
  const status = await pounce(['status', '--data', data])
  t.is(status.code, 1)
  t.regex(status.err, /cannot reach a server on the data folder .* its path is too long/)
})
