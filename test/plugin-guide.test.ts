import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'

/** Inline code spans of a guide. */
const spansOf = async (guide: string): Promise<readonly string[]> => {
  const text = (await readFile(join(root, 'docs', guide), 'utf8')).replace(/```[\s\S]*?```/g, '')
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

const root = fileURLToPath(new URL('../', import.meta.url))

/** Contexts in which a code span of each form compiles; `CODE` is its position. */
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
  [/^context\./, 'void (async (context: MiddlewareContext) => { void CODE })'],
  [/^host\./, 'void (async (host: ViewerHost, key: string, start: number, end: number) => { void CODE })'],
  [/^canShow\(|^mount\(/, 'void ((part: Required<MountedPart>, element: PartElement, thing: PartSubject, host: ViewerHost) => part.CODE)'],
  [/^Policy\./, 'void ((Policy: PolicyPort) => { void CODE })'],
  [/^request\(/, 'void ((provider: Required<AuthProvider>, headers: never, address: never) => provider.CODE)'],
  [/^throw /, 'void (() => { CODE })'],
  [/^(?:new [A-Z]|s\.bytes|wrapped\(|server\.)/, 'void CODE'],
]

const prelude = `import { BlobStore, definePlugin, Invalid, NotFound, ref, routesFor, s, wrapped } from 'pounce/sdk'
import type { AuthProvider, MiddlewareContext, Policy as PolicyPort } from 'pounce/sdk'
import { type MountedPart, type PartElement, type PartSubject, PluginSwitch, type ViewerHost } from 'pounce/sdk/kit'
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

test('inline code of the plugin guide compiles in its context', async t => {
  const found = (await spansOf('plugin-guide.md')).flatMap(code => {
    const context = contexts.find(([form]) => form.test(code))
    return context ? [`// ${code}\n${context[1].replace('CODE', () => code)}`] : []
  })
  t.true(found.length >= 12, found.join('\n'))
  // Below the root, so that `pounce/sdk` can be resolved, in a folder that no other test reads.
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

const folded = (text: string): string => text.replace(/\s+/g, ' ')

/** Everything that prose may refer to: sources, their paths, settings, routes and commands. */
const known = async (): Promise<{ readonly code: string; readonly paths: ReadonlySet<string> }> => {
  const { stdout } = await promisify(execFile)('git', ['ls-files'], { cwd: root, maxBuffer: 1 << 26 })
  const files = stdout
    .split('\n')
    .filter(file => /^(?:sdk|plugins|core|examples|scripts|config)\/.*\.(?:tsx?|js|json|css)$|^package\.json$/.test(file))
  const pages = ['configuration', 'routes', 'command-line', 'operations'].map(name => `docs/${name}.md`)
  const texts = await Promise.all([...files, ...pages].map(file => readFile(join(root, file), 'utf8')))
  const folders = stdout.split('\n').flatMap(file => file.split('/').map((_, at, names) => names.slice(0, at + 1).join('/')))
  return { code: folded(texts.join('\n')), paths: new Set(folders) }
}

/** The words of a span without placeholders: `<id>` in a URL, the value of an environment variable, arguments of a program. */
const wordsIn = (span: string): readonly string[] =>
  span
    .replace(/^(POUNCE_[A-Z_]+)=.*/, '$1')
    .replace(/(?<=--(?:name|config)) \S+/, '')
    .replace(/<[^>]*>/g, '')
    .match(/[A-Za-z_]\w+/g) ?? []

for (const guide of ['plugin-guide.md', 'first-plugin.md']) {
  test(`everything that sentences of ${guide} refer to exists`, async t => {
    const { code, paths } = await known()
    const words = new Set(code.match(/[A-Za-z_]\w+/g))
    const unknown = (await spansOf(guide)).filter(span => {
      if (contexts.some(([form]) => form.test(span))) return false
      return !paths.has(span) && !code.includes(folded(span)) && !wordsIn(span).every(word => words.has(word))
    })
    t.deepEqual(unknown, [])
  })
}
