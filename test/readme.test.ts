import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import test from 'ava'

const root = fileURLToPath(new URL('../', import.meta.url))

/** One command of the transcript and what is promised to come back, `…` standing for anything. */
interface Step {
  readonly line: number
  readonly command: string
  readonly promised: string
}

const transcript = (readme: string): Step[] => {
  const block = /```sh\n([\s\S]*?)```/.exec(readme)
  if (!block) throw new Error('README.md has no transcript')
  const steps: { line: number; command: string; promised: string }[] = []
  const first = readme.slice(0, block.index).split('\n').length + 1
  for (const [at, line] of (block[1] ?? '').split('\n').entries()) {
    const last = steps.at(-1)
    if (line.startsWith('#> ')) {
      if (last) last.promised += `${line.slice(3)}\n`
    } else if (last?.command.endsWith('\\')) last.command += `\n${line}`
    else if (line !== '' && !line.startsWith('#')) steps.push({ line: first + at, command: line, promised: '' })
  }
  return steps
}

const pattern = (promised: string): RegExp =>
  new RegExp(
    `^${promised
      .trim()
      .split('…')
      .map(text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^]*?')}$`,
  )

interface Running {
  readonly url: string
  readonly token: string | undefined
  stop(signal: NodeJS.Signals): Promise<void>
}

const environment = (data: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(POUNCE_|CLOWDER_|RABBITMQ_)/.test(name))),
  POUNCE_DATA: data,
  POUNCE_HTTP__PORT: '0',
})

/** `npm start`, as the README has it, in a process group of its own so that nothing is left behind. */
const npmStart = async (data: string, isFirst: boolean): Promise<Running> => {
  const child: ChildProcess = spawn('npm', ['start'], {
    cwd: root,
    env: environment(data),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', text => {
    said += text
  })
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    const isRunning = child.exitCode === null && child.signalCode === null
    if (child.pid !== undefined && isRunning) process.kill(-child.pid, signal)
    await ended
  }
  if (!child.stdout) throw new Error('npm start has no output')
  const lines = createInterface({ input: child.stdout })
  for await (const line of lines) {
    said += `${line}\n`
    const url = /listens on (http:\S+)/.exec(said)?.[1]
    const token = /setup\?token=(\S+)/.exec(said)?.[1]
    if (url === undefined || (isFirst && token === undefined)) continue
    child.stdout.resume()
    return { url, token, stop }
  }
  await stop('SIGKILL')
  throw new Error(`npm start ended: ${said}`)
}

/** Runs the commands in one shell that stops at the first failure; the output of each of them, and of `last`. */
const replay = async (steps: readonly Step[], server: Running, last: string) => {
  const mark = '=== '
  const script = [
    'set -euo pipefail',
    ...steps.map(({ command }, at) => `echo; echo '${mark}${at}'\n${command}`),
    `echo; echo '${mark}'`,
    last,
  ]
  const shell = spawn('bash', ['-c', script.join('\n')], { cwd: root, env: { ...process.env, P: server.url, TOKEN: server.token ?? '' } })
  let output = ''
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', text => {
      output += text
    })
  const [code] = (await once(shell, 'close')) as [number | null]
  const parts = output.split(/^=== \d*\n/m).slice(1)
  return { code, outputs: parts.map(part => part.trim()) }
}

/** The option `--fail-with-body` came with curl 7.76. */
const lacksCurl = (): string | undefined => {
  const [, major = '', minor = ''] = /^curl (\d+)\.(\d+)/.exec(spawnSync('curl', ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? []
  return Number(major) * 1000 + Number(minor) >= 7076 ? undefined : 'there is no curl 7.76 or newer'
}
const missing = lacksCurl()
const transcriptTest = missing === undefined ? test : test.skip

transcriptTest(
  `the transcript in the README works as it is, and what was answered survives a kill${missing === undefined ? '' : ` (${missing})`}`,
  async t => {
    const steps = transcript(await readFile(join(root, 'README.md'), 'utf8'))
    t.true(steps.length > 20)
    const data = await mkdtemp(join(tmpdir(), 'pounce-readme-'))
    t.teardown(() => rm(data, { recursive: true, force: true, maxRetries: 5 }))
    const server = await npmStart(data, true)
    t.teardown(() => server.stop('SIGKILL'))

    const { code, outputs } = await replay(steps, server, 'rm -r "$OUT"; echo "$KEY $PHOTO"')
    for (const [at, { line, promised }] of steps.entries())
      if (promised !== '') t.regex(outputs[at] ?? 'nothing: an earlier command failed', pattern(promised), `README.md, line ${line}`)
    t.is(code, 0, outputs.at(-1))

    const [key = '', photo] = (outputs.at(-1) ?? '').split(' ')
    await server.stop('SIGKILL')
    const again = await npmStart(data, false)
    t.teardown(() => again.stop('SIGKILL'))
    const answer = await fetch(`${again.url}/api/files/${photo}`, { headers: { 'x-api-key': key } })
    t.is(answer.status, 200)
    t.deepEqual(Buffer.from(await answer.arrayBuffer()), await readFile(join(root, 'test/data/photo.jpg')))
    await again.stop('SIGTERM')
  },
)

test('the README shows exactly one command to run and one to test before anything else', async t => {
  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const top = readme.slice(0, readme.indexOf('\n## '))
  t.deepEqual(
    [...top.matchAll(/```console\n([\s\S]*?)```/g)].map(([, command]) => command?.trim()),
    ['npm ci && npm start', 'npm test'],
  )
})

test('what the documents link to is there', async t => {
  for (const file of ['README.md', 'CONTRIBUTING.md', 'docs/architecture.md', 'docs/plugin-guide.md', 'docs/configuration.md']) {
    const text = await readFile(join(root, file), 'utf8')
    const links = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target]) => target ?? '').filter(target => !/^[a-z]+:/.test(target))
    for (const target of links) await t.notThrowsAsync(access(join(root, file, '..', target)), `${file}: ${target}`)
  }
})

test('the code in the plugin guide is that of the examples', async t => {
  const guide = await readFile(join(root, 'docs/plugin-guide.md'), 'utf8')
  const quotes = [...guide.matchAll(/```ts (\S+)\n([\s\S]*?)```/g)]
  t.true(quotes.length > 6)
  for (const [, file = '', quote = ''] of quotes) t.true((await readFile(join(root, file), 'utf8')).includes(quote), `${file}:\n${quote}`)
})
