import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { newPerson } from '../../test/support/people.ts'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, ok } from '../../test/support/scene.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
test.before(webBuild)

inBrowser('a dialog saves once, however often Enter is pressed, and stays open until then', async t => {
  const server = await bootForTest({ t })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  const held = Promise.withResolvers<void>()
  let sent = 0
  await page.route('**/api/datasets/createempty', async route => {
    sent += 1
    await held.promise
    await route.continue()
  })
  await page.goto('/datasets')
  await page.getByRole('button', { name: 'Create dataset' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create dataset' })
  await dialog.getByLabel('Name').fill('Beech')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  t.true(await dialog.isVisible())
  t.true(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled())
  held.resolve()
  await page.getByRole('heading', { level: 1, name: 'Beech' }).waitFor()
  t.is(sent, 1)
  t.is((await ok<unknown[]>(server.as(server.admin.key)('/api/datasets'))).length, 1)
  t.deepEqual(problems, [])
})

inBrowser('names are trimmed when saved, and blank names are refused', async t => {
  const server = await bootForTest({ t })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  for (const kind of ['dataset', 'collection', 'space']) {
    await page.goto(`/${kind}s`)
    await page
      .getByRole('button', { name: `Create ${kind}` })
      .first()
      .click()
    const dialog = page.getByRole('dialog', { name: `Create ${kind}` })
    await dialog.getByLabel('Name').fill('   ')
    await page.keyboard.press('Enter')
    await dialog.getByText('Please fill in this field.').waitFor()
    await dialog.getByLabel('Name').fill(`  Beech ${kind} `)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: `Beech ${kind}`, exact: true }).waitFor()
  }
  const call = server.as(server.admin.key)
  t.like(await (await call('/api/datasets')).json(), [{ name: 'Beech dataset' }])
  t.like(await (await call('/api/collections')).json(), [{ collectionname: 'Beech collection' }])
  t.like(await (await call('/api/spaces')).json(), [{ name: 'Beech space' }])
  t.deepEqual(problems, [])
})

inBrowser('a space offers the datasets that the caller may add to it, and adds a chosen one once', async t => {
  const server = await bootForTest({ t })
  const [ann, bob] = [await newPerson(server, 'ann'), await newPerson(server, 'bob')]
  const { id: space } = await ok<{ id: string }>(ann.call('/api/spaces', { method: 'POST', json: { name: 'Forest', description: '' } }))
  await ok(ann.call(`/api/spaces/${space}/updateUsers`, { method: 'POST', json: { rolesandusers: { Editor: bob.id } } }))
  await newDataset(bob.call, { name: 'Beech of others', space })
  await newDataset(ann.call, { name: 'Own beech' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, ann)
  let sent = 0
  await page.route('**/addDatasetToSpace/**', async route => {
    sent += 1
    await route.continue()
  })
  await page.goto(`/spaces/${space}`)
  await page.getByRole('row', { name: /Beech of others/ }).waitFor()
  await page.getByRole('button', { name: 'Add dataset' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add dataset' })
  const offered = dialog.getByRole('listitem')
  await offered.first().waitFor()
  t.deepEqual(await offered.allInnerTexts(), ['Own beech'])
  await dialog.getByRole('button', { name: 'Own beech' }).dblclick()
  await page.getByRole('row', { name: /Own beech/ }).waitFor()
  await dialog.waitFor({ state: 'detached' })
  t.is(sent, 1)
  t.deepEqual(problems, [])
})

inBrowser('datasets and collections can be added to collections and spaces by name', async t => {
  const server = await bootForTest({ t })
  const ann = await newPerson(server, 'ann')
  const { call } = ann
  const named = { name: 'Trees', description: '' }
  const { id: trees } = await ok<{ id: string }>(call('/api/collections', { method: 'POST', json: named }))
  await ok(call('/api/collections', { method: 'POST', json: { ...named, name: 'Oaks' } }))
  const { id: space } = await ok<{ id: string }>(call('/api/spaces', { method: 'POST', json: { ...named, name: 'Forest' } }))
  await newDataset(call, { name: 'Leaves' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, ann)
  for (const [list, name] of [
    ['/datasets', 'Leaves'],
    ['/collections', 'Oaks'],
  ] as const) {
    await page.goto(list)
    await page.getByRole('row', { name: new RegExp(name) }).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Add to a collection' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Trees' }).click()
    await page.getByText(`${name} is in Trees now`).waitFor()
  }
  t.like(await ok(call(`/api/collections/${trees}?view=full`)), { counts: { datasets: 1, collections: 1 } })
  await page.goto(`/spaces/${space}?tab=collections`)
  await page.getByRole('button', { name: 'Add collection' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Trees' }).click()
  await page.getByRole('row', { name: /Trees/ }).waitFor()
  t.deepEqual(problems, [])
})
