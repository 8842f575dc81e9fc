import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { currentBundle } from '../core/bundle.js'
import { type BundleManifest, buildServer, root } from './server-bundle.ts'

const main = join(root, 'core/main.js')
const manifestFile = join(root, 'dist/manifest.json')

test.before(async () => {
  if (currentBundle() === undefined) await buildServer()
})

const folderOf = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-bundle-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return folder
}

/** Reports when a module is loaded that every start from the sources loads. */
const watchTree = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({ load: (url, context, next) => {
    if (url.endsWith('/core/boot.ts')) process.stderr.write('from the tree')
    return next(url, context)
  } })`)}`

const environment = ({ PATH, HOME, NODE_COMPILE_CACHE }: NodeJS.ProcessEnv, more: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  PATH,
  HOME,
  ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }),
  ...more,
})

const pounce = (words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<{ stdout: string; stderr: string }> =>
  promisify(execFile)(process.execPath, ['--import', watchTree, main, ...words], {
    env: environment(process.env, more),
    maxBuffer: 1 << 26,
  })

interface Serving {
  readonly url: string
  readonly log: () => string
}

const serving = async (t: ExecutionContext, plugins: string): Promise<Serving> => {
  const admin = { POUNCE_ADMIN__EMAIL: 'ada@example.org', POUNCE_ADMIN__PASSWORD: 'correct-horse-battery' }
  const settings = { POUNCE_DATA: await folderOf(t), POUNCE_HTTP__PORT: '0', POUNCE_PLUGINS: plugins, ...admin }
  const child: ChildProcess = spawn(process.execPath, ['--import', watchTree, main, '--json', 'start'], {
    env: environment(process.env, settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stderr?.on('data', (text: Buffer) => {
    log += text
  })
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.kill()
    await ended
  })
  const output = await Promise.race([once(child.stdout as NodeJS.EventEmitter, 'data'), ended.then(() => undefined)])
  if (!output) throw new Error(log)
  return { url: (JSON.parse(String(output[0])) as { readonly url: string }).url, log: () => log }
}

test('the bundle has the API of the tree', async t => {
  const bundle = await pounce(['openapi'])
  const tree = await pounce(['openapi'], { POUNCE_TEST_TREE: '1' })
  t.is(bundle.stderr, '')
  t.regex(tree.stderr, /from the tree/)
  t.is(bundle.stdout, tree.stdout)
})

test('the bundle is ASCII, so that V8 keeps its text in one byte per character', async t => {
  const folder = new URL(currentBundle()?.url ?? '')
  const files = (await readdir(folder)).filter(name => name.endsWith('.js'))
  const others = await Promise.all(
    files.map(async name => (/[^\0-\x7f]/.test(await readFile(new URL(name, folder), 'utf8')) ? [name] : [])),
  )
  t.true(files.includes('main.js'))
  t.deepEqual(others.flat(), [])
})

test('a third-party plugin gets the SDK of the bundle', async t => {
  const folder = await folderOf(t)
  await writeFile(
    join(folder, 'index.js'),
    `import { Clock, definePlugin, NotFound, routesFor, s, wire } from 'pounce/sdk'
import { Semaphore } from 'pounce/sdk/kit'
class Times {
  constructor(clock) { this.clock = clock }
}
wire(Times, Clock)
const route = routesFor('times', { times: Times })
const declared = { permission: 'anyone', responses: { 200: s.Object({ now: s.String() }) }, throws: [NotFound] }
const now = route({ method: 'GET', path: '/api/now', summary: 'Get the time', ...declared, async handle(_, { times }) {
  return { status: 200, body: { now: times.clock.now().toISOString() } }
} })
const never = route({ method: 'GET', path: '/api/never', summary: 'Get nothing', ...declared, async handle() {
  throw new NotFound('Never', typeof Semaphore)
} })
export const plugin = definePlugin({ id: 'example.times', summary: 'Times.', routes: { now, never } })
`,
  )
  const { url, log } = await serving(t, `+${folder}`)
  const now = await fetch(`${url}/api/now`)
  t.is(now.status, 200)
  t.regex(await now.text(), /^\{"now":"\d{4}-/)
  t.is((await fetch(`${url}/api/never`)).status, 404)
  t.is((await fetch(`${url}/api/datasets`)).status, 200)
  t.is((await fetch(`${url}/docs`)).status, 200)
  t.false(log().includes('from the tree'), log())
})

test('a bundle is not used after a change of its sources', async t => {
  const manifest = JSON.parse(await readFile(manifestFile, 'utf8')) as Required<BundleManifest>
  const path = join(await folderOf(t), 'manifest.json')
  const used = async (changed: Partial<BundleManifest>): Promise<boolean> => {
    await writeFile(path, JSON.stringify({ ...manifest, ...changed }))
    return currentBundle(pathToFileURL(path)) !== undefined
  }
  const [[file, sizeBytes, changedMs] = ['', 0, 0], ...others] = manifest.files
  t.true(await used({}))
  t.true(others.some(([name]) => name.startsWith('node_modules/koa/')))
  t.false(await used({ files: [...others, [file, sizeBytes + 1, changedMs]] }))
  t.false(await used({ files: [...others, [file, sizeBytes, changedMs - 1]] }))
  t.false(await used({ files: [...others, ['core/no-such-file.ts', sizeBytes, changedMs]] }))
  t.is(currentBundle(pathToFileURL(join(tmpdir(), 'no-such-manifest.json'))), undefined)
})
