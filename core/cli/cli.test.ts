import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { fixturePlugin, main, plugins, pounce } from '../kernel/fixtures/pounce.ts'

test('help lists the commands of the kernel and of plugins', async t => {
  const { code, out } = await pounce(['--help'])
  t.is(code, 0)
  for (const word of ['start', 'config', 'plugin', 'migrate', 'events', 'openapi', 'doctor', 'greeting'])
    t.regex(out, new RegExp(`^ {2}${word} `, 'm'))
})

test('help describes a group of commands by their names, and omits former names', async t => {
  const { out } = await pounce(['--help'])
  t.regex(out, /^ {2}config +Subcommands: print, check$/m)
  t.regex(out, /^ {2}events +Subcommands: dead-letters, retry, drop, forget$/m)
  t.regex(out, /^ {2}migrate .*Migrate the installation/m)
})

test('help is available even if the configuration is invalid', async t => {
  const { code, out } = await pounce(['--help'], { POUNCE_HTTP__PROT: '1' })
  t.is(code, 0)
  t.regex(out, /Plugin commands are not available: .*POUNCE_HTTP__PROT/s)
})

test('settings are printed as JSON without secrets', async t => {
  const { code, out } = await pounce(['config', 'print', '--port', '0'], {
    POUNCE_TEST__COMMANDS__PIN: 'unused',
    POUNCE_ADMIN__PASSWORD: 'hunter22',
    POUNCE_HTTP__ALLOWED_ORIGINS: 'https://me:hunter22@example.org,https://example.org',
  })
  t.is(code, 0)
  t.notRegex(out, /hunter22|1234/)
  t.deepEqual(JSON.parse(out).http.allowedOrigins, ['https://me:********@example.org', 'https://example.org'])
  t.like(JSON.parse(out), { http: { port: 0 }, test: { commands: { pin: '********' } }, admin: { password: '********' } })
})

test('an invalid setting is reported on standard error with exit code 1', async t => {
  const { code, out, err } = await pounce(['config', 'check'], { POUNCE_HTTP__PROT: '1' })
  t.deepEqual([code, out], [1, ''])
  t.is(err, 'Invalid configuration:\n  - POUNCE_HTTP__PROT is not a setting (did you mean POUNCE_HTTP__PORT?)\n')
})

test('an invalid flag is reported as typed', async t => {
  const { err } = await pounce(['config', 'check', '--port', 'many'])
  t.is(err, 'Invalid configuration:\n  - http.port must be a whole number from 0 to 65535 (is "many"), from --port\n')
  const { err: set } = await pounce(['config', 'check', '--set', 'http.port=many'])
  t.is(set, 'Invalid configuration:\n  - http.port must be a whole number from 0 to 65535 (is "many"), from --set http.port\n')
})

test('a valid configuration passes the check, and --set is a flag', async t => {
  const { code, out } = await pounce(['config', 'check', '--json', '--set', 'log.level=debug', '--set', 'data=elsewhere'])
  t.is(code, 0)
  t.like(JSON.parse(out), { ok: true, plugins: 4, data: resolve('elsewhere'), warnings: 0 })
  const wrong = await pounce(['config', 'check', '--set', 'log.level'])
  t.is(wrong.code, 1)
  t.regex(wrong.err, /--set log\.level has no value/)
})

test('the temporary data folder of a command without local stores is removed', async t => {
  const folder = await tempFolder(t)
  const { code, err } = await pounce(['greeting', 'say', 'Ada'], { TMPDIR: folder })
  t.is(code, 0, err)
  t.deepEqual(
    (await readdir(folder)).filter(name => name.startsWith('pounce-command-')),
    [],
  )
})

test('a pounce.json in the current folder that is not read is reported, also by a start', async t => {
  const folder = await tempFolder(t)
  await writeFile(join(folder, 'pounce.json'), JSON.stringify({ http: { port: 1 } }))
  const warning = 'pounce.json is not read; to use it, add --config pounce.json'
  const check = await pounce(['config', 'check', '--json'], {}, folder)
  t.deepEqual([check.err, JSON.parse(check.out).warnings], [`${warning}\n`, 1])
  t.is((await pounce(['config', 'print'], {}, folder)).err, `${warning}\n`)
  t.is((await pounce(['config', 'check', '--config', 'pounce.json'], {}, folder)).err, '')
  const start = await pounce(['start', '--data', 'pounce.json'], {}, folder)
  t.is(start.code, 1)
  t.true(start.out.includes(warning))
})

test('plugins are listed in start order', async t => {
  const { code, out } = await pounce(['plugin', 'list', '--json'])
  t.is(code, 0)
  t.like(JSON.parse(out), [
    { plugin: 'documents.memory', provides: ['documentStore'] },
    { plugin: 'test.commands', routes: 3 },
  ])
})

test('the OpenAPI document is printed or written', async t => {
  const file = join(await tempFolder(t), 'openapi.json')
  const { code } = await pounce(['openapi', '--out', file])
  t.is(code, 0)
  t.like(JSON.parse(await readFile(file, 'utf8')), { openapi: '3.0.1' })
})

test('a command of a plugin gets its arguments and options, and prints a table or JSON', async t => {
  const data = await tempFolder(t)
  const table = await pounce(['greeting', 'say', 'Ada', '--times', '2', '--very-loud', '--data', data])
  t.is(table.code, 0)
  t.is(table.out, 'at  text\n0   ADA\n1   ADA\n')
  t.regex(table.err, /^1 of 2\n/)
  const json = await pounce(['greeting', 'say', 'Ada', '--json', '--data', data])
  t.deepEqual(JSON.parse(json.out), [{ at: 0, text: 'Ada' }])
})

test('a failing command prints the reason and exits with 1; a bug prints its location', async t => {
  const data = await tempFolder(t)
  const refused = await pounce(['greeting', 'say', 'nobody', '--data', data])
  t.deepEqual([refused.code, refused.out, refused.err], [1, '', 'Nobody is there\n'])
  const asJson = await pounce(['--json', 'greeting', 'say', 'nobody', '--data', data])
  t.deepEqual(JSON.parse(asJson.err), { error: 'Nobody is there' })
  const bug = await pounce(['greeting', 'say', 'bug', '--data', data])
  t.is(bug.code, 1)
  t.regex(bug.err, /TypeError: a bug\n {4}at /)
})

test('an unknown command and a missing argument end with 2', async t => {
  const unknown = await pounce(['gretting'])
  t.is(unknown.code, 2)
  t.regex(unknown.err, /unknown command 'gretting'[\s\S]*Did you mean greeting/)
  const missing = await pounce(['greeting', 'say'])
  t.is(missing.code, 2)
  t.regex(missing.err, /missing required argument 'who'/)
  const asJson = await pounce(['--json', 'greeting', 'say'])
  t.deepEqual([asJson.code, JSON.parse(asJson.err)], [2, { error: "missing required argument 'who'" }])
})

test('the doctor merges the findings of all plugins, and exits with 1 if there is a problem', async t => {
  const data = await tempFolder(t)
  const well = await pounce(['doctor', '--json', '--data', data])
  t.is(well.code, 0)
  const checks = (JSON.parse(well.out) as { check: string; ok: boolean }[]).map(({ check, ok }) => `${check} ${ok}`)
  const plugins = ['documents.memory', 'test.commands', 'net.fetch', 'compat.clowder'].map(name => `plugin ${name} true`)
  t.deepEqual(checks, [...plugins, 'migrations true', 'events true', 'greetings true'])
  t.is((await pounce(['doctor', '--ill', '--data', data])).code, 1)
  const broken = await pounce(['doctor', '--broken', '--json', '--data', data])
  t.is(broken.code, 1)
  const rows = JSON.parse(broken.out) as { check: string; ok: boolean }[]
  t.deepEqual(rows.at(-1), { check: 'failed check', ok: false, detail: 'The greetings are illegible' } as never)
  t.deepEqual(
    rows.slice(0, -1).map(({ check, ok }) => `${check} ${ok}`),
    checks.slice(0, -1),
  )
})

test('a command of a plugin whose name is taken is reported, and all others work', async t => {
  const environment = { POUNCE_PLUGINS: [...plugins, fixturePlugin('taken-command-plugin')].join() }
  const { code, out, err } = await pounce(['greeting', 'say', 'Ada', '--json'], environment)
  t.deepEqual([code, JSON.parse(out)], [0, [{ at: 0, text: 'Ada' }]])
  t.regex(err, /^The command "start" of a plugin is not available: there is already a command of this name\n/)
})

test('dead letters and migrations are listed, and retrying an unknown event fails', async t => {
  const data = await tempFolder(t)
  t.is((await pounce(['migrate', 'up', '--json', '--data', data])).out, '{\n  "applied": 0\n}\n')
  t.is((await pounce(['migrate', 'status', '--data', data])).out, 'nothing\n')
  t.is((await pounce(['events', 'dead-letters', '--json', '--data', data])).out, '[]\n')
  t.is((await pounce(['events', 'parked', '--json', '--data', data])).out, '[]\n', 'the former name')
  const retry = await pounce(['events', 'retry', 'all', '--data', data])
  t.deepEqual([retry.code, retry.err], [1, 'No matching dead letter: `pounce events dead-letters` lists them\n'])
})

test('a data folder without an installation is reported and left unchanged, except by commands that create one', async t => {
  const data = join(await tempFolder(t), 'mistyped')
  const environment = { POUNCE_PLUGINS: `documents.sqlite,${fixturePlugin('command-plugin')}`, POUNCE_DATA: data }
  const message = `There is no installation in the data folder ${data}: specify another one, or create one with \`pounce start\`\n`
  for (const args of [
    ['doctor'],
    ['greeting', 'say', 'Ada'],
    ['events', 'dead-letters'],
    ['migrate', 'status'],
    ['plugin', 'off', 'web'],
  ]) {
    const { code, out, err } = await pounce(args, environment)
    t.deepEqual([code, out, err], [1, '', message], args.join(' '))
    await t.throwsAsync(stat(data), { code: 'ENOENT' })
  }
  t.is((await pounce(['migrate', 'up'], environment)).code, 0)
  t.is((await pounce(['doctor'], environment)).code, 0)
  // A restored backup has no lock file.
  await rm(join(data, 'kernel.lock'))
  t.is((await pounce(['doctor'], environment)).code, 0)
  const file = await pounce(['doctor'], { ...environment, POUNCE_DATA: main })
  t.deepEqual([file.code, file.err], [1, `The data folder ${main} is not a folder\n`])
})

test('a reader that closes the pipe early causes no error', async t => {
  for (const words of [['openapi'], ['--help']]) {
    const child = spawn(process.execPath, [main, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    let err = ''
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString()
    })
    const [code] = (await once(child, 'close')) as [number]
    t.deepEqual([code, err], [0, ''], words.join(' '))
  }
})

test('the program is executable', async t => {
  const mode = (await stat(main)).mode
  t.is(mode & 0o111, 0o111)
  const { stdout } = await promisify(execFile)(main, ['--version'], {
    env: { ...process.env, PATH: `${dirname(process.execPath)}:/usr/bin:/bin` },
  })
  t.regex(stdout, /^\d+\.\d+\.\d+/)
})
