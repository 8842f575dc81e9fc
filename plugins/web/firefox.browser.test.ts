import { readFile } from 'node:fs/promises'
import test from 'ava'
import { StartupMessages } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { browserTests } from '../../test/support/real-browsers.ts'
import { until } from '../../test/support/until.ts'
import { webBuild } from '../../test/support/web-build.ts'

const { test: inFirefox, launch } = browserTests(test, 'firefox')
test.before(webBuild)

inFirefox('Firefox: set-up, upload, keyboard, table, search and download', async t => {
  const server = await bootForTest({ t, admin: 'none' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, baseURL: server.url })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const problems: string[] = []
  page.on('pageerror', error => problems.push(String(error.stack)))
  page.on('response', response => response.status() >= 500 && problems.push(`${response.status()} ${response.url()}`))
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key)
  }

  // As with WebDriver, `fill` sets values without triggering the event handlers of the page.
  const type = async (label: string, text: string): Promise<void> => {
    const field = page.getByLabel(label)
    await field.click()
    await press('Control+a')
    await field.pressSequentially(text)
  }

  // Setup.
  const lines = await Promise.all(
    server
      .get(StartupMessages)
      .all()
      .map(message => message.lines()),
  )
  await page.goto(/http:\/\/[^/]+(\/\S+)/.exec(lines.flat().join('\n'))?.[1] ?? '')
  await type('First name', 'Grace')
  await type('Last name', 'Hopper')
  await type('Email address', 'grace@example.org')
  await type('New password', 'correct-horse')
  await page.getByRole('radio', { name: /^Public/ }).check({ force: true })
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('heading', { name: 'Welcome, Grace' }).waitFor()
  await page.getByRole('button', { name: 'Create sample dataset' }).click()
  await page.waitForURL(/\/datasets\/[0-9a-f]{24}$/)
  const dataset = new URL(page.url()).pathname

  // Uploads: small files in one request each, a larger one in parts.
  const large = Buffer.alloc(9 * 1024 * 1024, 'row,of,a,table\n')
  await page.locator('input[data-add=files]').setInputFiles([
    { name: 'own.txt', mimeType: 'text/plain', buffer: Buffer.from('written in Firefox') },
    { name: 'large.dat', mimeType: 'application/octet-stream', buffer: large },
  ])
  await page.getByRole('heading', { name: '2 of 2 files uploaded' }).waitFor()
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('grid').getByRole('link', { name: 'large.dat' }).waitFor()

  // The list by keyboard: type-ahead, range selection, renaming, and opening a file.
  const activeRow = (): Promise<string> => page.evaluate<string>("document.activeElement?.querySelector('a')?.textContent ?? ''")
  await page.locator('.grid-body [tabindex="0"]').focus()
  await press('End', 'Home', ' ', 'Shift+ArrowDown')
  await page.getByText('2 selected').waitFor()
  await press('Escape')
  await page.keyboard.type('own')
  await until('the row of the typed name to be focused', async () => (await activeRow()) === 'own.txt')
  await press('F2')
  await type('New name', 'renamed.txt')
  await press('Enter')
  await page.getByRole('row', { name: 'renamed.txt' }).waitFor()
  await page.getByRole('row', { name: 'stations.csv' }).getByRole('link', { name: 'stations.csv' }).focus()
  await press('Enter')

  // A table, in a worker.
  const table = page.getByRole('grid', { name: 'Table stations.csv' })
  await table.waitFor()
  await page.locator('[data-cell="0:0"]').click()
  await press('Control+End')
  await until('the last row to be focused', async () => {
    const [count, cell] = [await table.getAttribute('aria-rowcount'), await page.evaluate("document.activeElement?.dataset?.cell ?? ''")]
    return String(cell).startsWith(`${Number(count) - 2}:`)
  })

  // Keyboard shortcuts of all pages, search, and opening a hit.
  await press('Escape')
  await page.getByRole('heading', { level: 1 }).click()
  await press('/')
  await page.keyboard.type('renamed')
  await press('Enter')
  await page.waitForURL(/\/search\?query=renamed/)
  await page.getByRole('link', { name: 'renamed.txt' }).first().click()
  await page.getByText('written in Firefox').first().waitFor()
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download' }).first().click()])
  t.is(await readFile(await download.path(), 'utf8'), 'written in Firefox')

  // A PDF and a picture are rendered with the features of this browser.
  for (const [name, drawn] of [
    ['leaf-area.pdf', '.pdf-text'],
    ['hill.jpg', '.viewer-picture img'],
  ] as const) {
    await page.goto(dataset)
    await page.getByRole('grid').getByRole('link', { name }).click()
    await page.locator(drawn).first().waitFor()
  }
  t.deepEqual(problems, [])
})
