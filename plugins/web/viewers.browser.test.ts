import { readdir, readFile } from 'node:fs/promises'
import test from 'ava'
import mime from 'mime-types'
import type { Browser, Page } from 'playwright-core'
import { bootForTest, webPartContract } from 'pounce/sdk/testing'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, upload } from '../../test/support/scene.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { type OwnViewer, viewers } from './viewers.ts'

/*
 * Every viewer of `viewers.ts` with a file of `test/data` that it is for.
 */

const { test: inBrowser, launch } = browserTests(test, 'chromium')
const server = await bootForTest({})
const call = server.as(server.admin.key)
const folder = new URL('../../test/data/', import.meta.url)
const names = (await readdir(folder)).filter(name => !/^(?:damaged|huge|empty|README)/.test(name)).sort()

let browser: Browser | undefined
let dataset = ''
let empty = ''
test.before(async () => {
  await webBuild()
  browser = await launch().catch(() => undefined)
  dataset = await newDataset(call, { name: 'Viewers' })
  empty = await upload(call, dataset, '', 'empty')
})
test.after.always(() => Promise.all([browser?.close(), server.stop()]))

const typeOf = (name: string): string => mime.lookup(name) || 'application/octet-stream'

/** Of endings that viewers share, files that are for this one. */
const shared: Readonly<Record<string, RegExp>> = { geo: /\.geojson$/, 'deep-zoom': /\.tif$/ }

const isFor = ({ mediaTypes, extensions }: OwnViewer, name: string): boolean =>
  extensions.some(extension => name.toLowerCase().endsWith(`.${extension}`)) ||
  mediaTypes.some(type => type === typeOf(name) || (type.endsWith('/*') && typeOf(name).startsWith(type.slice(0, -1))))

/** What extractors make and nobody uploads. */
const made: Readonly<Record<string, { readonly name: string; readonly contentType: string; readonly bytes: Buffer }>> = {
  document: { name: 'table.html', contentType: 'text/html', bytes: Buffer.from('<table><tr><th>a</th></tr><tr><td>1</td></tr></table>') },
}

interface Listed {
  readonly id: string
  readonly module: string
  readonly styles: readonly string[]
}

const sampleOf = async (viewer: OwnViewer) => {
  const name = names.find(each => isFor(viewer, each) && (shared[viewer.name]?.test(each) ?? true))
  if (name !== undefined) return { name, contentType: typeOf(name), bytes: await readFile(new URL(name, folder)) }
  const sample = made[viewer.name]
  if (!sample) throw new Error(`test/data has no file for the viewer ${viewer.name}`)
  return sample
}

const listed = async (): Promise<readonly Listed[]> => (await (await call('/api/web/contributions')).json()) as readonly Listed[]

/** One page for all: a part is mounted into an element of its own. */
let opened: Promise<Page> | undefined
const openPage = async (): Promise<Page> => {
  const context = await browser?.newContext({ baseURL: server.url })
  if (!context) throw new Error('No browser')
  await context.request.post('/api/login', { data: { email: server.admin.email, password: server.admin.password } })
  const page = await context.newPage()
  await page.goto('/accessibility')
  // Comes last, after the scripts of uploads.
  await page.getByRole('button', { name: 'Uploads' }).waitFor()
  return page
}

for (const viewer of viewers)
  webPartContract(inBrowser, viewer.name, async () => {
    const { name, contentType, bytes } = await sampleOf(viewer)
    const { module = '', styles = [] } = (await listed()).find(({ id }) => id === `web.${viewer.name}`) ?? {}
    const file = await upload(call, dataset, bytes, name, { type: contentType })
    opened ??= openPage()
    return {
      page: await opened,
      ...{ module, styles, thing: { kind: made[viewer.name] ? 'preview' : 'file', name, contentType }, bytes },
      ...{ url: `/api/files/${file}`, emptyUrl: `/api/files/${empty}` },
    }
  })

inBrowser('a viewer says that it asks if, and only if, its module has `canShow`', async t => {
  opened ??= openPage()
  const page = await opened
  const all = await listed()
  const wrong = await Promise.all(
    viewers.map(async ({ name, asks = false }) => {
      const { module = '' } = all.find(({ id }) => id === `web.${name}`) ?? {}
      const has = await page.evaluate<boolean>(`import(${JSON.stringify(module)}).then(part => 'canShow' in part)`)
      return has === asks ? [] : [name]
    }),
  )
  t.deepEqual(wrong.flat(), [])
})
