import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Where code that stands in a sentence belongs, and what it names. `CODE` is the place of it. */
const contexts: readonly (readonly [RegExp, string])[] = [
  [
    /^\{ right:/,
    "route({ ...rest, params: s.Object({ id: s.id() }), permission: CODE, path: '/api/files/:id/x', async handle() { return done } })",
  ],
  [
    /^ref\(/,
    "route({ ...rest, params: s.Object({ id: s.id() }), permission: { right: 'ViewFile', on: CODE }, path: '/api/files/:id/x', async handle() { return done } })",
  ],
  [/^middleware: /, "definePlugin({ id: 'example.guide', summary: '', CODE })"],
  [/^\{ phase, by/, "definePlugin({ id: 'example.guide', summary: '', middleware: [CODE] })"],
  [/^environment: /, "definePlugin({ id: 'example.guide', summary: '', CODE })"],
  [/^formerHandlers: /, "definePlugin({ id: 'example.guide', summary: '', CODE })"],
  [/^configPath: /, "definePlugin({ id: 'example.guide', summary: '', CODE })"],
  [/^readonly needs/, 'export class Needy extends ReadingTime { override CODE }'],
  [/^throw /, 'void (() => { CODE })'],
  [/^(?:new [A-Z]|s\.bytes|behind\(|server\.)/, 'void CODE'],
]

const prelude = `import { behind, BlobStore, definePlugin, Invalid, NotFound, ref, routesFor, s } from 'pounce/sdk'
import type { MiddlewareContext } from 'pounce/sdk'
import { PluginSwitch } from 'pounce/sdk/kit'
import type { TestServer } from 'pounce/sdk/testing'
import { ReadingTime as Extractor } from '../examples/reading-time/index.ts'
class ReadingTime extends Extractor { declare readonly needs: { readonly nativeAddons?: boolean } }
const route = routesFor('guide', {})
const rest = { method: 'POST', summary: '', responses: { 200: s.success() } } as const
const done = { status: 200, body: { status: 'success' } } as const
const helmet = () => async (_: unknown, next: () => Promise<unknown>) => { await next() }
const phase = 'beforeRouting'
class MyClass { async handle(_: MiddlewareContext, next: () => Promise<unknown>): Promise<void> { await next() } }
type Bytes = AsyncIterable<Uint8Array>
const Row = s.Object({ id: s.id() })
const Port = BlobStore
declare const server: TestServer
`

test('code in the sentences of the plugin guide compiles where it belongs', async t => {
  const guide = (await readFile(join(root, 'docs/plugin-guide.md'), 'utf8')).replace(/```[\s\S]*?```/g, '')
  const spans = [...guide.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
  const found = spans.flatMap(code => {
    const context = contexts.find(([form]) => form.test(code))
    return context ? [`// ${code}\n${context[1].replace('CODE', () => code)}`] : []
  })
  t.true(found.length >= 12, found.join('\n'))
  // Below the root, where `pounce/sdk` is found, and where no other test looks.
  await mkdir(join(root, 'tmp'), { recursive: true })
  const folder = await mkdtemp(join(root, 'tmp/guide-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'code.ts'), `${prelude.replace("'../examples", "'../../examples")}${found.join('\n')}\n`)
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ extends: '../../tsconfig.json', include: [], files: ['code.ts'] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const compile = promisify(execFile)(process.execPath, [tsc, '-p', folder, '--checkers', '1'], { cwd: root })
  await t.notThrowsAsync(
    compile.catch((error: { readonly stdout: string }) => {
      throw new Error(error.stdout)
    }),
  )
})
