import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, ok } from '../../test/support/scene.ts'
import { until } from '../../test/support/until.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { axeFindings, webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
const server = await bootForTest({})
const call = server.as(server.admin.key)
test.before(webBuild)
test.after.always(() => server.stop())

interface Texts {
  readonly name: string
  readonly description: string
}

const rename = (kind: 'datasets' | 'collections', id: string, name: string): Promise<unknown> =>
  ok(call(`/api/${kind}/${id}/title`, { method: 'PUT', json: { name } }))

inBrowser('a concurrent change by another user is shown beside one’s own, and nothing is lost', async t => {
  const dataset = await newDataset(call, { name: 'Oak', description: 'of 2018' })
  const now = (): Promise<Texts> => ok<Texts>(call(`/api/datasets/${dataset}?view=full`))
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  const dialog = page.getByRole('dialog', { name: 'Somebody else changed this meanwhile' })
  const field = page.getByLabel('Name', { exact: true })
  const edit = async (text: string): Promise<void> => {
    await page.getByRole('button', { name: 'Rename', exact: true }).click()
    await field.fill(text)
  }

  // A change of another field is not a conflict.
  await edit('Oaks')
  await ok(call(`/api/datasets/${dataset}/description`, { method: 'PUT', json: { description: 'of 2019' } }))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Oaks' }).waitFor()
  t.like(await now(), { name: 'Oaks', description: 'of 2019' })

  // Both are shown; cancelling loses nothing.
  await edit('Mine')
  await rename('datasets', dataset, 'Theirs')
  await page.keyboard.press('Enter')
  await dialog.getByText('Theirs', { exact: true }).waitFor()
  await dialog.getByText('Mine', { exact: true }).waitFor()
  t.deepEqual(await axeFindings(page), [])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  t.is(await field.inputValue(), 'Mine')
  t.is((await now()).name, 'Theirs')

  // Save one's own after seeing the other.
  await field.press('Enter')
  await dialog.getByRole('button', { name: 'Save mine' }).click()
  await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor()
  t.is((await now()).name, 'Mine')

  // Keep theirs.
  await edit('Mine again')
  await rename('datasets', dataset, 'Theirs again')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Keep theirs' }).click()
  await page.getByRole('heading', { level: 1, name: 'Theirs again' }).waitFor()
  t.is((await now()).name, 'Theirs again')

  // The same in the form of a collection.
  const json = { name: 'Leaves', description: 'of oaks' }
  const { id } = await ok<{ id: string }>(call('/api/collections', { method: 'POST', json }))
  const collection = (): Promise<Texts> => ok<Texts>(call(`/api/collections/${id}?view=full`))
  await page.goto(`/collection/${id}`)
  await page.getByRole('button', { name: 'Actions for Leaves' }).click()
  await page.getByRole('menuitem', { name: 'Edit collection' }).click()
  await field.fill('My leaves')
  await page.getByLabel('Description').fill('of my oaks')
  await rename('collections', id, 'Their leaves')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.getByText('Their leaves').waitFor()
  await dialog.getByRole('button', { name: 'Save mine' }).click()
  await until('both fields to be saved', async () => {
    const { name, description } = await collection()
    return name === 'My leaves' && description === 'of my oaks'
  })
  // The browser logs each refused request.
  t.deepEqual(
    problems.filter(each => !each.includes('412')),
    [],
  )
})

inBrowser('the focus returns after a name, a description or tags are edited; the next tag can be typed while one is saved', async t => {
  const dataset = await newDataset(call, { name: 'Ash', description: '' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent')
  const becomesFocused = (label: string): Promise<unknown> => until(`${label} to be focused`, focused, seen => seen === label)
  await page.goto(`/datasets/${dataset}`)
  for (const [button, saveKeys] of [
    ['Rename', 'Enter'],
    ['Edit description', 'Control+Enter'],
  ] as const) {
    for (const keys of ['Escape', saveKeys]) {
      await page.getByRole('button', { name: button, exact: true }).press('Enter')
      await page.keyboard.type('es')
      await page.keyboard.press(keys)
      await becomesFocused(button)
    }
  }
  await page.getByRole('heading', { level: 1, name: 'Ashes' }).waitFor()

  // A slow save does not take the focus from another part of the page.
  const renaming = Promise.withResolvers<void>()
  await page.route('**/title', route => renaming.promise.then(() => route.continue()))
  await page.getByRole('button', { name: 'Rename', exact: true }).press('Enter')
  await page.keyboard.type(' and elms')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Add tags' }).press('Enter')
  renaming.resolve()
  await page.getByRole('button', { name: 'Rename', exact: true }).waitFor()

  const tags = page.getByLabel('Tags', { exact: true })
  const tagging = Promise.withResolvers<void>()
  await page.route('**/tags', route => tagging.promise.then(() => route.continue()))
  await page.keyboard.type('oak, elm')
  await page.keyboard.press('Enter')
  await page.keyboard.type('fir')
  tagging.resolve()
  await page.getByRole('button', { name: /Remove .*elm/ }).waitFor()
  t.is(await tags.inputValue(), 'fir')
  await page.keyboard.press('Escape')
  await becomesFocused('Add tags')
  const labels = await page.locator('.tag-remove').evaluateAll(buttons => buttons.map(button => button.getAttribute('aria-label') ?? ''))
  t.is(labels.length, 2)
  await page.locator('.tag-remove').first().press('Enter')
  await becomesFocused(labels[1] ?? '')
  await page.keyboard.press('Enter')
  await becomesFocused('Add tags')
  t.deepEqual(problems, [])
})

inBrowser('a text that could not be saved is reported although its page was left', async t => {
  const dataset = await newDataset(call, { name: 'Ash', description: '' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  const saving = Promise.withResolvers<void>()
  const refusal = { code: 'unavailable', message: 'The server is busy; try again' }
  await page.route('**/description', route => saving.promise.then(() => route.fulfill({ status: 503, json: refusal })))
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Edit description' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('Along the river')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('link', { name: 'Explore' }).click()
  await page.getByRole('heading', { level: 1, name: 'Explore' }).waitFor()
  saving.resolve()
  await page.getByText(refusal.message).waitFor()
})

inBrowser('leaving a page with unsaved text must be confirmed', async t => {
  const dataset = await newDataset(call, { name: 'Rowan', description: 'At the pond' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  const edit = page.getByRole('button', { name: 'Edit description' })
  const field = page.getByRole('textbox', { name: 'Description' })
  const leave = page.getByRole('dialog', { name: 'Leave without saving?' })
  const explore = page.getByRole('heading', { level: 1, name: 'Explore' })
  await edit.click()
  await field.fill('At the pond, and above it')
  await page.getByRole('link', { name: 'Explore' }).click()
  await leave.getByText('Description has changes that are not saved.').waitFor()
  await leave.getByRole('button', { name: 'Continue editing' }).click()
  await leave.waitFor({ state: 'detached' })
  t.is(await field.inputValue(), 'At the pond, and above it')
  const closing = page.waitForEvent('dialog')
  // Ends when the dialog is answered.
  const reloading = page.evaluate('location.reload()')
  const dialog = await closing
  t.is(dialog.type(), 'beforeunload')
  await dialog.dismiss()
  await reloading
  t.is(await field.inputValue(), 'At the pond, and above it')
  await page.getByRole('link', { name: 'Explore' }).click()
  await leave.getByRole('button', { name: 'Discard changes' }).click()
  await explore.waitFor()
  // Unchanged and saved texts do not ask.
  await page.goto(`/datasets/${dataset}`)
  await edit.click()
  await page.getByRole('link', { name: 'Explore' }).click()
  await explore.waitFor()
  await page.goto(`/datasets/${dataset}`)
  await edit.click()
  await field.fill('Above the pond')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Above the pond').waitFor()
  await page.getByRole('link', { name: 'Explore' }).click()
  await explore.waitFor()
  // The buttons of the browser ask too.
  await page.evaluate('history.back()')
  await edit.click()
  await field.fill('Below the pond')
  await page.evaluate('history.forward()')
  await leave.getByRole('button', { name: 'Continue editing' }).click()
  t.is(await field.inputValue(), 'Below the pond')
  t.is(new URL(page.url()).pathname, `/datasets/${dataset}`)
  t.deepEqual(problems, [])
})
