import { readFile } from 'node:fs/promises'
import test from 'ava'
import type { Page } from 'playwright-core'
import { bootForTest } from 'pounce/sdk/testing'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { newDataset, newFolder, upload } from '../../test/support/scene.ts'
import { until } from '../../test/support/until.ts'
import { unexpected, waitForPath, webPage } from '../../test/support/web-pages.ts'

const server = await bootForTest({ config: { access: { private: false } } })
const call = server.as(server.admin.key)
const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')
test.after.always(() => server.stop())

const text = `# Plots

[table](stations.csv) [part](sub%20folder/notes.md#two) [folder](./sub%20folder/) [top](/README.md) [above](../README.md)
[missing](none.csv) [outside](../../secret.txt) [script](javascript:alert(1)) [other server](//example.org/stations.csv)

![The hill](pictures/hill.jpg) ![No picture](pictures/none.jpg) ![Not a picture](stations.csv)
`

const scene = async () => {
  const dataset = await newDataset(call, { name: 'Rowan' })
  const plots = await newFolder(call, dataset, 'plots')
  const folder = await newFolder(call, dataset, 'sub folder', plots)
  const pictures = await newFolder(call, dataset, 'pictures', plots)
  const within = (id: string) => ({ query: `extract=false&folder_id=${id}` })
  const markdown = { type: 'text/markdown' }
  const jpeg = await readFile(new URL('./sample/hill.jpg', import.meta.url))
  return {
    dataset,
    plots,
    folder,
    top: await upload(call, dataset, '# Top', 'README.md', markdown),
    // Of the same name in other folders.
    elsewhere: await upload(call, dataset, 'x', 'stations.csv'),
    readme: await upload(call, dataset, text, 'README.md', { ...markdown, ...within(plots) }),
    table: await upload(call, dataset, 'a,b\n1,2\n', 'stations.csv', { type: 'text/csv', ...within(plots) }),
    notes: await upload(call, dataset, '# One\n\n# Two', 'notes.md', { ...markdown, ...within(folder) }),
    hill: await upload(call, dataset, jpeg, 'hill.jpg', { type: 'image/jpeg', ...within(pictures) }),
  }
}

type Scene = Awaited<ReturnType<typeof scene>>

const linked = async (page: Page, box: string, { dataset, folder, table, notes, top, hill }: Scene) => {
  const link = (name: string) => page.locator(box).getByRole('link', { name, exact: true })
  await link('table').waitFor()
  const picture = page.locator(box).getByRole('img', { name: 'The hill' })
  await picture.waitFor()
  await until('the picture to be loaded', () => picture.evaluate(img => (img as unknown as { naturalWidth: number }).naturalWidth > 0))
  await link('above').waitFor()
  const hrefs = await Promise.all(['table', 'part', 'folder', 'top', 'above'].map(name => link(name).getAttribute('href')))
  return {
    hrefs,
    expected: [
      `/files/${table}?dataset=${dataset}`,
      `/files/${notes}?dataset=${dataset}#two`,
      `/datasets/${dataset}?folder=${folder}`,
      `/files/${top}?dataset=${dataset}`,
      `/files/${top}?dataset=${dataset}`,
    ],
    source: await picture.getAttribute('src'),
    hill: `/api/files/${hill}?tracking=false`,
    links: await page.locator(box).locator('a[href]').count(),
    pictures: await page.locator(box).locator('img').count(),
  }
}

inBrowser('relative links and pictures of Markdown lead to the files and folders that they name', async t => {
  const made = await scene()
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  for (const [path, box] of [
    [`/datasets/${made.dataset}?folder=${made.plots}`, '.readme'],
    [`/files/${made.readme}`, '.viewer-markdown'],
  ] as const) {
    await page.goto(path)
    const { hrefs, expected, source, hill, links, pictures } = await linked(page, box, made)
    t.deepEqual(hrefs, expected)
    t.is(source, hill)
    t.deepEqual([links, pictures], [5, 1], 'what names nothing in the dataset stays text')
    t.true((await page.locator(box).innerText()).includes('No picture'))
  }
  // Without a reload of the page.
  await page.evaluate('window.isSame = true')
  await page.getByRole('link', { name: 'table', exact: true }).click()
  await waitForPath(page, `/files/${made.table}`)
  await page.getByRole('gridcell', { name: '2' }).waitFor()
  t.true(await page.evaluate('window.isSame'))
  t.deepEqual(unexpected(problems), [])
})
