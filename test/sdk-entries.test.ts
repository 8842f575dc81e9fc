import { execFile } from 'node:child_process'
import { glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { sdkEntries, sdkNames } from '../scripts/docs/sdk-names.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const read = (path: string): Promise<string> => readFile(`${root}${path}`, 'utf8')

const names = await sdkNames()
const contract = new Set(names.filter(({ entry }) => entry === 'pounce/sdk').map(({ name, namespace }) => namespace ?? name))

test('the contract has at most 250 names', t => {
  t.true(contract.has('definePlugin'))
  t.true(contract.size <= 250, `${contract.size} names: what only some plugins use belongs in pounce/sdk/kit`)
})

test('the entries of the SDK list every name that they export', async t => {
  const entries = await Promise.all((await sdkEntries()).map(async ([, file]) => ({ file, text: await read(file) })))
  t.true(entries.length > 5)
  t.deepEqual(
    entries.filter(({ text }) => /^export \* from/m.test(text)).map(({ file }) => file),
    [],
  )
})

test('every public name of the SDK has a doc comment', t => {
  t.true(names.length > 300)
  t.deepEqual(
    names.filter(({ isDocumented }) => !isDocumented).map(({ entry, name }) => `${entry} ${name}`),
    [],
  )
})

test('the token of every port is in the contract', async t => {
  const texts = await Promise.all((await Array.fromAsync(glob('sdk/ports/*.ts', { cwd: root }))).map(read))
  const tokens = texts.flatMap(text =>
    [...text.matchAll(/^export const (\w+)\b[^=\n]*= (?:port|contributions)</gm)].map(([, name = '']) => name),
  )
  t.true(tokens.length > 60)
  t.deepEqual(
    tokens.filter(name => !contract.has(name)),
    [],
  )
})

test('a plugin that imports only the contract compiles with declarations, and adds permissions', async t => {
  const folder = await mkdtemp(join(root, 'dist/declared-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const plugin = `import { multipart, ref, routesFor, s } from 'pounce/sdk'
declare module 'pounce/sdk/kit' {
  interface PluginPermissions {
    ViewSample: true
  }
}
export const addSample = routesFor('samples', {})({
  method: 'POST',
  path: '/api/files/:id/samples',
  summary: 'Add samples',
  permission: { right: 'ViewSample', on: ref('file', 'id') },
  params: s.Object({ id: s.id() }),
  body: multipart('samples'),
  responses: { 200: s.success() },
  handle: async () => ({ status: 200, body: { status: 'success' } }),
})
`
  await writeFile(join(folder, 'plugin.ts'), plugin)
  const compilerOptions = { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: root, outDir: join(folder, 'out') }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include: ['plugin.ts'], exclude: [] }),
  )
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, '-p', folder]).catch(error => error)
  t.is(stdout, '')
})
