import { fileURLToPath } from 'node:url'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, upload } from '../../test/support/scene.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
const server = await bootForTest({ also: [fileURLToPath(new URL('../../test/support/web-parts/', import.meta.url))] })
const call = server.as(server.admin.key)
test.before(webBuild)
test.after.always(() => server.stop())

const fileFor = async (name: string): Promise<string> =>
  `/files/${await upload(call, await newDataset(call, { name: 'Parts' }), 'the bytes', `a.${name}`, { type: 'application/octet-stream' })}`

inBrowser('a part in a frame has no origin, network or API access, and receives the bytes of its file', async t => {
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  // The CSP of the frame blocks all other requests before they are sent.
  const sent: string[] = []
  page.on('requestfailed', request => request.failure()?.errorText !== 'csp' && sent.push(request.url()))
  page.on('requestfinished', request => request.url().includes('elsewhere.invalid') && sent.push(request.url()))
  await page.goto(await fileFor('escapes-frame'))
  const content = page.frameLocator('iframe').getByText('Open:')
  await content.waitFor({ timeout: 40_000 })
  t.is(await content.innerText(), 'Open: nothing; the bytes; null')
  t.true(page.url().startsWith(server.url), 'the page has not navigated')
  t.is(page.context().pages().length, 1)
  t.deepEqual(
    sent.filter(url => url.includes('elsewhere.invalid')),
    [],
  )
})

inBrowser('a frame that navigates to another server transfers no data, and is removed', async t => {
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  const failures: (string | undefined)[] = []
  page.on('requestfailed', request => request.url().includes('elsewhere.invalid') && failures.push(request.failure()?.errorText))
  await page.goto(await fileFor('leaves-frame'))
  await page.getByText('This part of the page has failed.').waitFor({ timeout: 20_000 })
  t.is(await page.locator('iframe').count(), 0)
  t.deepEqual(
    failures.filter(failure => !/csp|BLOCKED/.test(failure ?? '')),
    [],
  )
})

inBrowser('a part that throws, rejects, responds with garbage or never responds affects only its own box', async t => {
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  for (const trust of ['page', 'frame'])
    for (const [name, message] of [
      ['throws', 'This part of the page has failed.'],
      ['says', 'This spectrum has no peaks.'],
      ['nonsense', 'This part of the page has failed.'],
      ['silent', 'This part of the page does not respond.'],
    ] as const) {
      const path = await fileFor(`${name}-${trust}`)
      await page.goto(path)
      const alert = page.getByRole('main').getByRole('alert')
      await alert.getByText(message).waitFor({ timeout: 20_000 })
      t.regex(await alert.innerText(), new RegExp(`“${name} ${trust}” comes from the plugin test\\.web-parts\\.`))
      t.is(await alert.getByRole('link', { name: 'Download' }).getAttribute('href'), `/api${path}`)
      t.is(await page.locator('iframe').count(), 0)
      t.is(await page.getByRole('heading', { level: 1 }).innerText(), `a.${name}-${trust}`)
    }
})

inBrowser('a frame that becomes unresponsive after mounting is removed, and the page keeps running', async t => {
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  await page.goto(await fileFor('loops-frame'))
  await page.getByText('This part of the page does not respond.').waitFor({ timeout: 40_000 })
  t.is(await page.locator('iframe').count(), 0)
})
