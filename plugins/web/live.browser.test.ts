import test from 'ava'
import type { Page } from 'playwright-core'
import { bootForTest } from 'pounce/sdk/testing'
import { freePort } from '../../test/support/free-port.ts'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, newFolder, upload } from '../../test/support/scene.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
test.before(webBuild)

inBrowser('changes made while the stream of events was refused, as by a proxy, are shown once it is open again', async t => {
  const server = await bootForTest({ t, config: { http: { port: await freePort() } } })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  const opened = () => page.waitForResponse(answer => answer.url().includes('/api/live') && answer.ok())
  for (const isFirst of [true, false]) {
    if (isFirst) {
      await Promise.all([opened(), page.goto('/datasets')])
    } else {
      await newDataset(server.as(server.admin.key), { name: 'An event gives a position' })
      await page.getByRole('row', { name: /An event gives a position/ }).waitFor()
    }
    const refused = page.waitForResponse(answer => answer.url().includes('/api/live') && answer.status() === 502)
    await page.route('**/api/live*', route => route.fulfill({ status: 502 }))
    await server.restart()
    await refused
    const name = `Created ${isFirst ? 'before' : 'after'} any event`
    await newDataset(server.as(server.admin.key), { name })
    await server.drained()
    await page.unroute('**/api/live*')
    await page.getByRole('row', { name }).waitFor()
  }
})

inBrowser('what changes while a page is loaded, or while another tab takes over the stream of events, is shown', async t => {
  const server = await bootForTest({ t })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page: first } = await webPage(t, browser, server.url, server.admin)
  await newDataset(server.as(server.admin.key), { name: 'There before' })
  const create = async (name: string): Promise<void> => {
    await newDataset(server.as(server.admin.key), { name })
    await server.drained()
  }
  /** Opens the page, and holds back its stream of events until the returned function is called. */
  const opened = async (page: Page): Promise<() => void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/api/live*', async route => {
      await promise
      await route.continue()
    })
    await page.goto('/datasets')
    await page.getByRole('row', { name: 'There before' }).waitFor()
    return resolve
  }
  const openFirst = await opened(first)
  await create('Created before the stream')
  openFirst()
  await first.getByRole('row', { name: 'Created before the stream' }).waitFor()

  const second = await first.context().newPage()
  const openSecond = await opened(second)
  await create('Created for both tabs')
  for (const page of [first, second]) await page.getByRole('row', { name: 'Created for both tabs' }).waitFor()
  await first.close()
  await create('Created between the tabs')
  openSecond()
  await second.getByRole('row', { name: 'Created between the tabs' }).waitFor()
})

inBrowser('without a connection the page shows this and tries again, whatever the browser believes about the network', async t => {
  const server = await bootForTest({ t })
  const call = server.as(server.admin.key)
  const dataset = await newDataset(call, { name: 'Plots' })
  for (const name of ['north', 'south'])
    await upload(call, dataset, name, `${name}.txt`, { query: `folder_id=${await newFolder(call, dataset, name)}` })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  const open = (name: string): Promise<void> => page.getByRole('row', { name }).getByRole('link').click()
  await page.getByRole('row', { name: 'north' }).waitFor()
  // The network of the server still works.
  await page.evaluate("dispatchEvent(new Event('offline'))")
  await open('north')
  await page.getByRole('row', { name: 'north.txt' }).waitFor()
  await page.goBack()
  await page.getByRole('row', { name: 'south' }).waitFor()

  await page.context().setOffline(true)
  await open('south')
  const banner = page.getByText('The server is unreachable. Trying again.')
  await banner.waitFor()
  await page.context().setOffline(false)
  await page.getByRole('row', { name: 'south.txt' }).waitFor()
  await banner.waitFor({ state: 'detached' })
  t.is(new URL(page.url()).pathname, `/datasets/${dataset}`)
})
