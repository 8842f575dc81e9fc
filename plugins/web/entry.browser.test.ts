import { fileURLToPath } from 'node:url'
import test from 'ava'
import type { Page } from 'playwright-core'
import { Mailer, StartupMessages } from 'pounce/sdk'
import { bootForTest, MemoryMailer, type TestServer } from 'pounce/sdk/testing'
import { lastToken, mailsTo } from '../../test/support/mails.ts'
import { outsideServer } from '../../test/support/outside-server.ts'
import { newPerson } from '../../test/support/people.ts'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { newDataset, ok, upload } from '../../test/support/scene.ts'
import { axeFindings, sidewaysScroll, unexpected, waitForPath, webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')

const password = 'correct-horse'

/** The path of the printed setup link. */
const setUpLink = async (server: TestServer): Promise<string> => {
  const lines = await Promise.all(
    server
      .get(StartupMessages)
      .all()
      .map(message => message.lines()),
  )
  return /http:\/\/[^/]+(\/\S+)/.exec(lines.flat().join('\n'))?.[1] ?? ''
}

/** Whether anonymous callers can list datasets. */
const isOpen = async (server: TestServer): Promise<boolean> => (await server.as()('/api/datasets')).status === 200

const fillName = async (page: Page): Promise<void> => {
  await page.getByLabel('First name').fill('Grace')
  await page.getByLabel('Last name').fill('Hopper')
}

inBrowser('the printed link leads to an account and a dataset with files; then sign-out and sign-in', async t => {
  const server = await bootForTest({ t, admin: 'none' })
  const { page, problems } = await webPage(t, browser(), server.url)
  await page.goto(await setUpLink(server))
  await fillName(page)
  await page.getByLabel('Email address').fill('grace@example.org')
  await page.getByLabel('New password').fill(password)
  await page.getByRole('button', { name: 'Create account' }).click()
  // No answer is preselected, and nothing is created without one.
  await page.getByText('Who can read what is on this server?').waitFor()
  await page.getByText('Please select one of these options').waitFor()
  t.is(await page.getByRole('heading', { name: 'Welcome, Grace' }).count(), 0)
  t.false(await isOpen(server))
  t.deepEqual(await axeFindings(page), [])
  await page.getByRole('radio', { name: /^Public/ }).check({ force: true })
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('heading', { name: 'Welcome, Grace' }).waitFor()
  t.is(new URL(page.url()).search, '')
  t.true(await isOpen(server))
  await page.getByText('This server is public').waitFor()
  await page.getByText(`pounce login ${server.url}`).waitFor()
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page.getByText('shown only now').waitFor()
  t.deepEqual(await axeFindings(page), [])
  await page.getByRole('button', { name: 'Create sample dataset' }).click()
  await page.waitForURL(/\/datasets\/[0-9a-f]{24}$/)
  const dataset = new URL(page.url()).pathname.split('/').at(-1)
  const files = (await (await server.as()(`/api/datasets/${dataset}/listAllFiles`)).json()) as { filename: string }[]
  t.deepEqual(files.map(({ filename }) => filename).sort(), ['README.md', 'hill.jpg', 'leaf-area.pdf', 'stations.csv'])
  // From its README.
  await page.getByText('Public Domain Dedication').first().waitFor()
  // A small file is uploaded at once; its result is still shown.
  await page.locator('input[data-add=files]').setInputFiles({ name: 'own.txt', mimeType: 'text/plain', buffer: Buffer.from('own') })
  await page.getByRole('heading', { name: '1 of 1 file uploaded' }).waitFor()
  await page.getByRole('button', { name: 'Close' }).click()

  await page.getByRole('button', { name: 'Account of Grace Hopper' }).click()
  await page.getByRole('menuitem', { name: 'Public or private' }).click()
  await page.getByRole('radio', { name: /^Private/ }).check({ force: true })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('This server is private.').first().waitFor()
  t.false(await isOpen(server))
  t.deepEqual(await axeFindings(page), [])
  await page.goBack()
  await page.getByRole('button', { name: 'Account of Grace Hopper' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('link', { name: 'Sign in' }).first().click()
  await page.getByLabel('Email address').fill('grace@example.org')
  await page.getByLabel('Password').fill('wrong-horse')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  t.is(await page.getByRole('alert').textContent(), 'Wrong email address or password')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await waitForPath(page, `/datasets/${dataset}`)
  t.deepEqual(unexpected(problems), [])
})

/** The label of the focused field, and its descriptions. */
const focusedField = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(`(() => {
    const field = document.activeElement
    const described = (field.getAttribute('aria-describedby') ?? '').split(' ').map(id => document.getElementById(id)?.textContent ?? '')
    return [field.labels?.[0]?.textContent ?? '', ...described]
  })()`)

inBrowser('each invalid field shows the reason in the language of the page, and the first one is focused', async t => {
  const server = await bootForTest({ t, admin: 'none' })
  const { page, problems } = await webPage(t, browser(), server.url)
  await page.goto(await setUpLink(server))
  const make = (): Promise<void> => page.getByRole('button', { name: /^(?:Create account|Konto anlegen)$/ }).click()
  await page.getByLabel('Email address').fill('grace')
  await page.getByLabel('New password').fill('short')
  await page.getByLabel('First name').fill('  ')
  await make()
  const refusals = page.getByRole('alert')
  await refusals.nth(4).waitFor()
  const missing = 'Please fill in this field.'
  t.deepEqual(await refusals.allTextContents(), [
    missing,
    missing,
    'Please enter an email address, such as name@example.org.',
    'Please enter at least 8 characters.',
    'Please select one of these options.',
  ])
  t.deepEqual(await focusedField(page), ['First name', missing])
  t.deepEqual(await axeFindings(page), [])
  await fillName(page)
  await make()
  await refusals.nth(3).waitFor({ state: 'detached' })
  t.is((await focusedField(page))[0], 'Email address')

  await page.context().addCookies([{ name: 'pounce_language', value: 'de', url: server.url }])
  await page.goto('/login')
  await page.getByRole('button', { name: 'Anmelden', exact: true }).click()
  await refusals.nth(1).waitFor()
  t.deepEqual(await refusals.allTextContents(), Array(2).fill('Bitte füllen Sie dieses Feld aus.'))
  t.deepEqual(unexpected(problems), [])
})

inBrowser('the page of a server without the web interface creates the first account and a key, and shows the next steps', async t => {
  const server = await bootForTest({ t, admin: 'none' })
  const { page, problems } = await webPage(t, browser(), server.url)
  await page.goto((await setUpLink(server)).replace('/welcome', '/setup'))
  await fillName(page)
  await page.getByLabel('Email').fill('grace@example.org')
  await page.getByLabel(/^Password/).fill(`${password} ü`)
  await page.getByRole('radio', { name: /Everyone/ }).check()
  await page.getByRole('button', { name: 'Make the account' }).click()
  await page.getByText(`pounce login ${server.url}`).waitFor()
  const key = (await page.locator('#key').textContent()) ?? ''
  t.like(await (await server.as(key)('/api/me')).json(), { email: 'grace@example.org' })
  t.deepEqual(await axeFindings(page), [])
  const used = await page.goto('/setup')
  t.is(used?.status(), 400)
  await page.getByRole('link', { name: 'sign in' }).click()
  await waitForPath(page, '/')
  t.deepEqual(
    unexpected(problems).filter(problem => !problem.includes('status of 400')),
    [],
  )
})

inBrowser('an account is created and its password reset through links in emails; signing in needs no mouse', async t => {
  const mailer = new MemoryMailer()
  const config = { auth: { local: { registerThroughAdmins: false } } }
  const server = await bootForTest({ t, overrides: { [Mailer]: mailer }, config })
  const { page, problems } = await webPage(t, browser(), server.url)
  const askFor = async (path: string): Promise<string> => {
    await page.goto(path)
    await page.getByLabel('Email address').fill('grace@example.org')
    await page.getByRole('button', { name: 'Send link' }).click()
    await page.getByText('a link is on its way').waitFor()
    return lastToken(server, mailer, 'grace@example.org')
  }
  await page.goto(`/signup/${await askFor('/signup')}`)
  await fillName(page)
  await page.getByLabel('New password').fill(password)
  // The used link is not loaded again, which would show that it is no longer valid.
  const loads: string[] = []
  page.on('request', request => request.method() === 'GET' && loads.push(new URL(request.url()).pathname))
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  t.false(loads.includes('/api/signup/finish'))
  await page.context().clearCookies()

  const reset = await askFor('/reset')
  await page.goto(`/reset?token=${reset}`)
  await page.getByLabel('New password').fill('another-horse')
  await page.getByRole('button', { name: 'Set password' }).click()
  await waitForPath(page, '/login')
  await page.goto(`/reset?token=${reset}`)
  await page.getByText('This link is no longer valid').waitFor()

  await page.goto('/login?next=/spaces')
  await page.getByLabel('Email address').waitFor()
  await page.keyboard.type('grace@example.org')
  await page.keyboard.press('Tab')
  await page.keyboard.type('another-horse')
  await page.keyboard.press('Enter')
  await waitForPath(page, '/spaces')
  await page.goto('/login?next=//elsewhere.example.org/')
  await page.getByRole('heading', { name: 'Home' }).waitFor()
  t.is(new URL(page.url()).origin, server.url)
  t.deepEqual(unexpected(problems), [])
})

inBrowser('an emailed link to link a sign-in to an account leads to a page, also on a server without the web interface', async t => {
  for (const without of [[], ['web']]) {
    const { server, mailer, account, signIn, whoIs } = await outsideServer(t, { users: { linksByEmail: true }, without })
    const email = 'grace@example.org'
    const id = await account(email, password)
    await signIn({ sub: 'grace', email })
    const [mail] = await mailsTo(server, mailer, email)
    const { page, problems } = await webPage(t, browser(), server.url)
    const address = /http\S+token=\S+/.exec(mail?.text ?? '')?.[0] ?? ''
    await page.goto(address)
    await page.getByText(email).waitFor()
    t.deepEqual(await axeFindings(page), [])
    await page.getByRole('button', { name: 'Link sign-in' }).click()
    await page.getByText(/You can (?:now )?sign in with/).waitFor()
    t.is((await whoIs((await signIn({ sub: 'grace', email })).browser))?.id, id)
    for (const used of without.length === 0 ? [address, '/login/link'] : [address]) {
      await page.goto(used)
      await page.getByText('no longer valid').waitFor()
      t.is(await page.getByRole('button', { name: 'Link sign-in' }).count(), 0)
    }
    t.deepEqual(unexpected(problems), [])
  }
})

inBrowser('on a server without the web interface, emailed links lead to forms that create an account and reset its password', async t => {
  const mailer = new MemoryMailer()
  const config = { auth: { local: { registerThroughAdmins: false } } }
  const server = await bootForTest({ t, overrides: { [Mailer]: mailer }, config, without: ['web'] })
  const { page, problems } = await webPage(t, browser(), server.url)
  const email = 'grace@example.org'
  const openLink = async (path: string): Promise<void> => {
    await server.as()(path, { method: 'POST', json: { email } })
    const mails = await mailsTo(server, mailer, email)
    await page.goto(/http\S+token=\S+/.exec(mails.at(-1)?.text ?? '')?.[0] ?? '')
    await page.getByText(email).waitFor()
    t.deepEqual(await axeFindings(page), [])
  }
  const signIn = async (given: string): Promise<number> =>
    (await server.as()('/api/login', { method: 'POST', json: { email, password: given } })).status
  await openLink('/api/signup')
  await fillName(page)
  await page.getByLabel(/^Password/).fill(password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('Done.').waitFor()
  t.is(await signIn(password), 200)
  await openLink('/api/password/reset')
  await page.getByLabel(/^Password/).fill('another-horse')
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByText('Done. You can sign in now.').waitFor()
  t.is(await signIn('another-horse'), 200)
  await page.goto('/api/password/reset/finish?token=wrong')
  await page.getByText('no longer valid').waitFor()
  t.deepEqual(unexpected(problems), [])
})

inBrowser('collections and spaces are created, filled, edited and deleted; a deleted dataset is restored', async t => {
  const server = await bootForTest({ t })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const create = async (button: string, name: string): Promise<void> => {
    await page.getByRole('button', { name: button }).first().click()
    await page.getByRole('dialog').getByLabel('Name').fill(name)
    await page.getByRole('dialog').getByRole('button', { name: button }).click()
  }
  await page.goto('/collections')
  await create('Create collection', 'Campaigns')
  await page.getByRole('heading', { name: 'Campaigns' }).waitFor()
  await page.getByRole('button', { name: 'Create collection here' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('March')
  await page.getByRole('dialog').getByRole('button', { name: 'Create collection' }).click()
  await page.getByRole('heading', { name: 'March' }).waitFor()
  await page.getByRole('navigation', { name: 'Location' }).getByRole('link', { name: 'Campaigns' }).click()
  await page.getByRole('navigation', { name: 'Collections in Campaigns' }).getByRole('link', { name: 'March' }).waitFor()
  await create('Create dataset', 'Leaf area')
  await page.waitForURL(/\/datasets\//)
  await page.goBack()
  const row = page.getByRole('row', { name: /Leaf area/ })
  await row.waitFor()
  await row.focus()
  await page.keyboard.press('Delete')
  await page.getByText('Leaf area is in the trash').waitFor()
  await row.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await row.waitFor()

  await page.goto('/spaces')
  await create('Create space', 'Beech forest')
  await page.getByRole('button', { name: 'Add dataset' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Leaf area' }).click()
  await page.getByRole('row', { name: /Leaf area/ }).waitFor()
  await page.getByText('1 dataset', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Actions for Leaf area' }).click()
  await page.getByRole('menuitem', { name: 'Remove from Beech forest' }).click()
  await page.getByText('0 datasets', { exact: true }).waitFor()
  await page.locator('.toast', { hasText: 'no longer in' }).getByRole('button', { name: 'Undo' }).click()
  await page.getByText('1 dataset', { exact: true }).waitFor()
  await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'Collections' }).click()
  await create('Create collection', 'Autumn')
  await page.getByRole('navigation', { name: 'Location' }).getByRole('link', { name: 'Beech forest' }).click()
  await page.getByRole('button', { name: 'Actions for Beech forest' }).click()
  await page.getByRole('menuitem', { name: 'Edit space' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Oak forest')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Oak forest' }).waitFor()
  await page.getByRole('button', { name: 'Actions for Oak forest' }).click()
  await page.getByRole('menuitem', { name: 'Delete space' }).click()
  await page.getByRole('dialog').getByText('1 dataset').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete space' }).click()
  await page.getByText('No spaces yet').waitFor()
  t.deepEqual(unexpected(problems), [])
})

inBrowser('axe finds nothing on these pages in light and dark mode, and none scrolls horizontally at 320 pixels', async t => {
  const server = await bootForTest({ t, also: [fileURLToPath(new URL('../../examples/file-types/', import.meta.url))] })
  const call = server.as(server.admin.key)
  const make = async (path: string, json: object): Promise<string> =>
    ((await (await call(path, { method: 'POST', json })).json()) as { id: string }).id
  const space = await make('/api/spaces', { name: 'Beech forest', description: 'Plots' })
  const collection = await make('/api/collections', { name: 'Campaigns', description: '', space })
  const dataset = await make('/api/datasets/createempty', {
    name: `Leaf area ${'of a very long name '.repeat(8)}`,
    description: 'x',
    space,
    collection,
  })
  const file = await upload(call, dataset, 'plot,lai\n1,2.1\n', `${'a-name-without-any-space-in-it-'.repeat(4)}.csv`, { type: 'text/csv' })
  const stranger = await webPage(t, browser(), server.url)
  const own = await webPage(t, browser(), server.url, server.admin)
  const findings: string[] = []
  const look = async ({ page }: typeof own, path: string): Promise<void> => {
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize({ width: 1280, height: 860 })
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle').catch(() => undefined)
    findings.push(...(await axeFindings(page)).map(finding => `${path} light: ${finding}`))
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 320, height: 700 })
    findings.push(...(await axeFindings(page)).map(finding => `${path} dark: ${finding}`))
    const pixels = await sidewaysScroll(page)
    if (pixels > 0) findings.push(`${path} scrolls sideways by ${pixels} pixels`)
    const hidden = await page.evaluate<number>(
      "[...document.querySelectorAll('main a, main button')].filter(each => each.getBoundingClientRect().right > innerWidth).length",
    )
    if (hidden > 0) findings.push(`${path} has ${hidden} links and buttons beyond its edge`)
  }
  for (const path of ['/', '/login', '/signup', '/reset', '/welcome']) await look(stranger, path)
  const paths = [
    ...['/', '/datasets', '/collections', '/spaces', `/spaces/${space}`, `/collection/${collection}`, '/accessibility', '/welcome'],
    ...[`/datasets/${dataset}`, `/datasets/${dataset}?tab=example.file-types.tab`, `/files/${file}`, '/search?query=leaf'],
    ...['/parts/example.file-types.page', '/admin/access', '/admin/plugins'],
  ]
  for (const path of paths) await look(own, path)
  const edge = () => own.page.screenshot({ clip: { x: 316, y: 400, width: 4, height: 4 } })
  const bright = await edge()
  await own.page.keyboard.press('?')
  await own.page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  // The overlay also covers the gutter of the scrollbar.
  t.notDeepEqual(await edge(), bright)
  findings.push(...(await axeFindings(own.page)).map(finding => `keys: ${finding}`))
  t.deepEqual(findings, [])
  t.deepEqual([...unexpected(stranger.problems), ...unexpected(own.problems)], [])
})

inBrowser('what was in a space already has no undo, nor has what only its owner can put back', async t => {
  const server = await bootForTest({ t })
  const [admin, editor] = [server.as(server.admin.key), await newPerson(server, 'editor')]
  const { id: space } = await ok<{ id: string }>(admin('/api/spaces', { method: 'POST', json: { name: 'Plots', description: '' } }))
  const dataset = await newDataset(admin, { name: 'Oaks', space: [space] })
  await ok(admin(`/api/spaces/${space}/members/${editor.id}`, { method: 'PUT', json: { role: 'Editor' } }))
  await server.drained()
  const { page } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/spaces/${space}`)
  await page.getByRole('button', { name: 'Add dataset' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Oaks' }).click()
  await page.locator('.toast', { hasText: 'Oaks is in Plots now' }).waitFor()
  t.is(await page.getByRole('button', { name: 'Undo' }).count(), 0)

  const { page: theirs } = await webPage(t, browser(), server.url, editor)
  await theirs.goto(`/spaces/${space}`)
  await theirs.getByRole('button', { name: 'Actions for Oaks' }).click()
  await theirs.getByRole('menuitem', { name: 'Add to a collection' }).waitFor()
  t.is(await theirs.getByRole('menuitem', { name: 'Add to a space' }).count(), 0)
  await theirs.getByRole('menuitem', { name: 'Remove from Plots' }).click()
  await theirs.locator('.toast', { hasText: 'Oaks is no longer in Plots' }).waitFor()
  t.is(await theirs.getByRole('button', { name: 'Undo' }).count(), 0)
  t.deepEqual((await ok<{ spaces: readonly string[] }>(admin(`/api/datasets/${dataset}`))).spaces, [])
})
