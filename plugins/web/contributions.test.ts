import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import test from 'ava'
import { PermissionCatalog, type WebContribution, webContribution } from 'pounce/sdk/kit'
import { bootForTest } from 'pounce/sdk/testing'
import { somebody } from '../../test/support/spaces-and-people.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { WebParts } from './contributions.ts'

const folder = await mkdtemp(join(tmpdir(), 'web-parts-'))
await writeFile(join(folder, 'part.js'), 'export const mount = () => () => undefined\n')
await writeFile(join(folder, 'part.css'), 'p { color: red }\n')
const server = await bootForTest({ also: [fileURLToPath(new URL('../../examples/viewer-spectrum/', import.meta.url))] })
test.before(webBuild)
test.after.always(() => Promise.all([server.stop(), rm(folder, { recursive: true })]))

const file = (name: string): URL => pathToFileURL(join(folder, name))
const viewer = { mediaTypes: ['text/*'], extensions: ['abc'], maxBytes: 100, trust: 'page', rank: 20 } as const
const good: WebContribution = { id: 'example.parts.one', kind: 'viewer', title: { en: 'One' }, module: file('part.js'), viewer }

/** The startup error for invalid contributions. */
const refusal = (...contributions: readonly WebContribution[]): string | undefined => {
  try {
    const made = contributions.map(each => new (webContribution(each).by as new () => WebContribution)())
    new WebParts({ all: () => made }, undefined as never, undefined as never, { permissions: new PermissionCatalog() } as never).start()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

interface Listed {
  readonly id: string
  readonly title: string
  readonly module: string
  readonly texts: Readonly<Record<string, string>>
}
const list = async (query = ''): Promise<readonly Listed[]> =>
  (await (await server.as()(`/api/web/contributions${query}`)).json()) as readonly Listed[]

test('an invalid contribution aborts the startup with an error that names it and the member', t => {
  t.is(refusal(good), undefined)
  const wrong = (changes: Partial<WebContribution>, ...also: WebContribution[]) => refusal({ ...good, ...changes }, ...also)
  t.is(wrong({ id: 'One' }), 'Web contribution One: id must be the id of the plugin, a dot and a name of its own')
  t.is(wrong({}, good), 'Web contribution example.parts.one: id is contributed twice')
  t.regex(wrong({ kind: 'gadget' as never }) ?? '', /: kind must be one of viewer, page, admin, tab, panel, action$/)
  t.regex(wrong({ title: { de: 'Eins' } as never }) ?? '', /: title must have a text for `en`$/)
  t.regex(wrong({ module: './part.js' }) ?? '', /: module must be a file: /)
  t.regex(wrong({ module: 'https://elsewhere.example/part.js' }) ?? '', /: module must be a file: /)
  t.regex(wrong({ module: file('none.js') }) ?? '', /: module names .*none\.js, which does not exist$/)
  t.regex(wrong({ module: file('part.css') }) ?? '', /: module must be JavaScript: /)
  t.regex(wrong({ assets: [new URL(import.meta.url)] }) ?? '', /: assets names .*, which is not in the folder of the module$/)
  t.regex(wrong({ kind: 'tab' }) ?? '', /: of must name kinds of resources/)
  t.regex(wrong({ kind: 'tab', of: ['sensor'] }) ?? '', /: of has sensor: parts are shown on the pages of dataset and file$/)
  t.regex(
    wrong({ viewer: { ...viewer, mediaTypes: ['*/*'] } }) ?? '',
    /: viewer\.mediaTypes has \*\/\*, which is not a lower-case media type/,
  )
  t.regex(
    wrong({ viewer: { ...viewer, extensions: ['.abc'] } }) ?? '',
    /: viewer\.extensions has \.abc: must be lower case, without a leading dot/,
  )
  t.regex(wrong({ viewer: { ...viewer, extensions: undefined as never } }) ?? '', /: viewer\.extensions must be a list; it may be empty$/)
  t.regex(wrong({ viewer: { ...viewer, trust: 'worker' as never } }) ?? '', /: viewer\.trust must be `page` or `frame`$/)
  t.regex(wrong({ kind: 'page' }) ?? '', /: viewer must be set for viewers, and only for them$/)
  t.regex(
    wrong({ permission: 'ViewDatset' as never }) ?? '',
    /: permission has ViewDatset, which no plugin declares \(did you mean ViewDataset\?\)$/,
  )
})

test('an unknown member of a contribution is refused with a suggestion', t => {
  const wrong = (changes: object) => refusal({ ...good, ...changes } as WebContribution)
  t.is(wrong({ asset: [] }), 'Web contribution example.parts.one: asset is not a member of a web contribution (did you mean assets?)')
  t.regex(wrong({ pages: ['dataset'] }) ?? '', /: pages is not a member of a web contribution$/)
  t.regex(wrong({ viewer: { ...viewer, mediatypes: [] } }) ?? '', /: mediatypes is not a member of `viewer` \(did you mean mediaTypes\?\)$/)
})

test('contributions are listed in the requested language, and their files are served under a digest with unlimited caching', async t => {
  const [spectrum] = (await list('?language=de')).filter(({ id }) => id === 'example.viewer-spectrum.spectrum')
  t.like(spectrum, { title: 'Spektrum', plugin: 'example.viewer-spectrum' })
  t.is(spectrum?.texts['y'], 'Intensität')
  const [english] = (await list('?language=xx')).filter(({ id }) => id === 'example.viewer-spectrum.spectrum')
  t.is(english?.title, 'Spectrum')
  const path = spectrum?.module ?? ''
  t.regex(path, /^\/web\/parts\/[0-9a-f]{32}\/spectrum\.js$/)
  const response = await server.as()(path)
  t.is(response.status, 200)
  t.is(response.headers.get('content-type'), 'text/javascript; charset=utf-8')
  t.is(response.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  t.regex(await response.text(), /export const mount/)
  for (const other of ['index.ts', '..%2Findex.ts', 'none.js'])
    t.is((await server.as()(path.replace('spectrum.js', other))).status, 404, other)
  t.is((await server.as()('/web/parts/0000/spectrum.js')).status, 404)
})

test('built-in viewers are contributions too, each a module of the build', async t => {
  const own = (await list()).filter(({ id }) => id.startsWith('web.'))
  t.true(own.length >= 5)
  for (const { id, module } of own) {
    t.regex(module, /^\/web\/assets\/viewer-[\w-]+\.js$/, id)
    t.is((await server.as()(module)).status, 200, id)
  }
})

test('the path of a previewer redirects to the module of the viewer for the same media types', async t => {
  const { location, status } = await server
    .as()('/previewers/thumbnail/thumbnail.js', { redirect: 'manual' })
    .then(response => ({ status: response.status, location: response.headers.get('location') ?? '' }))
  t.is(status, 302)
  const picture = (await list()).find(({ id }) => id === 'web.picture')
  t.is(location, picture?.module ?? '')
  for (const path of ['/previewers/thumbnail/none.js', '/previewers/none/thumbnail.js']) t.is((await server.as()(path)).status, 404, path)
})

test('the frame of parts is a public page without origin and network access', async t => {
  const { key } = await somebody(server)
  for (const caller of [undefined, key]) {
    const response = await server.as(caller)('/web/frame')
    t.is(response.status, 200)
    const policy = response.headers.get('content-security-policy') ?? ''
    t.regex(policy, /^sandbox allow-scripts; default-src 'none'; script-src 'self'/)
    t.regex(policy, /connect-src 'none'; frame-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'/)
    t.false(/allow-same-origin|unsafe-eval'(?!;)|https?:/.test(policy.replace("'wasm-unsafe-eval'", '')))
    t.false((await response.text()).includes('csp-nonce'))
  }
})
