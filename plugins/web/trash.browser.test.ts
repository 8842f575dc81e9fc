import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { newDataset, ok, upload } from '../../test/support/scene.ts'
import { axeFindings, webPage } from '../../test/support/web-pages.ts'

const server = await bootForTest({})
const call = server.as(server.admin.key)
const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')
test.after.always(() => server.stop())

/** Problems without the 403 and 404 responses for deleted resources, which the browser logs. */
const unexpected = (problems: readonly string[]): readonly string[] => problems.filter(problem => !/status of 40[34]/.test(problem))

const statusOf = async (path: string): Promise<number> => (await call(path)).status
const remove = (path: string): Promise<unknown> => ok(call(path, { method: 'DELETE' }))

inBrowser('pages of resources in the trash show that state, restore them, and confirm permanent deletion', async t => {
  const dataset = await newDataset(call, { name: 'Oaks' })
  const file = await upload(call, dataset, 'plot,lai\n1,2\n', 'plots.csv', { type: 'text/csv' })
  const { id: collection } = await ok<{ id: string }>(
    call('/api/collections', { method: 'POST', json: { name: 'Trees', description: '' } }),
  )
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)

  // Moved to the trash elsewhere while the page is open.
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Rename', exact: true }).waitFor()
  await remove(`/api/datasets/${dataset}`)
  const note = page.getByText('This dataset is in the trash')
  await note.waitFor()
  t.is(await page.getByRole('button', { name: 'Rename', exact: true }).count(), 0)
  t.is(await page.getByRole('button', { name: 'Follow' }).count(), 0)
  t.deepEqual(await axeFindings(page), [])

  await page.goto(`/files/${file}`)
  await page.getByText('This file is in the trash with its dataset').waitFor()
  await page.getByRole('button', { name: 'Restore', exact: true }).click()
  await page.getByText('Oaks is restored').waitFor()
  await page.getByText('This file is in the trash').waitFor({ state: 'detached' })
  await page.locator('#content:focus').waitFor()
  await remove(`/api/datasets/${dataset}`)
  await page.getByText('This file is in the trash with its dataset').waitFor()

  await page.goto(`/datasets/${dataset}`)
  await note.waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete for good' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete Oaks?' })
  await dialog.getByText('deleted for good').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  t.is(await statusOf(`/api/datasets/${dataset}`), 200)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete for good' }).click()
  await dialog.getByRole('button', { name: 'Delete for good' }).click()
  await page.getByText('Oaks was deleted').waitFor()
  t.is(await page.getByRole('button', { name: 'Undo' }).count(), 0)
  t.is(await statusOf(`/api/datasets/${dataset}`), 404)

  await remove(`/api/collections/${collection}`)
  await page.goto(`/collection/${collection}`)
  await page.getByText('This collection is in the trash').waitFor()
  await page.getByRole('button', { name: 'Actions for Trees' }).click()
  await page.getByRole('menuitem', { name: 'Delete for good' }).click()
  await page.getByRole('dialog').getByText('It is deleted for good').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Restore', exact: true }).click()
  await page.getByRole('button', { name: 'Create collection here' }).waitFor()
  t.deepEqual(unexpected(problems), [])
})

inBrowser('deleting a dataset that was moved to the trash meanwhile does not delete it permanently', async t => {
  const dataset = await newDataset(call, { name: 'Limes' })
  const { page } = await webPage(t, browser(), server.url, server.admin)
  // Without live events, the page is not updated.
  await page.route(/\/api\/live(?:\?|$)/, route => route.abort())
  await page.goto('/datasets')
  const row = page.getByRole('row', { name: /Limes/ })
  await row.waitFor()
  await remove(`/api/datasets/${dataset}`)
  await row.focus()
  await page.keyboard.press('Delete')
  await page.getByText('Limes is in the trash').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await row.waitFor()
  t.is(await statusOf(`/api/datasets/${dataset}`), 200)
})

inBrowser('unsaved input stays when its dataset moves to the trash, and the page shows why it cannot be saved', async t => {
  const dataset = await newDataset(call, { name: 'Elms', description: '' })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  const field = page.getByRole('textbox', { name: 'Description' })
  await page.getByRole('button', { name: 'Edit description' }).click()
  await field.fill('An hour of typing')
  await remove(`/api/datasets/${dataset}`)
  await page.getByText('You can no longer change this').waitFor()
  await page.getByText('This dataset is in the trash').waitFor()
  t.is(await field.inputValue(), 'An hour of typing')
  t.true(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled())
  await page.getByRole('button', { name: 'Restore', exact: true }).click()
  await page.getByText('You can no longer change this').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('An hour of typing').waitFor()
  await field.waitFor({ state: 'detached' })
  t.is((await ok<{ description: string }>(call(`/api/datasets/${dataset}`))).description, 'An hour of typing')
  t.deepEqual(unexpected(problems), [])
})

inBrowser('the page of a file deleted by another user reports it, and keeps unsaved input', async t => {
  const dataset = await newDataset(call, { name: 'Firs' })
  const file = await upload(call, dataset, 'plot\n1\n', 'plots.csv', { type: 'text/csv' })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/files/${file}`)
  await page.getByRole('button', { name: 'Edit description' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('Typed before')
  await remove(`/api/files/${file}`)
  await page.getByText('This was deleted, or you may no longer see it').waitFor()
  t.is(await page.getByRole('textbox', { name: 'Description' }).inputValue(), 'Typed before')
  t.is(await page.locator('.title-line').getByRole('link', { name: 'Download' }).count(), 0)
  t.deepEqual(unexpected(problems), [])
})
