import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { guideCommands, isServing, type Served, serveBy } from './outsider-guide.ts'
import { root } from './server-bundle.ts'

/*
 * Simulates a plugin author outside this repository: the commands of `docs/first-plugin.md`, then for each other kind `pounce plugin new`,
 * `npm test`, `npm pack`, `npm publish`. The log has each command and its duration. All kinds need the same packages, so only the first folder is
 * installed; the others get hard links to its `node_modules`.
 */
const firstKind = 'routes'
const furtherKinds = ['blobs', 'search', 'auth', 'extractor', 'viewer', 'transport', 'geo'] as const
const firstName = 'pounce-tides'

const run = promisify(execFile)
const noted = (text: string): void => void process.stdout.write(`${text}\n`)
const timed = (begun: number, command: string): void =>
  noted(`   ${((performance.now() - begun) / 1000).toFixed(1).padStart(5)} s  ${command}`)

/** Runs a shell command; a failure includes all of its output. */
const typed = async (cwd: string, command: string, env: NodeJS.ProcessEnv, after = ''): Promise<string> => {
  const begun = performance.now()
  try {
    const { stdout } = await run('sh', ['-c', `${command}${after}`], { cwd, env, maxBuffer: 1 << 26 })
    timed(begun, command)
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string }
    throw new Error(`${command} failed in ${cwd}:\n${stdout}${stderr}`)
  }
}

const nameOf = (kind: string): string => (kind === firstKind ? firstName : `pounce-my-${kind}`)

/** The environment of npm and Pounce: the registry with a token for publishing, and a prefix for global packages. */
const environmentFor = async (folder: string, registry: string): Promise<NodeJS.ProcessEnv> => {
  // In a file: a shell drops variables whose names contain slashes, such as that of the token.
  const settings = join(folder, 'npmrc')
  const address = registry.replace(/^http:/, '')
  const prefix = join(folder, 'global')
  const lines = [`registry=${registry}`, `${address}/:_authToken=none`, 'audit=false', 'fund=false', 'loglevel=error', `prefix=${prefix}`]
  await writeFile(settings, `${lines.join('\n')}\n`)
  const { NODE_TEST_CONTEXT: _, PATH, ...inherited } = process.env
  return {
    ...inherited,
    PATH: [join(prefix, 'bin'), PATH].join(delimiter),
    npm_config_userconfig: settings,
    npm_config_registry: registry,
    npm_config_prefix: prefix,
    SCARF_ANALYTICS: 'false',
    POUNCE_HTTP__PORT: '0',
  }
}

/** Runs the commands of the guide, keeping the working directory between them. Resolves to the output of the last one. */
const walkGuide = async (folder: string, env: NodeJS.ProcessEnv): Promise<string> => {
  let cwd = folder
  let printed = ''
  let served: Served | undefined
  try {
    for (const command of await guideCommands()) {
      const begun = performance.now()
      if (isServing(command)) {
        await served?.interrupt()
        served = await serveBy(cwd, command, env)
        timed(begun, command)
        continue
      }
      const here = served ? command.replace('http://127.0.0.1:9000', served.url) : command
      const lines = (await typed(cwd, here, env, '\necho\npwd')).trimEnd().split('\n')
      cwd = lines.at(-1) ?? cwd
      printed = lines.slice(0, -1).join('\n').trim()
    }
  } finally {
    await served?.interrupt()
  }
  return printed
}

/** Runs a plugin's tests with test runners other than Node's: only the import of `test` changes, as the guide describes. */
const testElsewhere = async (folder: string, env: NodeJS.ProcessEnv): Promise<void> => {
  noted('other runners')
  const above = join(folder, 'runners')
  await mkdir(join(above, 'node_modules'), { recursive: true })
  await writeFile(join(above, 'package.json'), '{"private": true}')
  await typed(above, 'npm install vitest', env)
  // The repository's own ava: a registry that delays new releases may lack dependencies of the newest one.
  await symlink(join(root, 'node_modules/ava'), join(above, 'node_modules/ava'), 'dir')
  const runners = {
    vitest: ["import { test } from 'vitest'", 'vitest run --dir src'],
    ava: ["import test from 'ava'", 'node ../node_modules/ava/entrypoints/cli.js'],
  }
  for (const [name, [declared = '', command = '']] of Object.entries(runners)) {
    const plugin = join(above, name)
    await typed(above, `cp -al ../${nameOf('geo')} ${name}`, env)
    const file = join(plugin, 'src/index.test.ts')
    const text = (await readFile(file, 'utf8')).replace("import { test } from 'node:test'", declared)
    await rm(file)
    await writeFile(file, text)
    await writeFile(
      join(plugin, 'ava.config.js'),
      "export default { files: ['src/*.test.ts'], extensions: ['ts'], failWithoutAssertions: false }\n",
    )
    await typed(plugin, command, { ...env, PATH: [join(above, 'node_modules/.bin'), env['PATH']].join(delimiter) })
  }
}

/** Commands of other Node releases: the oldest one supported for plugin development, and the newest. */
export const otherReleases = async (folder: string, plugins: string): Promise<readonly string[]> => {
  const env = await environmentFor(plugins, (await run('npm', ['config', 'get', 'registry'])).stdout.trim())
  const commands: string[] = []
  for (const release of ['22.18.0', 'latest']) {
    const place = join(folder, `node-${release}`)
    const name = `node-${process.platform}-${process.arch}`
    await mkdir(place)
    await writeFile(join(place, 'package.json'), '{"private": true}')
    noted(`node@${release}`)
    await typed(place, `npm install --ignore-scripts ${name}@${release}`, env)
    const bin = join(place, 'node_modules', name, 'bin')
    await typed(join(plugins, firstName), 'npm test', { ...env, PATH: [bin, env['PATH']].join(delimiter) })
    commands.push(join(bin, 'node'))
  }
  return commands
}

/** Creates, tests and publishes one plugin of each kind, and installs them in one folder. Resolves to that folder. */
export const publishPlugins = async (folder: string, registry: string): Promise<string> => {
  await mkdir(folder, { recursive: true })
  const env = await environmentFor(folder, registry)
  const begun = performance.now()
  noted('docs/first-plugin.md')
  const last = await walkGuide(folder, env)
  if (!/^\[\{.*"text":"low at 14:20".*\}\]$/.test(last))
    throw new Error(`Unexpected output of the last command of docs/first-plugin.md: ${last}`)
  noted(`first plugin written, published, installed and used in ${((performance.now() - begun) / 60_000).toFixed(1)} minutes`)
  for (const kind of furtherKinds) {
    noted(kind)
    const name = nameOf(kind)
    const plugin = join(folder, name)
    await typed(folder, `pounce plugin new ${kind} ${name}`, env)
    await typed(plugin, `cp -al ../${firstName}/node_modules .`, env)
    await typed(plugin, 'npm test', env)
    await typed(plugin, 'npm pack', env)
    await typed(plugin, `npm publish ${name}-0.1.0.tgz`, env)
  }
  await testElsewhere(folder, env)
  const app = join(folder, 'my-pounce')
  await typed(app, `npm install ${furtherKinds.map(nameOf).join(' ')}`, env)
  return app
}

/** The admin of the server with all plugins. */
export const account = { email: 'admin@example.org', password: 'correct-horse-battery' }
const guest = { email: 'ada@example.org', firstName: 'Ada', lastName: 'Lovelace' }
const guestPassword = 'analytical engine'

/** Writes the configuration that enables all plugins, and the input of the transport plugin. Resolves to the arguments of `pounce`. */
export const enablePlugins = async (app: string, data: string): Promise<readonly string[]> => {
  const file = join(app, 'pounce.json')
  const { hashOf } = (await import(pathToFileURL(join(app, 'node_modules', nameOf('auth'), 'out/index.js')).href)) as {
    readonly hashOf: (password: string) => Promise<string>
  }
  const accounts = [{ ...guest, passwordHash: await hashOf(guestPassword) }]
  const plugins = [...[firstKind, ...furtherKinds].map(kind => `+${nameOf(kind)}`), '-blobs.disk', '-search.fts', '-geo.rtree']
  const settings = { data, admin: account, plugins, plugin: { 'my-auth': { accounts }, 'my-transport': { pollMs: 100 } } }
  await writeFile(file, JSON.stringify(settings))
  const extractors = join(data, 'my-transport/extractors')
  await mkdir(extractors, { recursive: true })
  const info = {
    ...{ name: 'tides', version: '1.0.0', description: 'Tides', author: '', maturity: 'Development' },
    ...{ contributors: [], contexts: [], repository: [], external_services: [], libraries: [], bibtex: [], defaultLabels: [] },
    ...{ process: { file: ['text/x-tides'] }, categories: ['EXTRACT'], parameters: {} },
  }
  await writeFile(join(extractors, 'tides.json'), JSON.stringify(info))
  return ['--config', file]
}

type Expect = (what: string, isTrue: boolean, detail?: unknown) => void

/** Uses each of the plugins on a running server. */
export const usePlugins = async (url: string, data: string, expect: Expect): Promise<void> => {
  const authorization = `Basic ${Buffer.from(`${account.email}:${account.password}`).toString('base64')}`
  const call = async (path: string, body?: object): Promise<string> => {
    const isForm = body instanceof FormData
    const answer = await fetch(`${url}${path}`, {
      headers: { authorization, ...(body && !isForm ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { method: 'POST', body: isForm ? body : JSON.stringify(body) } : {}),
    })
    return answer.ok ? answer.text() : `${answer.status} ${await answer.text()}`
  }
  const idOf = (text: string): string => String((JSON.parse(text) as { readonly id: string | number }).id)
  const within30s = async (look: () => Promise<string>, expected: RegExp): Promise<string> => {
    const limit = Date.now() + 30_000
    let found = await look()
    while (!expected.test(found) && Date.now() < limit) {
      await new Promise(resolve => setTimeout(resolve, 100))
      found = await look()
    }
    return expected.test(found) ? '' : found || 'nothing'
  }

  await call('/api/tides/notes', { text: 'a note' })
  const notes = await call('/api/tides/notes')
  expect('routes: a note is listed', notes.includes('"a note"'), notes)

  const form = new FormData()
  form.set('file', new Blob(['one two\nthree\n'], { type: 'text/plain' }), 'glacier.txt')
  const file = idOf(
    await call(`/api/uploadToDataset/${idOf(await call('/api/datasets/createempty', { name: 'Texts', description: '' }))}`, form),
  )
  expect('blobs: a stored file is returned', (await call(`/api/files/${file}`)) === 'one two\nthree\n')
  expect('blobs: it is in the folder of the plugin', (await readdir(join(data, 'my-blobs'))).length > 1)

  const search = await within30s(() => call('/api/search?query=glacier'), new RegExp(file))
  expect('search: the file is found', search === '', search)
  const words = await within30s(() => call(`/api/files/${file}/metadata.jsonld`), /"words":3/)
  expect('extractor: its words are counted', words === '', words)

  const signIn = await fetch(`${url}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: guest.email, password: guestPassword }),
  })
  expect('auth: a listed person signs in', signIn.status === 200, signIn.status)

  const parts = JSON.parse(await call('/api/web/contributions')) as readonly { readonly id: string; readonly module: string }[]
  const module = await call(parts.find(({ id }) => id === 'plugin.my-viewer.table')?.module ?? '/absent')
  expect('viewer: browsers get its module', module.includes('export const mount'), module)

  const extractors = await within30s(() => call('/api/extractors'), /"tides"/)
  expect('transport: its extractor is registered', extractors === '', extractors)
  const submitted = await call(`/api/files/${file}/extractions`, { extractor: 'tides' })
  const jobs = await within30s(async () => (await readdir(join(data, 'my-transport/jobs'))).join(), /json/)
  expect('transport: a job is in its folder', jobs === '', submitted)

  const place = { type: 'Point', geometry: { type: 'Point', coordinates: [11.6, 48.1, 520] }, properties: {} }
  const sensor = idOf(await call('/api/geostreams/sensors', { name: 'Gauge', ...place }))
  const stream = idOf(await call('/api/geostreams/streams', { name: 'Level', sensor_id: sensor, ...place }))
  const time = '2026-01-01T00:00:00Z'
  await call('/api/geostreams/datapoints', { stream_id: stream, start_time: time, end_time: time, ...place, properties: { level: 2.5 } })
  const points = await call(`/api/geostreams/datapoints?stream_id=${stream}`)
  expect('geo: a datapoint is found', points.includes('2.5'), points)
}
