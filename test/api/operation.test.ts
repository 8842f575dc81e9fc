import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { loadConfig } from '../../core/kernel/config.ts'
import { declaredRoutes } from '../support/declared-routes.ts'

let server: TestServer
test.before(async () => {
  server = await bootForTest()
})
test.after.always(() => server?.stop())

test('every response has nosniff, and every HTML page a content security policy without unsafe sources', async t => {
  const admin = server.as(server.admin.key)
  const pages: string[] = []
  for (const { method, path } of await declaredRoutes(server)) {
    if (method !== 'GET' || path.includes('{')) continue
    const { headers, status } = await admin(path, { redirect: 'manual', headers: { accept: 'text/html' } })
    t.is(headers.get('x-content-type-options'), 'nosniff', path)
    if (!headers.get('content-type')?.startsWith('text/html')) continue
    pages.push(path)
    const policy = headers.get('content-security-policy') ?? ''
    t.regex(policy, /default-src '(?:self|none)'/, `${path} ${status}`)
    // WebAssembly compiled by our own scripts, which viewers need, is not an inline script.
    const frame = /^sandbox allow-scripts; .*connect-src 'none';/.test(policy)
    // A frame without origin and network may have inline styles.
    const checked = policy.replace("'wasm-unsafe-eval'", '').replace(frame ? "style-src 'self' 'unsafe-inline'" : '', '')
    t.notRegex(checked, /unsafe|\*|http:/, path)
  }
  t.true(pages.length > 0, String(pages))
  t.log(pages.join(' '))
})

test('the server listens on loopback by default', async t => {
  const config = (await loadConfig({ environment: {}, settings: { data: server.folder } })) as unknown as {
    readonly http?: { readonly host?: string }
  }
  t.regex(JSON.stringify(config), /"host":"127\.0\.0\.1"/)
})

test('stored data is not accessible to other accounts of the operating system', async t => {
  for (const name of ['documents', 'blobs', 'search', 'transport.queue']) {
    const { mode } = await stat(join(server.folder, name))
    t.is(mode & 0o007, 0, `${name} ${mode.toString(8)}`)
  }
})

test('only the dependencies listed have install scripts', async t => {
  const lock = JSON.parse(await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>
  }
  const { allowScripts } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly allowScripts: Readonly<Record<string, boolean>>
  }
  const scripted = Object.entries(lock.packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.replace(/^.*node_modules\//, ''))
  t.deepEqual(
    scripted.filter(name => !(name in allowScripts)),
    [],
  )
})
