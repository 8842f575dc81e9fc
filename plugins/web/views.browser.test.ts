import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, upload, uploadData } from '../../test/support/scene.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { axeFindings, sidewaysScroll, webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
const server = await bootForTest({})
const call = server.as(server.admin.key)
test.before(webBuild)
test.after.always(() => server.stop())

inBrowser('files of a dataset are shown as tiles, page by page, and two of them can be compared side by side', async t => {
  const dataset = await newDataset(call, { name: 'Beech plots' })
  await uploadData(call, dataset, 'photo.jpg', 'image/jpeg')
  for (let at = 0; at < 49; at++) await upload(call, dataset, `text ${at}`, `z-${String(at).padStart(2, '0')}.txt`)
  await server.drained()
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('checkbox', { name: 'Compare photo.jpg' }).waitFor()
  t.deepEqual(await axeFindings(page), [])
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('Page 2 of 2').waitFor()
  await page.getByRole('link', { name: 'z-48.txt' }).waitFor()
  await page.getByRole('button', { name: 'Previous' }).click()
  const address = page.url()
  await page.goto(`/datasets/${dataset}?tab=views&page=99`)
  await page.getByText('There is no page 99').waitFor()
  t.deepEqual(await axeFindings(page), [])
  await page.getByRole('button', { name: 'To the first page' }).click()
  await page.waitForURL(address)
  await page.getByRole('checkbox', { name: 'Compare photo.jpg' }).check()
  await page.getByRole('checkbox', { name: 'Compare z-03.txt' }).check()
  await page.getByRole('button', { name: 'Compare two files' }).click()
  await page.waitForURL(/\/compare\?left=[0-9a-f]{24}&right=[0-9a-f]{24}/)
  await page.locator('.compared img[alt="photo.jpg"]').waitFor()
  await page.locator('.compared').getByText('text 3').waitFor()
  t.deepEqual(await axeFindings(page), [])
  await page.setViewportSize({ width: 390, height: 844 })
  t.true((await sidewaysScroll(page)) <= 0)
  await page.reload()
  await page.locator('.compared').getByText('text 3').waitFor()
  t.deepEqual(problems, [])
})
