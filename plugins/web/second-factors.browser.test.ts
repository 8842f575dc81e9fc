import test from 'ava'
import jsQR from 'jsqr'
import { bootForTest, FixedClock } from 'pounce/sdk/testing'
import sharp from 'sharp'
import { codeAt } from '../../test/support/authenticator.ts'
import { freePort } from '../../test/support/free-port.ts'
import { byCookie, signIn } from '../../test/support/people.ts'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { ok } from '../../test/support/scene.ts'
import { enrolTotp, withTotp } from '../../test/support/second-factors.ts'
import { axeFindings, unexpected, waitForPath, webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')

/** The text of a QR code in a picture. */
const scan = async (picture: Buffer): Promise<string> => {
  const { data, info } = await sharp(picture).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  const code = jsQR.default(new Uint8ClampedArray(data), info.width, info.height)
  if (!code) throw new Error('The picture contains no QR code')
  return code.data
}

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
  const scanned = new URL(await scan(await dialog.getByRole('img', { name: 'QR code' }).screenshot()))
  t.deepEqual([scanned.protocol, scanned.searchParams.get('secret')], ['otpauth:', secret])
  t.deepEqual(await axeFindings(page), [])
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
