import { fileURLToPath } from 'node:url'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { newPerson } from '../../test/support/people.ts'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, upload } from '../../test/support/scene.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { pageFindings, webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
const server = await bootForTest({ also: [fileURLToPath(new URL('../../examples/viewer-spectrum/', import.meta.url))] })
const call = server.as(server.admin.key)
test.before(webBuild)
test.after.always(() => server.stop())

inBrowser('a plugin is disabled and enabled by keyboard, and its viewer disappears and reappears without a reload', async t => {
  const browser = await launch()
  t.teardown(() => browser.close())
  const file = await upload(call, await newDataset(call, { name: 'Spectra' }), '##TITLE=a', 'a.jdx', { type: 'chemical/x-jcamp-dx' })
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/files/${file}`)
  const frame = page.locator('iframe')
  await frame.waitFor({ state: 'attached' })
  await page.getByRole('button', { name: /^Account/ }).press('Enter')
  await page.getByRole('menuitem', { name: 'Plugins' }).press('Enter')
  const line = page.getByRole('listitem').filter({ hasText: 'example.viewer-spectrum' })
  await line.getByRole('button', { name: 'Switch off example.viewer-spectrum' }).press('Enter')
  const on = line.getByRole('button', { name: 'Switch on example.viewer-spectrum' })
  await on.waitFor()
  t.deepEqual(await pageFindings(page), [])
  await page.getByText('Cannot be switched: It provides files, which other plugins may need').waitFor()
  await page.getByText('A change takes effect after a restart of the server.').first().waitFor()
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'a.jdx' }).waitFor()
  await frame.waitFor({ state: 'detached' })
  await page.goForward()
  await on.press('Enter')
  await line.getByRole('button', { name: 'Switch off example.viewer-spectrum' }).waitFor()
  await page.goBack()
  await frame.waitFor({ state: 'attached' })
  // Chromium does not support the `webrtc` directive, which is for other browsers.
  t.deepEqual(
    problems.filter(problem => !problem.includes("directive 'webrtc'")),
    [],
  )
})

inBrowser('a refusal shows the message of the server, and the page is for server admins only', async t => {
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  await page.route('**/api/admin/plugins/extractors.csv', route =>
    route.fulfill({ status: 409, json: { status: 'error', code: 'conflict', message: 'It did not start: no space' } }),
  )
  await page.goto('/admin/plugins')
  await page.getByRole('button', { name: 'Switch off extractors.csv' }).click()
  await page.getByRole('alert').getByText('It did not start: no space').waitFor()
  const other = await webPage(t, browser, server.url, await newPerson(server))
  await other.page.goto('/admin/plugins')
  await other.page.getByRole('alert').waitFor()
  t.is(await other.page.getByRole('button', { name: /^Switch/ }).count(), 0)
  const stranger = await (await browser.newContext()).newPage()
  await stranger.goto(`${server.url}/admin/plugins`)
  await stranger.getByRole('alert').getByRole('link', { name: 'Sign in' }).click()
  await stranger.waitForURL(/\/login\?next=/)
})

inBrowser('pages name the reason where the plugin that they need is not loaded', async t => {
  const browser = await launch()
  t.teardown(() => browser.close())
  const bare = await bootForTest({ t, without: ['resources.entries', 'resources.search'] })
  const dataset = await newDataset(bare.as(bare.admin.key), { name: 'Spectra' })
  const { page } = await webPage(t, browser, bare.url, bare.admin)
  // The first is 405, because datasets have routes with the same path, the second 404.
  for (const path of [`/datasets/${dataset}`, '/search?query=spectra']) {
    await page.goto(path)
    await page.getByRole('alert').getByText('the plugin for it is not loaded or is switched off').waitFor()
  }
})
