import { fileURLToPath } from 'node:url'
import test from 'ava'
import { bootForTest, webPartContract } from 'pounce/sdk/testing'
import { browserTests } from '../../test/support/real-browsers.ts'
import { webBuild } from '../../test/support/web-build.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
const server = await bootForTest({ also: [fileURLToPath(new URL('.', import.meta.url))] })
const me = server.as(server.admin.key)
const bytes = Buffer.from('##TITLE=Ethanol\n##DELTAX=2\n##XYDATA=(X++(Y..Y))\n400 1 5 2\n406 8 3\n##END=\n')

const upload = async (content: Buffer, name: string): Promise<string> => {
  const body = new FormData()
  body.set('file', new Blob([new Uint8Array(content)]), name)
  return ((await (await me('/api/files', { method: 'POST', body })).json()) as { readonly id: string }).id
}

test.before(webBuild)
test.after.always(() => server.stop())

/** A page of the web interface for a signed-in user. */
const openPage = async (path: string) => {
  const browser = await launch()
  const context = await browser.newContext({ baseURL: server.url })
  await context.request.post('/api/login', { data: { email: server.admin.email, password: server.admin.password } })
  const page = await context.newPage()
  await page.goto(path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  // Appears last, after the scripts of uploads.
  await page.getByRole('button', { name: 'Uploads' }).waitFor()
  return { page, close: () => browser.close() }
}

let opened: ReturnType<typeof openPage> | undefined
test.after.always(async () => (await opened)?.close())

webPartContract(inBrowser, 'spectrum', async () => {
  const all = (await (await me('/api/web/contributions')).json()) as { readonly id: string; readonly module: string }[]
  const { module = '' } = all.find(({ id }) => id === 'example.viewer-spectrum.spectrum') ?? {}
  const [url, emptyUrl] = await Promise.all([upload(bytes, 'ethanol.jdx'), upload(Buffer.alloc(0), 'empty.jdx')])
  opened ??= openPage('/accessibility')
  return {
    page: (await opened).page,
    ...{ module, styles: [], thing: { kind: 'file', name: 'ethanol.jdx', contentType: 'chemical/x-jcamp-dx' }, bytes },
    ...{ url: `/api/files/${url}`, emptyUrl: `/api/files/${emptyUrl}` },
  }
})

inBrowser('a spectrum is drawn in a frame, with a table of its points', async t => {
  const { page, close } = await openPage(`/files/${await upload(bytes, 'ethanol.jdx')}`)
  t.teardown(close)
  const frame = page.frameLocator('iframe[title=Spectrum]')
  await frame.getByRole('img', { name: '5 points of Ethanol' }).waitFor()
  await frame.getByRole('cell', { name: '408' }).waitFor()
  // One row per point, plus the heading.
  t.is(await frame.getByRole('row').count(), 6)

  await page.goto(`/files/${await upload(Buffer.from('##TITLE=None\n'), 'none.jdx')}`)
  await page.getByText('There is no spectrum in this file.').waitFor()
  t.is(await page.locator('iframe[title=Spectrum]').count(), 0)
})
