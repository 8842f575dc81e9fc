import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { run } from './run.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const kinds = ['routes', 'blobs', 'search', 'auth', 'extractor', 'viewer', 'transport', 'geo']

const pounce = async (...args: readonly string[]) => {
  const output = { out: '', err: '' }
  const code = await run(args, {
    out: text => {
      output.out += text
    },
    err: text => {
      output.err += text
    },
    columns: 100,
    isTerminal: false,
  })
  return { ...output, code }
}

const textsIn = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return Promise.all(entries.filter(one => one.isFile()).map(one => readFile(join(one.parentPath, one.name), 'utf8')))
}

test('each kind is generated with package.json, tsconfig, code, a test and a README, under the given name', async t => {
  const folder = await tempFolder(t)
  for (const kind of kinds) {
    const made = join(folder, kind)
    t.like(await pounce('plugin', 'new', kind, made, '--name', '@acme/pounce-tides'), { code: 0, err: '' }, kind)
    const names = await readdir(made)
    for (const name of ['.gitignore', 'README.md', 'package.json', 'src', 'tsconfig.json']) t.true(names.includes(name), `${kind}: ${name}`)
    const sources = await readdir(join(made, 'src'))
    for (const name of ['index.ts', 'index.test.ts']) t.true(sources.includes(name), `${kind}: ${name}`)

    const manifest = JSON.parse(await readFile(join(made, 'package.json'), 'utf8')) as Readonly<Record<string, object>>
    t.is(String(manifest['name']), '@acme/pounce-tides')
    t.deepEqual(Object.keys(manifest['peerDependencies'] ?? {}), ['@pounce/sdk'])
    t.deepEqual(Object.keys(manifest['scripts'] ?? {}).sort(), ['build', 'dev', 'prepack', 'test'])
    const index = await readFile(join(made, 'src/index.ts'), 'utf8')
    t.regex(index, /id: 'acme\.tides'/)
    for (const text of await textsIn(made)) t.notRegex(text, /[^@]pounce\/sdk|template/, kind)
  }
})

test('the versions of TypeScript and @types/node are those of Pounce', async t => {
  const folder = join(await tempFolder(t), 'pounce-tides')
  await pounce('plugin', 'new', 'routes', folder)
  const ours = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>
  }
  const { devDependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as typeof ours
  for (const [name, range] of Object.entries(devDependencies)) t.is(range, `^${ours.devDependencies[name]}`)
})

test('without a registry, a plugin only needs the Pounce package file', async t => {
  const folder = await tempFolder(t)
  const packed = join(folder, 'pounce-0.1.0.tgz')
  const missing = await pounce('plugin', 'new', 'routes', join(folder, 'pounce-tides'), '--from', packed)
  t.is(missing.code, 1)
  t.regex(missing.err, /pounce-0\.1\.0\.tgz does not exist: create it with npm pack/)

  await writeFile(packed, '')
  for (const kind of kinds) {
    const made = join(folder, 'plugins', `pounce-${kind}`)
    t.like(await pounce('plugin', 'new', kind, made, '--from', packed), { code: 0, err: '' }, kind)
    const manifest = JSON.parse(await readFile(join(made, 'package.json'), 'utf8')) as Readonly<Record<string, object>>
    t.deepEqual(Object.keys(manifest['peerDependencies'] ?? {}), ['pounce'])
    t.like(manifest['devDependencies'], { pounce: 'file:../../pounce-0.1.0.tgz' })
    for (const text of await textsIn(made)) t.notRegex(text, /@pounce\/sdk/, kind)
  }
})

test('existing files are never overwritten, and the message gives the reason', async t => {
  const folder = await tempFolder(t)
  await writeFile(join(folder, 'thesis.txt'), 'years of work')
  const full = await pounce('plugin', 'new', 'geo', folder, '--name', 'pounce-tides')
  t.is(full.code, 1)
  t.regex(full.err, /is not empty: it has thesis\.txt/)
  t.deepEqual(await readdir(folder), ['thesis.txt'])

  const unknown = await pounce('plugin', 'new', 'route', join(folder, 'pounce-tides'))
  t.is(unknown.code, 1)
  t.regex(
    unknown.err,
    /Unknown kind of plugin "route" \(did you mean routes\?\): the kinds are routes, blobs, search, auth, extractor, viewer, transport, geo/,
  )
  for (const name of ['Tides', 'pounce tides', '../tides', '@acme/', '', 'pounce', 'pounce-', 'tides-']) {
    const refused = await pounce('plugin', 'new', 'geo', join(folder, 'new'), '--name', name)
    t.is(refused.code, 1, name)
    t.regex(refused.err, /is not a valid plugin name/, name)
  }
  t.deepEqual(await readdir(folder), ['thesis.txt'])
})

test('a folder that only contains a repository is treated as empty', async t => {
  const folder = join(await tempFolder(t), 'pounce-tides')
  await mkdir(join(folder, '.git'), { recursive: true })
  t.is((await pounce('plugin', 'new', 'viewer', folder)).code, 0)
})

// All kinds are installed, tested, published and used by scripts/test-packages.ts.
test("the generated test passes with Node's own runner", async t => {
  const folder = await tempFolder(t)
  const made = join(folder, 'pounce-tides')
  t.is((await pounce('plugin', 'new', 'routes', made)).code, 0)
  await mkdir(join(made, 'node_modules/@pounce'), { recursive: true })
  await symlink(root, join(made, 'node_modules/pounce'), 'dir')
  const hook = join(made, 'hook.mjs')
  await writeFile(
    hook,
    `import { registerHooks } from 'node:module'
registerHooks({ resolve: (specifier, context, next) => next(specifier.replace(/^@(?=pounce\\/sdk)/, ''), context) })
`,
  )
  const args = ['--import', join(root, 'core/resolve.js'), '--import', hook, '--test', '--test-reporter', 'tap', 'src/index.test.ts']
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: made, env })
  t.regex(stdout, /^# pass 1$/m)
  t.regex(stdout, /^# fail 0$/m)
})
