import test from 'ava'
import type { Page } from 'playwright-core'
import { bootForTest } from 'pounce/sdk/testing'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { newDataset, ok, upload } from '../../test/support/scene.ts'
import { unexpected, webPage } from '../../test/support/web-pages.ts'

const server = await bootForTest({ config: { access: { private: false } } })
const call = server.as(server.admin.key)
const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')
test.after.always(() => server.stop())

const draft = 'At the pond, and above it'
const description = (page: Page) => page.getByRole('textbox', { name: 'Description' })
const leaving = (page: Page) => page.getByRole('dialog', { name: 'Leave without saving?' })

const describe = async (page: Page, path: string): Promise<void> => {
  await page.goto(path)
  await page.getByRole('button', { name: 'Edit description' }).click()
  await description(page).fill(draft)
}

const stay = async (page: Page): Promise<string> => {
  await leaving(page).getByText('Description has changes that are not saved.').waitFor()
  await leaving(page).getByRole('button', { name: 'Continue editing' }).click()
  await leaving(page).waitFor({ state: 'detached' })
  return description(page).inputValue()
}

const discard = (page: Page): Promise<void> => leaving(page).getByRole('button', { name: 'Discard changes' }).click()

const choose = async (page: Page, menu: string | RegExp, item: string): Promise<void> => {
  await page.getByRole('button', { name: menu }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

inBrowser('signing out with an unsaved text must be confirmed', async t => {
  const dataset = await newDataset(call, { name: 'Rowan' })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await describe(page, `/datasets/${dataset}`)
  await choose(page, /^Account of/, 'Sign out')
  t.is(await stay(page), draft)
  t.is((await page.context().request.get('/api/me')).status(), 200)
  await choose(page, /^Account of/, 'Sign out')
  await discard(page)
  await page.getByRole('link', { name: 'Sign in' }).waitFor()
  t.is(await description(page).count(), 0)

  // A text that is saved, or unchanged, does not ask.
  const other = await webPage(t, browser(), server.url, server.admin)
  await describe(other.page, `/datasets/${dataset}`)
  await other.page.getByRole('button', { name: 'Save', exact: true }).click()
  await other.page.getByRole('button', { name: 'Edit description' }).click()
  await choose(other.page, /^Account of/, 'Sign out')
  await other.page.getByRole('link', { name: 'Sign in' }).waitFor()
  t.deepEqual(unexpected([...problems, ...other.problems]), [])
})

inBrowser('a text that waits for signing in again is discarded only if that is confirmed', async t => {
  const dataset = await newDataset(call, { name: 'Rowan' })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await describe(page, `/datasets/${dataset}`)
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const signedOut = page.getByRole('dialog', { name: 'You are signed out' })
  await signedOut.waitFor()
  await page.keyboard.press('Escape')
  t.is(await stay(page), draft)
  await signedOut.getByRole('button', { name: 'Continue without signing in' }).click()
  t.is(await stay(page), draft)
  await signedOut.getByLabel('Password').fill(server.admin.password)
  await signedOut.getByRole('button', { name: 'Sign in', exact: true }).click()
  await description(page).waitFor({ state: 'detached' })
  t.like(await ok(call(`/api/datasets/${dataset}?view=full`)), { description: draft })
  t.deepEqual(unexpected(problems), [])
})

inBrowser('a click beside the dialog for signing in again, and its links, keep the page with what was typed', async t => {
  const { page } = await webPage(t, browser(), server.url, server.admin)
  await page.goto('/datasets')
  await page.getByRole('button', { name: 'Create dataset' }).first().click()
  const create = page.getByRole('dialog', { name: 'Create dataset' })
  await create.getByLabel('Name').fill('Rowan by the pond')
  await page.context().clearCookies()
  await page.keyboard.press('Enter')
  const signedOut = page.getByRole('dialog', { name: 'You are signed out' })
  await signedOut.waitFor()
  await page.mouse.click(5, 5)
  const opened = page.context().waitForEvent('page')
  await signedOut.getByRole('link', { name: 'Forgot your password?' }).click()
  const reset = await opened
  await reset.getByRole('button', { name: 'Send link' }).waitFor()
  t.is(new URL(page.url()).pathname, '/datasets')
  await signedOut.getByLabel('Password').fill(server.admin.password)
  await signedOut.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Rowan by the pond' }).waitFor()
})

inBrowser('a dataset or file with an unsaved text is deleted only if discarding it is confirmed', async t => {
  const dataset = await newDataset(call, { name: 'Rowan' })
  const file = await upload(call, dataset, 'x', 'plot.txt')
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const remove = async (): Promise<void> => {
    await choose(page, 'More actions', 'Delete file')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete file' }).click()
  }
  await describe(page, `/files/${file}`)
  await remove()
  t.is(await stay(page), draft)
  t.is((await call(`/api/files/${file}/metadata`)).status, 200)
  await remove()
  await discard(page)
  await page.getByText('“plot.txt” is deleted').waitFor()

  await describe(page, `/datasets/${dataset}`)
  await choose(page, 'More actions', 'Delete dataset')
  t.is(await stay(page), draft)
  t.like(await ok(call(`/api/datasets/${dataset}?view=full`)), { trashedAt: null })
  await choose(page, 'More actions', 'Delete dataset')
  await discard(page)
  await page.getByText('Rowan is in the trash').waitFor()
  t.deepEqual(problems, [])
})

inBrowser('a click beside a form keeps what was typed', async t => {
  const { page } = await webPage(t, browser(), server.url, server.admin)
  await page.goto('/datasets')
  await page.getByRole('button', { name: 'Create dataset' }).first().click()
  await page.getByRole('dialog').getByLabel('Description').fill(draft)
  await page.mouse.click(5, 5)
  await page.keyboard.press('Tab')
  t.is(await page.getByRole('dialog').getByLabel('Description').inputValue(), draft)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

inBrowser('Enter and Escape of an input method neither search nor end the editing', async t => {
  const dataset = await newDataset(call, { name: 'Rowan' })
  const { page } = await webPage(t, browser(), server.url, server.admin)
  const session = await page.context().newCDPSession(page)
  const compose = async (key: string): Promise<void> => {
    await session.send('Input.imeSetComposition', { text: 'かんそく', selectionStart: 4, selectionEnd: 4 })
    await session.send('Input.dispatchKeyEvent', { type: 'keyDown', key, code: key })
    await session.send('Input.insertText', { text: '観測' })
  }
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Edit description' }).click()
  await compose('Escape')
  t.is(await description(page).inputValue(), '観測')
  const search = page.getByRole('combobox', { name: 'Search' })
  await search.focus()
  await compose('Enter')
  t.is(await search.inputValue(), '観測')
  t.is(new URL(page.url()).pathname, `/datasets/${dataset}`)
})

inBrowser('a reload with a dialog in which something was typed must be confirmed', async t => {
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto('/datasets')
  await page.getByRole('button', { name: 'Create dataset' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create dataset' })
  await dialog.getByLabel('Description').fill(draft)
  const requested = page.waitForEvent('dialog')
  void page.evaluate('setTimeout(() => location.reload())')
  const question = await requested
  t.is(question.type(), 'beforeunload')
  await question.dismiss()
  t.is(await dialog.getByLabel('Description').inputValue(), draft)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.reload()
  t.deepEqual(unexpected(problems), [])
})

inBrowser('signing out during uploads must be confirmed; it stops them until the user signs in again', async t => {
  const dataset = await newDataset(call, { name: 'Rowan' })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const isHeld = { now: true }
  const held: (() => void)[] = []
  await page.route('**/api/uploadToDataset/**', async route => {
    if (isHeld.now) await new Promise<void>(resolve => held.push(resolve))
    await route.continue().catch(() => undefined)
  })
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  const files = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt', 'f.txt'].map(name => ({ name, mimeType: '', buffer: Buffer.from(name) }))
  await page.locator('input[data-add=files]').setInputFiles(files)
  await page.getByRole('heading', { name: '0 of 6 files uploaded' }).waitFor()
  const requested = page.getByRole('dialog', { name: 'Sign out during uploads?' })
  await choose(page, /^Account of/, 'Sign out')
  await requested.getByText('The upload of 6 files stops.').waitFor()
  await requested.getByRole('button', { name: 'Stay signed in' }).click()
  await requested.waitFor({ state: 'detached' })
  t.is((await page.context().request.get('/api/me')).status(), 200)

  await choose(page, /^Account of/, 'Sign out')
  await requested.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('link', { name: 'Sign in' }).waitFor()
  isHeld.now = false
  for (const goOn of held) goOn()
  await page.getByRole('link', { name: 'Sign in' }).click()
  t.deepEqual(await ok(call(`/api/datasets/${dataset}/files`)), [])
  await page.getByLabel('Email address').fill(server.admin.email)
  await page.getByLabel('Password').fill(server.admin.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: '6 of 6 files uploaded' }).waitFor()
  t.is((await ok<unknown[]>(call(`/api/datasets/${dataset}/files`))).length, 6)
  t.deepEqual(unexpected(problems), [])
})
