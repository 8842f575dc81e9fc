import { readFile } from 'node:fs/promises'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { unknownId, upload } from '../../test/support/scene.ts'
import { newDataset, newSpace, publish, somebody } from '../../test/support/spaces-and-people.ts'
import { webBuild } from '../../test/support/web-build.ts'

const server = await bootForTest({ env: { POUNCE_ACCESS__PRIVATE: 'true' } })
test.before(webBuild)
test.after.always(() => server.stop())

const html = { accept: 'text/html,application/xhtml+xml' }
const page = async (path: string, headers: Readonly<Record<string, string>> = {}, key?: string) => {
  const response = await server.as(key)(path, { headers: { ...html, ...headers } })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

test('every page of the interface has the same CSP, which allows only scripts of this server', async t => {
  for (const path of [
    '/',
    '/explore',
    '/datasets',
    '/collections',
    '/spaces',
    '/search?query=x',
    '/login',
    '/signup',
    '/signup/abc',
    '/reset/abc',
    '/welcome',
    '/admin/access',
    '/admin/plugins',
    '/accessibility',
    '/compare',
    '/parts/example.page',
  ]) {
    const { status, headers, text } = await page(path)
    t.is(status, 200, path)
    t.is(headers.get('content-type'), 'text/html; charset=utf-8')
    t.regex(text, /<script type="module" src="\/web\/assets\/app-[\w-]+\.js"><\/script>/)
    const policy = headers.get('content-security-policy') ?? ''
    t.regex(policy, /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'nonce-[\w+/=]+';/)
    t.regex(policy, /base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/)
    t.false(/unsafe-inline|unsafe-eval'|https?:/.test(policy.replace("'wasm-unsafe-eval'", '')))
    t.is(headers.get('cache-control'), 'private, no-cache')
  }
  const nonces = await Promise.all([page('/'), page('/')])
  t.not(nonces[0].headers.get('content-security-policy'), nonces[1].headers.get('content-security-policy'))
})

test('files of the interface are immutable in caches, and compressed if the client accepts it', async t => {
  const [, path = ''] = /src="([^"]+\/app-[^"]+\.js)"/.exec((await page('/')).text) ?? []
  const plain = await server.as()(path, { headers: { 'accept-encoding': 'identity' } })
  t.is(plain.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  // For workers, which do not inherit the CSP of the page.
  t.is(
    plain.headers.get('content-security-policy'),
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src 'self' blob: data:",
  )
  t.is(plain.headers.get('content-type'), 'text/javascript; charset=utf-8')
  t.is(plain.headers.get('vary'), 'Accept-Encoding')
  const bytes = Buffer.from(await plain.arrayBuffer())
  const encoded = async (encoding: string): Promise<Buffer> => {
    const response = await fetch(`${server.url}${path}`, { headers: { 'accept-encoding': encoding } })
    t.is(response.headers.get('content-encoding'), encoding)
    return Buffer.from(await response.arrayBuffer())
  }
  t.deepEqual(await encoded('br'), bytes)
  t.deepEqual(await encoded('gzip'), bytes)
  t.is((await server.as()('/web/assets/nothing.js')).status, 404)
  t.is((await server.as()('/web/assets/..%2Fstamp')).status, 404)
})

test('the page of a resource has metadata for callers who may view it, and does not reveal its existence to others', async t => {
  const ada = await somebody(server)
  const name = 'Leaf area </script><script>alert(1)</script> "summer" & ünï'
  const space = await newSpace(ada)
  await publish(server, ada, space, 'PRIVATE')
  const dataset = await newDataset(ada, { name, description: 'Plots <b>A</b>', space: [space], access: 'PRIVATE' })
  const file = await upload(server.as(ada.key), dataset, 'a,b\n1,2\n', 'plots.csv', { type: 'text/csv' })
  const { status, text, headers } = await page(`/datasets/${dataset}`, {}, ada.key)
  t.is(status, 200)
  t.false(text.includes('<script>alert'))
  t.regex(text, /<title>Leaf area &lt;\/script&gt;/)
  const [, json = '{}'] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(text) ?? []
  t.like(JSON.parse(json), {
    '@context': 'https://schema.org/',
    '@type': 'Dataset',
    name,
    description: 'Plots <b>A</b>',
    identifier: dataset,
  })
  t.regex(headers.get('link') ?? '', new RegExp(`<${server.url}/datasets/${dataset}>; rel="cite-as"`))
  t.regex(headers.get('link') ?? '', /<https:\/\/schema\.org\/Dataset>; rel="type"/)
  const ofFile = await page(`/files/${file}`, {}, ada.key)
  t.regex(ofFile.headers.get('link') ?? '', new RegExp(`<${server.url}/api/files/${file}>; rel="item"; type="text/csv"`))
  const withoutNonce = (one: { readonly text: string }): string => one.text.replace(/nonce="[^"]+"/, '')
  const stranger = await somebody(server)
  const hidden = await page(`/datasets/${dataset}`, {}, stranger.key)
  const absent = await page(`/datasets/${unknownId}`, {}, stranger.key)
  t.is(hidden.status, 404)
  t.is(absent.status, 404)
  t.is(withoutNonce(hidden), withoutNonce(absent))
  t.is(hidden.headers.get('link'), null)
  for (const path of [`/files/${file}`, '/files/nonsense', `/spaces/${unknownId}`, `/collection/${unknownId}`])
    t.is((await page(path, {}, stranger.key)).status, 404, path)
})

test('an unknown path returns a page to browsers, and JSON to other clients and below /api', async t => {
  const missing = await page('/nothing/here')
  t.is(missing.status, 404)
  t.regex(missing.text, /<div id="app">/)
  t.regex(missing.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  const known = await page('/login')
  for (const name of ['referrer-policy', 'cross-origin-opener-policy', 'cross-origin-resource-policy'])
    t.deepEqual([name, missing.headers.get(name)], [name, known.headers.get(name)])
  for (const [path, accept] of [
    ['/nothing/here', '*/*'],
    ['/api/nothing', html.accept],
  ] as const) {
    const response = await server.as()(path, { headers: { accept } })
    t.is(response.status, 404)
    t.like(await response.json(), { status: 'error', code: 'no-such-address' })
  }
  t.is((await server.as()('/nothing', { method: 'POST', headers: html, json: {} })).status, 404)
})

test('language and theme of the page are those in the cookies, with the language of the browser as default', async t => {
  t.regex((await page('/')).text, /<html lang="en" data-base="">/)
  t.regex((await page('/', { 'accept-language': 'fr, de-AT;q=0.8, en;q=0.5' })).text, /<html lang="de"/)
  const chosen = await page('/', { cookie: 'pounce_language=de; pounce_theme=dark', 'accept-language': 'en' })
  t.regex(chosen.text, /<html lang="de" data-theme="dark"/)
  t.regex((await page('/', { cookie: 'pounce_theme="><script>; pounce_language=xx' })).text, /<html lang="en" data-base/)
})

test('without the plugin the API page is at the root, and the paths of pages are not found', async t => {
  const shipped = JSON.parse(await readFile(new URL('../../config/default.json', import.meta.url), 'utf8')) as {
    readonly plugins: readonly string[]
  }
  const plain = await bootForTest({ plugins: shipped.plugins.filter(plugin => plugin !== 'web') })
  t.teardown(() => plain.stop())
  const root = await fetch(`${plain.url}/`, { redirect: 'manual' })
  t.is(root.status, 302)
  t.is((await fetch(`${plain.url}/login`, { headers: html })).status, 404)
  t.is((await fetch(`${plain.url}/nowhere`, { headers: html })).headers.get('content-type'), 'application/json')
})
