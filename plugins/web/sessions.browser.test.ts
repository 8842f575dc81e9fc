import test from 'ava'
import { type AuthProvider, AuthProviders, definePlugin, provide, type VerifiedIdentity, wire } from 'pounce/sdk'
import { bootForTest, FixedClock } from 'pounce/sdk/testing'
import { codeAt } from '../../test/support/authenticator.ts'
import { callsOf } from '../../test/support/calls.ts'
import { freePort } from '../../test/support/free-port.ts'
import { byCookie, newPerson, signIn } from '../../test/support/people.ts'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { newDataset, ok, upload } from '../../test/support/scene.ts'
import { enrolTotp, withTotp } from '../../test/support/second-factors.ts'
import { letIn, newSpace } from '../../test/support/spaces-and-people.ts'
import { axeFindings, unexpected, waitForPath, webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')

inBrowser('an expired session is renewed on the page, and the action continues', async t => {
  const server = await bootForTest({ t })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto('/datasets')
  await page.getByRole('button', { name: 'Create dataset' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create dataset' })
  await dialog.getByLabel('Name').fill('Typed before')
  await page.context().clearCookies()
  await dialog.getByRole('button', { name: 'Create dataset' }).click()
  const requested = page.getByRole('dialog', { name: 'You are signed out' })
  await requested.getByLabel('Password').fill(server.admin.password)
  await requested.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(/\/datasets\/[0-9a-f]{24}$/)
  const [dataset] = (await (await server.as(server.admin.key)('/api/datasets')).json()) as { name: string }[]
  t.is(dataset?.name, 'Typed before')

  // Session changes in one tab apply to the others.
  const other = await page.context().newPage()
  await other.goto('/datasets')
  await other.getByRole('row', { name: /Typed before/ }).waitFor()
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await other.getByRole('dialog', { name: 'You are signed out' }).waitFor()
  await page.goto('/login')
  await page.getByLabel('Email address').fill(server.admin.email)
  await page.getByLabel('Password').fill(server.admin.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await other.getByRole('dialog', { name: 'You are signed out' }).waitFor({ state: 'detached' })
  await newDataset(server.as(server.admin.key), { name: 'Made elsewhere' })
  await other.getByRole('row', { name: /Made elsewhere/ }).waitFor()
  t.deepEqual(unexpected(problems), [])
})

inBrowser('a download of an ended session continues after signing in', async t => {
  const server = await bootForTest({ t })
  const call = server.as(server.admin.key)
  const dataset = await newDataset(call, { name: 'Oaks' })
  const file = await upload(call, dataset, 'plot\n1\n', 'plots.csv', { type: 'text/csv' })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const signedOut = page.getByRole('dialog', { name: 'You are signed out' })
  const starts: readonly (readonly [path: string, name: string, start: () => Promise<void>])[] = [
    [`/files/${file}`, 'plots.csv', () => page.getByRole('link', { name: 'Download', exact: true }).first().click()],
    [
      `/datasets/${dataset}`,
      'Oaks.zip',
      async () => {
        await page.getByRole('button', { name: 'Download', exact: true }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Download ZIP' }).click()
      },
    ],
  ]
  for (const [path, name, start] of starts) {
    await page.goto(path)
    await page.getByRole('button', { name: /^Account of/ }).waitFor()
    await page.context().clearCookies()
    const started = page.waitForEvent('download')
    await start()
    await signedOut.getByLabel('Password').fill(server.admin.password)
    await signedOut.getByRole('button', { name: 'Sign in', exact: true }).click()
    t.is((await started).suggestedFilename(), name)
  }
  t.deepEqual(unexpected(problems), [])
})

inBrowser('signing in does not use a response about the session before', async t => {
  const server = await bootForTest({ t })
  const { page, problems } = await webPage(t, browser(), server.url)
  await page.goto('/login?next=/datasets')
  await page.getByLabel('Email address').fill(server.admin.email)
  await page.getByLabel('Password').fill(server.admin.password)
  // Another tab signs in: this one asks who is signed in, and gets no response.
  let resolveRequest = (): void => undefined
  const requested = new Promise<void>(resolve => {
    resolveRequest = resolve
  })
  await page.route('**/api/session', () => resolveRequest(), { times: 1 })
  const other = await page.context().newPage()
  await other.goto('/login?next=/spaces')
  await other.getByLabel('Email address').fill(server.admin.email)
  await other.getByLabel('Password').fill(server.admin.password)
  await other.getByRole('button', { name: 'Sign in', exact: true }).click()
  await requested
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await waitForPath(page, '/datasets')
  await page.getByText('No datasets yet').waitFor()
  t.deepEqual(unexpected(problems), [])
})

inBrowser('another user who signs in on an open page sees nothing that the previous user started', async t => {
  const server = await bootForTest({ t, config: { access: { private: false } } })
  const bob = await newPerson(server, 'bob')
  const dataset = await newDataset(server.as(server.admin.key), { name: 'Oaks' })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const other = await page.context().newPage()
  await other.goto('/')
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Edit description' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('A secret draft')
  await other.getByRole('button', { name: /^Account of/ }).click()
  await other.getByRole('menuitem', { name: 'Sign out' }).click()
  const requested = page.getByRole('dialog', { name: 'You are signed out' })
  await requested.getByLabel('Email address').fill(bob.email)
  await requested.getByLabel('Password').fill(bob.password)
  await requested.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('button', { name: 'Account of bob Number 1' }).waitFor()
  await page.getByRole('heading', { level: 1, name: 'Oaks' }).waitFor()
  t.is(await page.getByRole('textbox', { name: 'Description' }).count(), 0)
  t.is(await page.getByRole('button', { name: 'Edit description' }).count(), 0)
  t.is(await page.getByRole('button', { name: 'Add files' }).count(), 0)
  t.deepEqual(unexpected(problems), [])
})

inBrowser('a file that may be viewed but not downloaded shows the reason, and anonymous users a sign-in link', async t => {
  const server = await bootForTest({ t, config: { access: { private: false } } })
  const call = server.as(server.admin.key)
  const file = await upload(call, await newDataset(call), 'plot\n1\n', 'plots.csv', { type: 'text/csv' })
  const { page } = await webPage(t, browser(), server.url, await newPerson(server, 'bob'))
  await page.goto(`/files/${file}`)
  await page.getByText('You may see this file, but not download it.').waitFor()
  t.is(await page.getByRole('note').getByRole('link', { name: 'Sign in' }).count(), 0)
  const stranger = await webPage(t, browser(), server.url)
  await stranger.page.goto(`/files/${file}`)
  await stranger.page.getByRole('note').getByRole('link', { name: 'Sign in' }).click()
  await stranger.page.getByLabel('Email address').fill(server.admin.email)
  await stranger.page.getByLabel('Password').fill(server.admin.password)
  await stranger.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await stranger.page.getByRole('link', { name: 'Download', exact: true }).first().waitFor()
  t.is(await stranger.page.getByRole('note').count(), 0)
})

inBrowser('the page requests a second factor, terms of service and a step-up', async t => {
  const clock = new FixedClock()
  const server = await bootForTest({ t, clock })
  const { email, password: own, secret } = await withTotp(server, clock, 'ann')
  const admin = server.as(server.admin.key)
  await admin('/api/admin/configuration', { method: 'POST', json: { tosText: 'Be kind to the data.' } })
  const { page, problems } = await webPage(t, browser(), server.url)
  await page.goto('/login?next=/datasets')
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(own)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByLabel('Code', { exact: true }).fill(codeAt(secret, clock.now()))
  await page.getByRole('button', { name: 'Continue' }).click()
  const terms = page.getByRole('dialog', { name: 'Terms of service' })
  await terms.getByText('Be kind to the data.').waitFor()
  t.deepEqual(await axeFindings(page), [])
  await terms.getByRole('button', { name: 'Accept' }).click()
  await terms.waitFor({ state: 'detached' })
  await page.getByText('No datasets yet').waitFor()

  // No action of these pages requires a step-up yet, so one call is made to fail with that refusal.
  clock.advance(60_000)
  let refused = 0
  await page.route('**/api/datasets/createempty', route => {
    refused += 1
    if (refused > 1) return route.continue()
    const body = {
      status: 'error',
      code: 'step-up-required',
      message: 'Recent authentication required',
      methods: ['totp', 'recovery-code'],
    }
    return route.fulfill({ status: 403, json: body })
  })
  await page.getByRole('button', { name: 'Create dataset' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('After a step-up')
  await page.getByRole('dialog').getByRole('button', { name: 'Create dataset' }).click()
  const stepUp = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await stepUp.getByLabel('Code', { exact: true }).fill(codeAt(secret, clock.now()))
  await stepUp.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL(/\/datasets\/[0-9a-f]{24}$/)
  t.is(refused, 2)
  t.deepEqual(unexpected(problems), [])
})

inBrowser('a second factor that the server requires is set up on the page, which is then loaded', async t => {
  const clock = new FixedClock()
  const server = await bootForTest({ t, clock, config: { resources: { users: { requireSecondFactor: 'admins' } } } })
  const { email, password } = server.admin
  const { page } = await webPage(t, browser(), server.url)
  await page.goto('/login?next=/datasets')
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Set up a second factor' })
  await dialog.getByLabel('Password').fill('not the password')
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByText('Wrong password').waitFor()
  t.is(await page.getByRole('dialog').count(), 1)
  await dialog.getByLabel('Password').fill(password)
  await dialog.getByRole('button', { name: 'Continue' }).click()
  const secret = (await dialog.locator('code').innerText()).replaceAll(' ', '')
  await dialog.getByLabel('Code', { exact: true }).fill(codeAt(secret, clock.now()))
  await dialog.getByRole('button', { name: 'Confirm code' }).click()
  await dialog.getByRole('button', { name: 'I have kept them' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('No datasets yet').waitFor()
})

inBrowser('recovery codes stay until they are closed, and other tabs load their page once the second factor is set up', async t => {
  const clock = new FixedClock()
  const server = await bootForTest({ t, clock, config: { resources: { users: { requireSecondFactor: 'admins' } } } })
  const { page } = await webPage(t, browser(), server.url, server.admin)
  const other = await page.context().newPage()
  for (const tab of [page, other]) await tab.goto('/datasets')
  const dialog = page.getByRole('dialog', { name: 'Set up a second factor' })
  const inOther = other.getByRole('dialog', { name: 'Set up a second factor' })
  await inOther.waitFor()
  await dialog.getByLabel('Password').fill(server.admin.password)
  await dialog.getByRole('button', { name: 'Continue' }).click()
  const secret = (await dialog.locator('code').innerText()).replaceAll(' ', '')
  await dialog.getByLabel('Code', { exact: true }).fill(codeAt(secret, clock.now()))
  await dialog.getByRole('button', { name: 'Confirm code' }).click()
  const codes = await dialog.locator('.recovery-codes').innerText()
  // As when a tab signs in or out, or a window gets the focus after a minute.
  const reloaded = [page, other].map(tab => tab.waitForResponse(response => new URL(response.url()).pathname === '/api/session'))
  for (const tab of [page, other]) await tab.evaluate("new BroadcastChannel('pounce-session').postMessage('change')")
  await Promise.all(reloaded)
  await inOther.waitFor({ state: 'detached' })
  await other.getByText('No datasets yet').waitFor()
  // Over plain http there is no clipboard API.
  await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
  await page.bringToFront()
  await dialog.getByRole('button', { name: 'Copy' }).click()
  await page.getByText('Copied').waitFor()
  await other.bringToFront()
  t.is(await other.evaluate('navigator.clipboard.readText()'), codes)
  t.is(await dialog.locator('.recovery-codes').innerText(), codes)
  await dialog.getByRole('button', { name: 'I have kept them' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('No datasets yet').waitFor()
})

inBrowser('setting up a second factor follows the terms of service, and continues after signing in again', async t => {
  const clock = new FixedClock()
  const server = await bootForTest({ t, clock, config: { resources: { users: { requireSecondFactor: 'everybody' } } } })
  const own = byCookie(server, await signIn(server, server.admin.email, server.admin.password))
  await enrolTotp(own, server.admin.password, clock)
  await ok(own('/api/admin/configuration', { method: 'POST', json: { tosText: 'Be kind to the data.' } }))
  await ok(own('/api/users/acceptTerms', { method: 'POST', json: {} }))
  const ann = { email: 'ann@example.org', password: 'secret of ann' }
  await ok(own('/api/users', { method: 'POST', json: { ...ann, firstName: 'Ann', lastName: 'Oak' } }))
  const { page } = await webPage(t, browser(), server.url, ann)
  await page.goto('/datasets')
  const terms = page.getByRole('dialog', { name: 'Terms of service' })
  const dialog = page.getByRole('dialog', { name: 'Set up a second factor' })
  await terms.getByText('Be kind to the data.').waitFor()
  t.is(await dialog.count(), 0)
  await terms.getByRole('button', { name: 'Accept' }).click()
  await dialog.getByLabel('Password').fill(ann.password)
  await dialog.getByRole('button', { name: 'Continue' }).click()
  const secret = (await dialog.locator('code').innerText()).replaceAll(' ', '')
  await dialog.getByLabel('Code', { exact: true }).fill(codeAt(secret, clock.now()))
  await page.context().clearCookies()
  await dialog.getByRole('button', { name: 'Confirm code' }).click()
  const signedOut = page.getByRole('dialog', { name: 'You are signed out' })
  await signedOut.getByLabel('Password').fill(ann.password)
  await signedOut.getByRole('button', { name: 'Sign in', exact: true }).click()
  await dialog.getByRole('button', { name: 'I have kept them' }).click()
  await page.getByText('No datasets yet').waitFor()
})

/** Registers a passkey in the browser, and returns the status of the response. */
const registerPasskey = async (password: string): Promise<number> => {
  const post = (path: string, body: object) =>
    fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const begun = await post('/api/second-factors/passkeys/options', { password })
  const { enrolment, publicKey } = (await begun.json()) as { enrolment: string; publicKey: object }
  const browser = globalThis as unknown as {
    PublicKeyCredential: { parseCreationOptionsFromJSON(options: object): object }
    navigator: { credentials: { create(options: object): Promise<{ toJSON(): object }> } }
  }
  const options = browser.PublicKeyCredential.parseCreationOptionsFromJSON(publicKey)
  const credential = await browser.navigator.credentials.create({ publicKey: options })
  return (await post('/api/second-factors/passkeys', { enrolment, name: 'Laptop', passkey: credential.toJSON() })).status
}

inBrowser('a passkey signs in alone, or as the second factor after the password', async t => {
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const server = await bootForTest({ t, config: { http: { port, baseUrl: origin } } })
  const { page, problems } = await webPage(t, browser(), origin, server.admin)
  const devices = await page.context().newCDPSession(page)
  await devices.send('WebAuthn.enable')
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
  } as const
  await devices.send('WebAuthn.addVirtualAuthenticator', { options: { ...options, automaticPresenceSimulation: true } })
  await page.goto('/datasets')
  t.is(await page.evaluate(registerPasskey, server.admin.password), 200)
  await page.context().clearCookies()
  await page.goto('/login?next=/spaces')
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await waitForPath(page, '/spaces')

  await page.context().clearCookies()
  await page.goto('/login?next=/collections')
  await page.getByLabel('Email address').fill(server.admin.email)
  await page.getByLabel('Password').fill(server.admin.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await waitForPath(page, '/collections')
  t.deepEqual(unexpected(problems), [])
})

inBrowser('a browser refuses the passkeys of another host, and the page names that host', async t => {
  const port = await freePort()
  const server = await bootForTest({ t, config: { http: { port, baseUrl: `http://pounce.test:${port}` } } })
  const { page } = await webPage(t, browser(), server.url)
  await page.goto(`http://localhost:${port}/login`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  const message = page.getByText('Passkeys of this server work only at pounce.test.')
  await message.waitFor()
  t.is(await message.count(), 1)
})

inBrowser('users of a directory sign in with their user name', async t => {
  class Directory implements AuthProvider {
    readonly id = 'directory'

    async password(login: string, password: string): Promise<VerifiedIdentity | undefined> {
      if (login !== 'grace' || password !== 'theirs') return undefined
      return {
        ...{ provider: 'directory', subject: 'uid=grace', email: 'grace@example.org', isEmailVerified: false },
        ...{ firstName: 'Grace', lastName: 'Hopper', groups: [] },
      }
    }
  }
  wire(Directory)
  const directory = definePlugin({ id: 'auth.directory', summary: 'For tests.', provides: [provide(AuthProviders, Directory)] })
  const server = await bootForTest({ t, also: [directory] })
  const { page, problems } = await webPage(t, browser(), server.url)
  await page.goto('/login?next=/spaces')
  await page.getByLabel('Email address or user name').fill('grace')
  await page.getByLabel('Password').fill('theirs')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await waitForPath(page, '/spaces')
  t.deepEqual(unexpected(problems), [])
})

inBrowser('what is typed is kept when the language changes, and pages opened directly are among those recently used', async t => {
  const server = await bootForTest({ t })
  const dataset = await newDataset(server.as(server.admin.key), { name: 'Oaks' })
  await upload(server.as(server.admin.key), dataset, 'x', 'plot.txt')
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  // The page of the dataset is complete before it is known who is signed in.
  const held = Promise.withResolvers<void>()
  await page.route('**/api/session', async route => {
    await held.promise
    await route.continue()
  })
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('heading', { level: 1, name: 'Oaks' }).waitFor()
  held.resolve()
  await page.getByRole('button', { name: 'Edit description' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('A draft')
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitemradio', { name: 'Deutsch' }).click()
  t.is(await page.getByRole('textbox', { name: 'Beschreibung' }).inputValue(), 'A draft')
  await page.getByRole('columnheader', { name: 'Größe' }).waitFor()
  await page.getByRole('row', { name: 'plot.txt' }).getByRole('checkbox', { name: 'plot.txt auswählen' }).waitFor()
  await page.getByRole('button', { name: 'Dateien hinzufügen' }).waitFor()
  t.is(await page.getByText('Skip to the content').count(), 0)

  await page.goto('/')
  await page.locator('section', { hasText: 'Zuletzt verwendet' }).getByRole('link', { name: 'Oaks' }).waitFor()
  t.deepEqual(unexpected(problems), [])
})

inBrowser('what a user may no longer do is not offered after a change of the role in a space, nor after a refusal', async t => {
  const server = await bootForTest({ t })
  const bob = await newPerson(server, 'bob')
  const call = server.as(server.admin.key)
  const owner = callsOf(call)
  const space = await newSpace(owner)
  const dataset = await newDataset(call, { name: 'Oaks', space: [space] })
  const role = (name: string): Promise<void> => letIn(owner, space, name, bob)
  await role('Editor')
  const { page, problems } = await webPage(t, browser(), server.url, bob)
  const add = page.getByRole('button', { name: 'New folder' })
  await page.goto(`/datasets/${dataset}`)
  await add.waitFor()
  await role('Viewer')
  await add.waitFor({ state: 'detached' })
  await role('Editor')
  await add.waitFor()

  // The change is not reported.
  await page.route('**/api/live*', route => route.abort())
  await page.reload()
  await add.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name of the folder').fill('raw')
  await role('Viewer')
  await page.keyboard.press('Enter')
  await dialog.getByText('Permission denied').waitFor()
  await page.keyboard.press('Escape')
  await add.waitFor({ state: 'detached' })
  t.deepEqual(
    unexpected(problems).filter(problem => !/api\/live/.test(problem)),
    [],
  )
})

inBrowser('what a user may view is no longer offered after the removal from a space, nor after a change that finds nothing', async t => {
  const server = await bootForTest({ t, config: { access: { private: true } } })
  const bob = await newPerson(server, 'bob')
  const call = server.as(server.admin.key)
  const owner = callsOf(call)
  const space = await newSpace(owner)
  const dataset = await newDataset(call, { name: 'Oaks', space: [space] })
  const removal = () => ok(call(`/api/spaces/${space}/removeUser?removeUser=${bob.id}`, { method: 'POST' }))
  await letIn(owner, space, 'Editor', bob)
  const { page } = await webPage(t, browser(), server.url, bob)
  const add = page.getByRole('button', { name: 'New folder' })
  const gone = page.getByText('This was deleted, or you may no longer see it.')
  await page.goto(`/datasets/${dataset}`)
  await add.waitFor()
  await removal()
  await gone.waitFor()
  t.is(await add.count(), 0)

  await letIn(owner, space, 'Editor', bob)
  // The change is not reported.
  await page.route('**/api/live*', route => route.abort())
  await page.reload()
  await add.click()
  await page.getByRole('dialog').getByLabel('Name of the folder').fill('raw')
  await removal()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByText('not found or not accessible').waitFor()
  await page.keyboard.press('Escape')
  await gone.waitFor()
  t.is(await add.count(), 0)
})

inBrowser('where the server is reached by an IP address no sign-in with a passkey is offered', async t => {
  const server = await bootForTest({ t })
  const { page, problems } = await webPage(t, browser(), server.url)
  await page.goto('/login')
  await page.getByLabel('Password').waitFor()
  t.regex(server.url, /127\.0\.0\.1/)
  t.is(await page.getByRole('button', { name: 'Sign in with a passkey' }).count(), 0)
  await page.goto(`${server.url.replace('127.0.0.1', 'localhost')}/login`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
  t.deepEqual(
    unexpected(problems).filter(problem => !problem.startsWith('request to')),
    [],
  )
})
