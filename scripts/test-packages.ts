import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type PackedPackage, startRegistry } from './local-registry.ts'
import { account, enablePlugins, otherReleases, publishPlugins, usePlugins } from './outsider.ts'
import { root } from './server-bundle.ts'

/*
 * Packs `pounce`, `@pounce/sdk` and `@pounce/client`, installs them by name from a local registry into an empty folder, and uses them like a deployer
 * and a plugin author. The plugin is compiled, packed, installed by name and enabled only by configuration. `--node <command>` runs the server on
 * another Node.
 */
const folder = await mkdtemp(join(tmpdir(), 'pounce-packages-'))
const run = promisify(execFile)
const npm = async (cwd: string, ...words: readonly string[]): Promise<string> =>
  (await run('npm', [...words, '--no-audit', '--no-fund', '--loglevel=error'], { cwd, maxBuffer: 1 << 26 })).stdout.trim()
const readManifest = async (path: string): Promise<PackedPackage['manifest']> => JSON.parse(await readFile(path, 'utf8'))
const report = (text: string): void => void process.stdout.write(`${text}\n`)

const author = {
  'package.json': JSON.stringify({
    name: 'pounce-example-times',
    version: '1.0.0',
    type: 'module',
    exports: './out/index.js',
    files: ['out'],
    peerDependencies: { '@pounce/sdk': '*' },
  }),
  'src/index.ts': `import { Clock, definePlugin, NotFound, routesFor, s, wire } from '@pounce/sdk'
import { Semaphore } from 'pounce/sdk/kit'

class Times {
  readonly #clock: Clock
  constructor(clock: Clock) {
    this.#clock = clock
  }
  now(): string {
    return this.#clock.now().toISOString()
  }
}
wire(Times, Clock)

const route = routesFor('times', { times: Times })
export const getTime = route({
  method: 'GET',
  path: '/api/time',
  summary: 'Get the time',
  permission: 'anyone',
  query: s.Object({ never: s.Optional(s.Boolean()) }),
  responses: { 200: s.Object({ now: s.String() }) },
  throws: [NotFound],
  async handle({ query }, { times }) {
    if (query.never || !Semaphore) throw new NotFound('Never')
    return { status: 200, body: { now: times.now() } }
  },
})
export const plugin = definePlugin({ id: 'example.times', apiVersion: 1, summary: 'The time.', routes: { getTime } })
`,
}

const compilerOptions = {
  target: 'es2024',
  module: 'nodenext',
  strict: true,
  skipLibCheck: false,
  types: ['node'],
  rootDir: 'src',
  outDir: 'out',
}

const write = async (path: string, text: string): Promise<void> => {
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, text)
}

/** Compiles the plugin with and without `exactOptionalPropertyTypes`, and packs it. */
const packPlugin = async (registry: string): Promise<PackedPackage> => {
  const plugin = join(folder, 'plugin')
  for (const [name, text] of Object.entries(author)) await write(join(plugin, name), text)
  await npm(plugin, 'install', '--registry', registry, '--ignore-scripts', '--omit=optional', '@pounce/sdk')
  for (const exactOptionalPropertyTypes of [false, true]) {
    const typeRoots = [join(root, 'node_modules/@types')]
    const options = { compilerOptions: { ...compilerOptions, exactOptionalPropertyTypes, typeRoots }, include: ['src'] }
    await write(join(plugin, 'tsconfig.json'), JSON.stringify(options))
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', plugin])
  }
  const tarball = join(folder, await npm(plugin, 'pack', '--pack-destination', folder))
  return { tarball, manifest: await readManifest(join(plugin, 'package.json')) }
}

const expect = (what: string, isTrue: boolean, detail: unknown = ''): void => {
  if (!isTrue) throw new Error(`${what}: ${String(detail)}`)
  report(`ok ${what}`)
}

const program = 'node_modules/.bin/pounce'

/** Signs in to the server with the package's own command. */
const signIn = async (cwd: string, url: string, [command = program, ...words]: readonly string[]): Promise<void> => {
  const authorization = `Basic ${Buffer.from(`${account.email}:${account.password}`).toString('base64')}`
  const made = await fetch(`${url}/api/users/keys?name=packages`, { method: 'POST', headers: { authorization } })
  const { key } = (await made.json()) as { readonly key: string }
  const env = { PATH: process.env['PATH'], HOME: cwd, XDG_CONFIG_HOME: join(cwd, 'config') }
  await run(command, [...words, 'login', url, '--key', key], { cwd, env })
  const { stdout } = await run(command, [...words, 'whoami', '--json'], { cwd, env })
  expect('commands for users work', (JSON.parse(stdout) as { readonly email: string }).email === account.email, stdout)
}

/** Starts the server of an installation with all plugins enabled, and uses it. */
const serve = async (cwd: string, node: readonly string[]): Promise<void> => {
  const data = join(cwd, 'data-of-all')
  const [command = program, ...words] = [...node, program]
  const { PATH, HOME } = process.env
  const environment = { PATH, HOME, POUNCE_HTTP__PORT: '0', POUNCE_PLUGINS: '+pounce-example-times' }
  const enabled = await enablePlugins(cwd, data)
  const child = spawn(command, [...words, ...enabled, '--json', 'start'], { cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  let log = ''
  child.stderr.on('data', (text: Buffer) => {
    log += text
  })
  try {
    const [first] = await Promise.race([once(child.stdout, 'data'), ended.then(() => [undefined])])
    expect('the server starts', first !== undefined, log)
    const { url } = JSON.parse(String(first)) as { readonly url: string }
    for (const path of ['/healthz', '/readyz', '/api/status', '/docs', '/'])
      expect(`GET ${path}`, (await fetch(`${url}${path}`)).status === 200)
    const question = `import { Pounce } from '@pounce/client'; console.log((await new Pounce({ url: '${url}' }).api.getVersion()).version.number)`
    const evaluated = [...node.slice(1), '--input-type=module', '--eval', question]
    expect('the client calls the server', (await run(node[0] ?? process.execPath, evaluated, { cwd })).stdout.trim() !== '')
    expect('the plugin responds', /^\{"now":"\d{4}-/.test(await (await fetch(`${url}/api/time`)).text()))
    await signIn(cwd, url, [command, ...words])
    expect("the plugin's problems are responses of the server", (await fetch(`${url}/api/time?never=true`)).status === 404)
    await usePlugins(url, data, expect)
  } catch (error) {
    report(`server log:\n${log}`)
    throw error
  } finally {
    child.kill()
    await ended
    await rm(data, { recursive: true, force: true })
  }
}

const packAll = async (): Promise<readonly PackedPackage[]> => {
  await npm(root, 'pack', '--pack-destination', folder)
  for (const name of ['sdk', 'client']) await npm(root, 'pack', `./dist/packages/${name}`, '--pack-destination', folder)
  const tarballs = (await readdir(folder)).filter(name => name.endsWith('.tgz'))
  return Promise.all(
    tarballs.map(async name => {
      const tarball = join(folder, name)
      const { stdout } = await run('tar', ['xzOf', tarball, 'package/package.json'])
      return { tarball, manifest: JSON.parse(stdout) as PackedPackage['manifest'] }
    }),
  )
}

const filesOf = async (tarball: string): Promise<readonly string[]> =>
  (await run('tar', ['tzf', tarball], { maxBuffer: 1 << 24 })).stdout.trim().split('\n')

try {
  const upstream = `${(await npm(root, 'config', 'get', 'registry')).replace(/\/$/, '')}/`
  const packed = await packAll()
  expect(
    'the packages',
    packed
      .map(({ manifest }) => manifest.name)
      .sort()
      .join() === '@pounce/client,@pounce/sdk,pounce',
  )
  const files = (await Promise.all(packed.map(({ tarball }) => filesOf(tarball)))).flat()
  const ours = files.filter(file => !file.includes('/examples/templates/'))
  const odd = ours.filter(file => (/\.ts$|\.map$|\.test\./.test(file) && !/\.d\.ts$/.test(file)) || /\/(?:test|fixtures|docs)\//.test(file))
  expect('no sources, tests or maps are in them', odd.length === 0, odd.slice(0, 5))
  const plugin = await (async () => {
    await using registry = await startRegistry(packed, upstream)
    return await packPlugin(registry.url)
  })()
  report('ok types, without skipLibCheck')
  await using registry = await startRegistry([...packed, plugin], upstream)
  const app = await publishPlugins(join(folder, 'plugins'), registry.url)
  await npm(app, 'install', '--registry', registry.url, '--ignore-scripts', 'pounce-example-times', '@pounce/client')
  await serve(app, [])
  const at = process.argv.indexOf('--node')
  const nodes = [...(at < 0 ? [] : process.argv.slice(at + 1)), ...(await otherReleases(folder, join(folder, 'plugins')))]
  for (const node of nodes) {
    report(`on ${node}`)
    await serve(app, node.split(' '))
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
