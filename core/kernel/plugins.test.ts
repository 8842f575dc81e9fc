import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { definePlugin, port, provide } from 'pounce/sdk'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { loadConfig } from './config.ts'
import { makeKernel } from './fixtures/boot.ts'
import { buildPluginGraph } from './plugin-graph.ts'
import { loadPlugins } from './plugins.ts'

interface Named {
  readonly name: string
}
const Outside = port<Named>('outside')

const source = (id: string) => `
import { Clock, definePlugin, port, provide, wire } from 'pounce/sdk'
class Outsider {
  name = '${id}'
  clock
  constructor(clock) { this.clock = clock }
}
wire(Outsider, Clock)
export const plugin = definePlugin({ id: '${id}', summary: 'From outside.', provides: [provide(port('outside'), Outsider)] })
`

const write = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

const refused = async (t: ExecutionContext, ...plugins: Parameters<typeof loadPlugins>[0]): Promise<string> =>
  (await t.throwsAsync(loadPlugins(plugins))).message

test('a plugin in a folder outside the tree gets the SDK of this kernel', async t => {
  const folder = join(await tempFolder(t), 'outsider')
  await write(join(folder, 'index.ts'), source('test.outsider'))
  const [loaded] = await loadPlugins([{ plugin: folder }])
  t.is(loaded?.name, 'test.outsider')
  const kernel = await makeKernel(t, [loaded?.plugin ?? definePlugin({ id: 'none', summary: '' })])
  t.is(kernel.get(Outside).name, 'test.outsider')
})

test('folders and packages of plugins are resolved relative to the configuration file that names them', async t => {
  const folder = await tempFolder(t)
  await write(join(folder, 'mine', 'index.js'), source('test.mine'))
  await write(
    join(folder, 'node_modules', 'acme-store', 'package.json'),
    '{"name": "acme-store", "type": "module", "exports": {"import": "./main.js"}}',
  )
  await write(join(folder, 'node_modules', 'acme-store', 'main.js'), source('acme.store'))
  await write(join(folder, 'pounce.json'), '{"plugins": ["./mine", "acme-store"]}')
  const config = await loadConfig({ defaults: { plugins: ['blobs.disk'] }, file: join(folder, 'pounce.json') })
  t.deepEqual(
    config.plugins.map(({ name }) => name),
    ['test.mine', 'acme.store'],
  )
})

test('a list of plus and minus entries modifies the list below', async t => {
  const environment = { POUNCE_PLUGINS: '-blobs.disk' }
  const config = await loadConfig({ defaults: { plugins: ['blobs.disk', 'auth.local'] }, environment })
  t.deepEqual(
    config.plugins.map(({ name }) => name),
    ['auth.local'],
  )
  const more = await loadConfig({ defaults: { plugins: ['auth.local'] }, environment: { POUNCE_PLUGINS: '+blobs.disk' } })
  t.deepEqual(
    more.plugins.map(({ name }) => name),
    ['auth.local', 'blobs.disk'],
  )
})

test('a modification may add copies, must remove listed plugins, and cannot be mixed with a new list', async t => {
  const folder = await tempFolder(t)
  await write(join(folder, 'mine', 'index.js'), source('test.mine'))
  const file = join(folder, 'pounce.json')
  const namesOf = async (plugins: unknown, defaults: readonly string[] = ['auth.local', 'blobs.disk']): Promise<readonly string[]> => {
    await write(file, JSON.stringify({ plugins }))
    return (await loadConfig({ defaults: { plugins: defaults }, file })).plugins.map(({ name }) => name)
  }
  t.deepEqual(await namesOf(['+./mine', { plugin: './mine', as: 'test.yours' }]), ['auth.local', 'blobs.disk', 'test.mine', 'test.yours'])
  t.deepEqual(await namesOf(['-auth.local', '-blobs.s3']), ['blobs.disk'])
  await t.throwsAsync(namesOf(['-blobs.dsk']), { message: '-blobs.dsk does not match any listed plugin (did you mean -blobs.disk?)' })
  await t.throwsAsync(namesOf(['+./mine', 'blobs.disk']), {
    message: '"plugins" mixes +./mine, which modifies the list, with blobs.disk, which replaces it: prefix it with + or -',
  })
})

test('an empty variable is treated as unset', async t => {
  const { plugins } = await loadConfig({ defaults: { plugins: ['auth.local'] }, environment: { POUNCE_PLUGINS: '' } })
  t.deepEqual(
    plugins.map(({ name }) => name),
    ['auth.local'],
  )
})

test('two copies of a plugin have separate settings, and the first one keeps the port', async t => {
  class Store implements Named {
    readonly name = 'store'
  }
  const plugin = definePlugin({ id: 'test.store', summary: 's', provides: [provide(Outside, Store)] })
  const config = await loadConfig({ defaults: {}, plugins: [plugin] })
  t.is(config.plugins.length, 1)
  const copies = await loadPlugins([{ plugin }, { plugin, as: 'test.archive' }])
  const plan = buildPluginGraph(copies, new Set())
  t.deepEqual(
    [...plan.providers],
    [
      ['outside', 'test.store'],
      ['outside@test.archive', 'test.archive'],
    ],
  )
})

test('an unknown plugin is refused with a similar one', async t => {
  t.is(await refused(t, { plugin: 'blobs.dsik' }), 'blobs.dsik is not part of this version (did you mean blobs.disk?)')
  t.is(await refused(t, { plugin: 'transport.carrier-pigeon' }), 'transport.carrier-pigeon is not part of this version')
  t.regex(await refused(t, { plugin: 'no-such-package-anywhere' }), /neither part of this version nor an installed package/)
  t.regex(await refused(t, { plugin: '/no/such/folder' }), /The plugin folder \/no\/such\/folder does not exist/)
})

test('a folder without an entry file and a module without a plugin are refused', async t => {
  const folder = await tempFolder(t)
  t.regex(await refused(t, { plugin: folder }), /has no index\.ts or index\.js/)
  await write(join(folder, 'index.js'), 'export const plugin = {}')
  t.regex(await refused(t, { plugin: folder }), /does not export `plugin` made by definePlugin/)
})

test('a module that fails to load is named with its reason', async t => {
  const folder = await tempFolder(t)
  await write(join(folder, 'index.js'), 'import "./absent.js"')
  t.regex(await refused(t, { plugin: folder }), /cannot be loaded: .*absent\.js/)
})

test('an error of a module or of a constructor has its file and line', async t => {
  const folder = await tempFolder(t)
  const [syntax, throwing, naming, defining, constructing] = ['syntax', 'throwing', 'naming', 'defining', 'constructing'].map(name =>
    join(folder, name),
  )
  await write(join(`${syntax}`, 'index.js'), 'import "./part.js"')
  await write(join(`${syntax}`, 'part.js'), '\nconst x = ;')
  t.true((await refused(t, { plugin: `${syntax}` })).endsWith(`cannot be loaded: Unexpected token ';' (${syntax}/part.js:2)`))
  await write(join(`${throwing}`, 'index.js'), 'const x = undefined\nx.y()')
  t.true((await refused(t, { plugin: `${throwing}` })).endsWith(` (${throwing}/index.js:2)`))
  await write(join(`${naming}`, 'index.js'), 'import { nothing } from "pounce/sdk"')
  t.true((await refused(t, { plugin: `${naming}` })).endsWith(` (${naming}/index.js:1)`))
  await write(
    join(`${defining}`, 'index.js'),
    'import { definePlugin } from "pounce/sdk"\n\nexport const plugin = definePlugin({ id: "test.defining", sumary: "x" })',
  )
  t.true((await refused(t, { plugin: `${defining}` })).endsWith(` (${defining}/index.js:3)`))
  await write(
    join(`${constructing}`, 'index.js'),
    source('test.constructing').replace('this.clock = clock', '\nthis.clock = clock.no.such'),
  )
  const [loaded] = await loadPlugins([{ plugin: `${constructing}` }])
  const error = await t.throwsAsync(makeKernel(t, [loaded?.plugin ?? definePlugin({ id: 'none', summary: '' })]))
  t.regex(error.message, /^test\.constructing: the constructor of Outsider failed: .*such.* \(.*\/constructing\/index\.js:7\)$/)
})

test('a plugin for another version of the SDK is refused', async t => {
  const folder = await tempFolder(t)
  const versioned = (version: number): string =>
    source('test.versioned').replace("summary: 'From", `apiVersion: ${version}, summary: 'From`)
  await write(join(folder, 'now', 'index.js'), versioned(1))
  await write(join(folder, 'later', 'index.js'), versioned(2))
  t.is((await loadPlugins([{ plugin: join(folder, 'now') }])).length, 1)
  t.regex(
    await refused(t, { plugin: join(folder, 'later') }),
    /test\.versioned is written for version 2 of the SDK: install a release for version 1/,
  )
})

test('two plugins with one id are refused with the folders of both', async t => {
  const folder = await tempFolder(t)
  for (const name of ['one', 'two']) await write(join(folder, name, 'index.js'), source('test.same'))
  t.regex(
    await refused(t, { plugin: join(folder, 'one') }, { plugin: join(folder, 'two') }),
    /one and .*two are different plugins that both have the id test\.same: change it in one of them/,
  )
})

test('an error that Node hides in a package without a type is refused with the way to see it', async t => {
  const folder = await tempFolder(t)
  await write(join(folder, 'index.js'), "import { nothing } from 'pounce/sdk'\nexport const plugin = nothing\n")
  await write(join(folder, 'package.json'), '{}')
  t.regex(await refused(t, { plugin: folder }), /cannot be loaded: .*("type": "module"|export named 'nothing')/)
})

test('a duplicate name is refused with the way to load two copies', async t => {
  t.regex(await refused(t, { plugin: 'blobs.disk' }, { plugin: 'blobs.disk' }), /blobs\.disk is listed twice .*"as"/)
})

test('an id that is invalid or belongs to a built-in plugin is refused', async t => {
  const folder = await tempFolder(t)
  for (const [at, id] of ['bookmarks', 'Example.Bookmarks', 'example..bookmarks', 'example.bookmarks/x', '__proto__.x'].entries()) {
    await write(join(folder, `${at}`, 'index.ts'), source(id))
    const message = await refused(t, { plugin: join(folder, `${at}`) })
    t.true(message.includes(`/${at} has the id "${id}": an id is two or more parts of lower-case letters`), message)
  }
  await write(join(folder, 'disk', 'index.ts'), source('blobs.disk'))
  t.regex(await refused(t, { plugin: join(folder, 'disk') }), /disk has the id blobs\.disk, which is the id of a plugin of Pounce/)
  await write(join(folder, 'fine', 'index.ts'), source('test.fine'))
  t.regex(await refused(t, { plugin: join(folder, 'fine'), as: 'blobs.disk' }), /fine cannot be named blobs\.disk/)
})
