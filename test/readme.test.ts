import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { asPromised, lacksCurl, replay, transcript } from './support/transcript.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

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

/** Runs `npm start` as in the README, in its own process group, so that all of its processes can be stopped. */
const npmStart = async (data: string, isFirst: boolean): Promise<Running> => {
  const child: ChildProcess = spawn('npm', ['start'], {
    cwd: root,
    env: environment(data),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  let output = ''
  child.stderr?.setEncoding('utf8').on('data', text => {
    output += text
  })
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    const isRunning = child.exitCode === null && child.signalCode === null
    if (child.pid !== undefined && isRunning) process.kill(-child.pid, signal)
    await ended
  }
  if (!child.stdout) throw new Error('npm start has no output')
  const lines = createInterface({ input: child.stdout })
  for await (const line of lines) {
    output += `${line}\n`
    const url = /listens on (http:\S+)/.exec(output)?.[1]
    const token = /\/welcome\?token=(\S+)/.exec(output)?.[1]
    if (url === undefined || (isFirst && token === undefined)) continue
    child.stdout.resume()
    return { url, token, stop }
  }
  await stop('SIGKILL')
  throw new Error(`npm start exited: ${output}`)
}

const missing = lacksCurl()
const transcriptTest = missing === undefined ? test : test.skip

transcriptTest(
  `the transcript in the README runs as written, and acknowledged data survives a kill${missing === undefined ? '' : ` (${missing})`}`,
  async t => {
    const steps = transcript(await readFile(join(root, 'README.md'), 'utf8'))
    t.true(steps.length > 20)
    const data = await mkdtemp(join(tmpdir(), 'pounce-readme-'))
    t.teardown(() => rm(data, { recursive: true, force: true, maxRetries: 5 }))
    const server = await npmStart(data, true)
    t.teardown(() => server.stop('SIGKILL'))

    const variables = { P: server.url, TOKEN: server.token ?? '' }
    const { code, outputs } = await replay(steps, variables, 'rm -r "$OUT"; echo "$KEY $PHOTO"')
    asPromised(t, steps, outputs, 'README.md')
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

test('every file that the documents link to exists', async t => {
  for (const file of [
    'README.md',
    'CONTRIBUTING.md',
    'docs/web.md',
    'docs/command-line.md',
    'docs/operations.md',
    'plugins/web/README.md',
    'docs/architecture.md',
    'docs/plugin-guide.md',
    'docs/first-plugin.md',
    'docs/configuration.md',
  ]) {
    const text = await readFile(join(root, file), 'utf8')
    const links = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target]) => target ?? '').filter(target => !/^[a-z]+:/.test(target))
    for (const target of links) await t.notThrowsAsync(access(join(root, file, '..', target)), `${file}: ${target}`)
  }
})

test('docs/screens describes each of its pictures, which total less than 4 MB', async t => {
  const folder = join(root, 'docs/screens')
  const page = await readFile(join(folder, 'README.md'), 'utf8')
  const described = [...page.matchAll(/\]\(([^)]+\.png)\)/g)].map(([, name = '']) => name)
  const pictures = (await readdir(folder)).filter(name => name.endsWith('.png'))
  t.deepEqual(described.toSorted(), pictures.toSorted())
  const sizes = await Promise.all(pictures.map(async name => (await stat(join(folder, name))).size))
  t.true(sizes.reduce((sum, size) => sum + size, 0) < 4_000_000)
})

test('the code in the plugin guides is quoted from files that are compiled', async t => {
  const guides = await Promise.all(['plugin-guide', 'first-plugin'].map(name => readFile(join(root, `docs/${name}.md`), 'utf8')))
  const quotes = [...guides.join('\n').matchAll(/```ts *(\S*)\n([\s\S]*?)```/g)]
  t.true(quotes.length > 12)
  for (const [, file = '', quote = ''] of quotes) {
    t.regex(file, /^(?:examples|plugins)\//, quote)
    t.true((await readFile(join(root, file), 'utf8')).includes(quote), `${file}:\n${quote}`)
  }
})
