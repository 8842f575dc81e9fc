import { readFile } from 'node:fs/promises'
import test from 'ava'
import mime from 'mime-types'
import { bootForTest } from 'pounce/sdk/testing'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { newDataset, upload } from '../../test/support/scene.ts'
import { webPage } from '../../test/support/web-pages.ts'

/*
 * Viewers while the server is slow, or refuses the bytes of a file.
 */

const server = await bootForTest({})
const call = server.as(server.admin.key)
const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')
let dataset = ''
test.before(async () => {
  dataset = await newDataset(call, { name: 'Slow' })
})
test.after.always(() => server.stop())

const keep = async (name: string): Promise<string> => {
  const bytes = await readFile(new URL(`../../test/data/${name}`, import.meta.url))
  return upload(call, dataset, bytes, name, { type: mime.lookup(name) || 'application/octet-stream' })
}

inBrowser('a viewer that waits for the server is kept for a minute, and can be tried again after that', async t => {
  const { page } = await webPage(t, browser(), server.url, server.admin)
  const file = await keep('notes.md')
  const held: (() => Promise<void>)[] = []
  await page.route(
    url => url.pathname === `/api/files/${file}`,
    route => {
      held.push(() => route.continue())
    },
  )
  await page.clock.install()
  const requested = page.waitForRequest(request => new URL(request.url()).pathname === `/api/files/${file}`)
  await page.goto(`/files/${file}`)
  await requested
  const part = page.locator('.part')
  await page.clock.runFor(50_000)
  t.is(await part.getByRole('alert').count(), 0)
  t.is(await part.getAttribute('aria-busy'), 'true')
  await page.clock.runFor(20_000)
  await part.getByRole('alert').getByText('The server is unreachable').waitFor()
  const again = page.waitForRequest(request => new URL(request.url()).pathname === `/api/files/${file}`)
  await part.getByRole('button', { name: 'Try again' }).click()
  await again
  await page.clock.resume()
  await held.at(-1)?.()
  await part.getByRole('heading').first().waitFor()
  t.is(await part.getByRole('alert').count(), 0)
})

inBrowser('a file that the server does not send is not reported as damaged, and can be tried again', async t => {
  const { page } = await webPage(t, browser(), server.url, server.admin)
  for (const [name, shown] of [
    ['field.h5', '[role=tree]'],
    ['sst.nc', '[role=tree]'],
    ['trees.parquet', '[role=grid]'],
    ['photo.jpg', 'img'],
    ['stations.csv', '[role=grid]'],
    ['paper.pdf', '.pdf-pages'],
  ] as const) {
    const file = await keep(name)
    const isBytes = (url: URL): boolean => url.pathname === `/api/files/${file}`
    await page.route(isBytes, route =>
      route.fulfill({ status: 503, json: { code: 'unavailable', message: 'Storage unavailable' }, headers: { 'retry-after': '1' } }),
    )
    await page.goto(`/files/${file}`)
    const alert = page.locator('.part').getByRole('alert')
    await alert.getByText('Storage unavailable').waitFor()
    await page.unroute(isBytes)
    await alert.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.part[aria-busy=false]').locator(shown).first().waitFor()
    t.is(await alert.count(), 0, name)
  }
})

inBrowser('a visitor who may not download a file learns that there is no preview, not that there is no viewer', async t => {
  const open = await newDataset(call, { name: 'Viewing only', access: 'PUBLIC' })
  const bytes = await readFile(new URL('../../test/data/pebble.stl', import.meta.url))
  const file = await upload(call, open, bytes, 'pebble.stl', { type: 'model/stl' })
  const { page } = await webPage(t, browser(), server.url)
  await page.goto(`/files/${file}`)
  await page.getByText('You may see this file, but not download it.').waitFor()
  await page.getByText('There is no preview of this file.').waitFor()
  t.is(await page.getByText('There is no viewer').count(), 0)
})
