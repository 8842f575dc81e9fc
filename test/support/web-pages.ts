import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { setTimeout as pause } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import type { Browser, Page } from 'playwright-core'

const axeScript = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** A page of the web interface in a separate browser context, with its errors. */
export interface WebPage {
  readonly page: Page
  /** Console errors, CSP violations, requests to other hosts and responses with status 500. */
  readonly problems: readonly string[]
}

/**
 * Maximum delay of each API response, to find tests and pages that depend on quick ones: `POUNCE_TEST_API_DELAY_MS=2000 npx ava plugins/web/*.browser.test.ts`.
 */
const delayMs = Number(process.env['POUNCE_TEST_API_DELAY_MS'] ?? 0)
const isDelayed = ({ pathname }: URL): boolean => pathname.startsWith('/api/') && pathname !== '/api/live'

/** Opens a browser context, signed in if an account is given. It is closed after the test. */
export const webPage = async (
  t: ExecutionContext,
  browser: Browser,
  origin: string,
  account?: { readonly email: string; readonly password: string },
): Promise<WebPage> => {
  const problems: string[] = []
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 },
    baseURL: origin,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  t.teardown(async () => {
    if (!t.passed) t.log(...(await Promise.all(context.pages().map(statusOf))), ...problems)
    await context.close()
  })
  if (delayMs > 0) await context.route(isDelayed, route => pause(Math.random() * delayMs).then(() => route.continue()))
  if (account) {
    const response = await context.request.post('/api/login', { data: { email: account.email, password: account.password } })
    t.is(response.status(), 200)
  }
  const page = await context.newPage()
  // Beside other tests a page can take longer than Playwright's 30 s.
  page.setDefaultTimeout(90_000)
  page.on('console', message => message.type() === 'error' && problems.push(`console: ${message.text()} ${message.location().url}`))
  page.on('pageerror', error => problems.push(`error: ${error.stack}`))
  page.on('request', request => {
    const { origin: host, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && host !== origin) problems.push(`request to ${request.url()}`)
  })
  page.on('response', response => response.status() >= 500 && problems.push(`${response.status()} ${response.url()}`))
  return { page, problems }
}

/** Waits for a path. A glob that ends with it also matches the sign-in page before it: `/login?next=/spaces`. */
export const waitForPath = (page: Page, path: string): Promise<void> => page.waitForURL(url => url.pathname === path)

/** The URL and the text of a page. */
const statusOf = async (page: Page): Promise<string> => {
  const text = await page.innerText('body', { timeout: 5000 }).catch(String)
  return `${page.url()} shows:\n${text.replace(/\n\s*\n/g, '\n').slice(0, 3000)}`
}

/** The problems without 401 and 403, which the browser also logs and these tests provoke. */
export const unexpected = (problems: readonly string[]): readonly string[] => problems.filter(problem => !/status of 40[13]/.test(problem))

interface AxeResults {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
  }[]
}

/** The findings of axe on a page in its current state, by all or some of its rules. The script is evaluated, which bypasses the page's CSP. */
export const axeFindings = async (page: Page, runOnly?: readonly string[]): Promise<readonly string[]> => {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(await readFile(axeScript, 'utf8'))
  // Colours in transition have an arbitrary contrast.
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().filter(each => each instanceof CSSTransition).map(each => each.finished))',
  )
  // React Aria announces a pending button by its id, and keeps the reference for seconds after the button is removed.
  // Reporting elements that pass takes as long as everything else.
  const options = { resultTypes: ['violations'], ...(runOnly && { runOnly }) }
  const { violations } = await page.evaluate<AxeResults>(`axe.run({ exclude: ['[data-live-announcer]'] }, ${JSON.stringify(options)})`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 300)} ${failureSummary}`),
  )
}

/** Pixels of horizontal overflow of a page. */
export const sidewaysScroll = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')

/** `axeFindings` in light mode, its colour rules in dark mode, and horizontal overflow on a small screen. */
export const pageFindings = async (page: Page): Promise<readonly string[]> => {
  const found = [...(await axeFindings(page))]
  await page.emulateMedia({ colorScheme: 'dark' })
  found.push(...(await axeFindings(page, ['color-contrast', 'link-in-text-block'])))
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 320, height: 800 })
  const pixels = await sidewaysScroll(page)
  await page.setViewportSize({ width: 1280, height: 860 })
  return pixels > 0 ? [...found, `${pixels} px wider than the window`] : found
}
