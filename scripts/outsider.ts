import { execFile } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/*
 * An author of plugins outside this repository: for each kind `pounce plugin new`, `npm test`, `npm pack`, `npm publish`. The log has each command and
 * its time. All kinds need the same packages, so the first folder is installed and the others get hard links to its `node_modules`.
 */
const kinds = ['routes', 'blobs', 'search', 'auth', 'extractor', 'viewer', 'transport', 'geo'] as const

export interface Workshop {
  /** An empty folder. */
  readonly folder: string
  /** A folder in which Pounce is installed. */
  readonly app: string
  readonly registry: string
}

const run = promisify(execFile)
const noted = (text: string): void => void process.stdout.write(`${text}\n`)

/** Runs a command as typed in a shell; a failure shows all that it printed. */
const typed = async (cwd: string, command: string, environment: NodeJS.ProcessEnv = {}): Promise<string> => {
  const begun = performance.now()
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  try {
    const { stdout } = await run('sh', ['-c', command], { cwd, env: { ...inherited, ...environment }, maxBuffer: 1 << 26 })
    noted(`   ${((performance.now() - begun) / 1000).toFixed(1).padStart(5)} s  ${command}`)
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string }
    throw new Error(`${command} failed in ${cwd}:\n${stdout}${stderr}`)
  }
}

export const nameOf = (kind: string): string => `pounce-my-${kind}`

/** Writes, tests and publishes one plugin of each kind. Resolves to their names. */
export const publishPlugins = async ({ folder, app, registry }: Workshop): Promise<readonly string[]> => {
  await mkdir(folder, { recursive: true })
  // In a file: a shell drops variables whose names have slashes, as that of a token has.
  const settings = join(folder, 'npmrc')
  const address = registry.replace(/^http:/, '')
  await writeFile(settings, `registry=${registry}\n${address}/:_authToken=none\naudit=false\nfund=false\nloglevel=error\n`)
  const environment = { npm_config_userconfig: settings, npm_config_registry: registry }
  const begun = performance.now()
  for (const kind of kinds) {
    noted(kind)
    const name = nameOf(kind)
    const plugin = join(folder, name)
    await typed(folder, `${join(app, 'node_modules/.bin/pounce')} plugin new ${kind} ${name}`)
    const first = join(folder, nameOf(kinds[0]))
    if (plugin === first) await typed(plugin, 'npm install --ignore-scripts', environment)
    else await typed(plugin, `cp -al ${join(first, 'node_modules')} .`)
    await typed(plugin, 'npm test', environment)
    await typed(plugin, 'npm pack', environment)
    await typed(plugin, `npm publish ${name}-0.1.0.tgz`, environment)
  }
  noted(`${kinds.length} plugins from nothing to the registry in ${((performance.now() - begun) / 60_000).toFixed(1)} minutes`)
  return kinds.map(nameOf)
}

/** The admin of the server with all plugins. */
export const account = { email: 'admin@example.org', password: 'correct-horse-battery' }
const guest = { email: 'ada@example.org', firstName: 'Ada', lastName: 'Lovelace' }
const guestPassword = 'analytical engine'

/** Writes the configuration by which a deployer enables all plugins, and what the transport is to find. Resolves to the arguments of `pounce`. */
export const enablePlugins = async (app: string, data: string): Promise<readonly string[]> => {
  const file = join(app, 'pounce.json')
  const { hashOf } = (await import(pathToFileURL(join(app, 'node_modules', nameOf('auth'), 'out/index.js')).href)) as {
    readonly hashOf: (password: string) => Promise<string>
  }
  const accounts = [{ ...guest, passwordHash: await hashOf(guestPassword) }]
  const plugins = [...kinds.map(kind => `+${nameOf(kind)}`), '-blobs.disk', '-search.fts', '-geo.rtree']
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

/** Asks a server for what each of the plugins does. */
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

  await call('/api/my-routes/notes', { text: 'a note' })
  const notes = await call('/api/my-routes/notes')
  expect('routes: a note is listed', notes.includes('"a note"'), notes)

  const form = new FormData()
  form.set('file', new Blob(['one two\nthree\n'], { type: 'text/plain' }), 'glacier.txt')
  const file = idOf(
    await call(`/api/uploadToDataset/${idOf(await call('/api/datasets/createempty', { name: 'Texts', description: '' }))}`, form),
  )
  expect('blobs: a file comes back', (await call(`/api/files/${file}`)) === 'one two\nthree\n')
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
  expect('transport: a job lies in its folder', jobs === '', submitted)

  const place = { type: 'Point', geometry: { type: 'Point', coordinates: [11.6, 48.1, 520] }, properties: {} }
  const sensor = idOf(await call('/api/geostreams/sensors', { name: 'Gauge', ...place }))
  const stream = idOf(await call('/api/geostreams/streams', { name: 'Level', sensor_id: sensor, ...place }))
  const time = '2026-01-01T00:00:00Z'
  await call('/api/geostreams/datapoints', { stream_id: stream, start_time: time, end_time: time, ...place, properties: { level: 2.5 } })
  const points = await call(`/api/geostreams/datapoints?stream_id=${stream}`)
  expect('geo: a datapoint is found', points.includes('2.5'), points)
}
