import { existsSync } from 'node:fs'
import type { TestFn } from 'ava'
import { type Browser, chromium, firefox, type LaunchOptions, type Page } from 'playwright-core'
import { skippedBecause } from 'pounce/sdk/testing'
import { webBuild } from './web-build.ts'

/** Without these flags Chromium connects to hosts of its vendor at each start. */
const quiet = [
  '--no-sandbox',
  // The default of the windowed browser.
  '--site-per-process',
  // Software rendering of 3D, if there is no GPU.
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  // Compositing pages with it as well takes a tenth to a third of the tests' CPU time.
  '--disable-gpu-compositing',
  '--disable-gpu-rasterization',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The engine without windows, which take a fifth to a third of the tests' CPU time; and the regular browser. */
const [headlessShell, wholeChromium] = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

const known = {
  chromium: { type: chromium, executablePath: existsSync(headlessShell) ? headlessShell : wholeChromium, args: quiet },
  // Debian's Firefox is driven by WebDriver BiDi, so Playwright's own build is not needed.
  firefox: { type: firefox, executablePath: '/usr/bin/firefox-esr', channel: 'moz-firefox' },
} as const

export type BrowserName = keyof typeof known

/**
 * Tests in an installed browser; without one, each test is reported as skipped: `apt-get install chromium-headless-shell firefox-esr`, or
 * `chromium` on distributions without the headless shell.
 */
export const browserTests = (test: TestFn, name: BrowserName): { readonly test: TestFn; readonly launch: () => Promise<Browser> } => {
  const { type, ...options } = known[name]
  const launch = () => type.launch({ ...options, headless: true, timeout: 60_000 } as LaunchOptions)
  const isHere = existsSync(options.executablePath)
  return { test: isHere ? test : skippedBecause(test, `${options.executablePath} is not installed`), launch }
}

/**
 * Serial tests that share a browser, for files whose tests open several pages each. A hook builds the web interface and launches it. Like all
 * hooks it must be declared after the last `await` of the file.
 */
export const sharedBrowserTests = (
  test: TestFn,
  name: BrowserName,
): { readonly test: TestFn['serial']; readonly browser: () => Browser } => {
  const { test: inBrowser, launch } = browserTests(test, name)
  let browser: Browser | undefined
  inBrowser.before(async () => {
    await webBuild()
    browser = await launch()
  })
  inBrowser.after.always(() => browser?.close())
  const launched = (): Browser => {
    if (!browser) throw new Error('The browser is launched by a hook: call this in tests')
    return browser
  }
  return { test: inBrowser.serial, browser: launched }
}

/** Chromium for scripts that take screenshots or measure pages. */
export const chromiumForTests = (): Promise<Browser> => chromium.launch({ executablePath: wholeChromium, args: [...quiet], headless: true })

/** An empty page of a server's origin, for calls of its API. */
export const blankPage = async (browser: Browser, origin: string): Promise<Page> => {
  const page = await browser.newPage()
  await page.route(`${origin}/blank-page`, route =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>blank</title>' }),
  )
  await page.goto(`${origin}/blank-page`)
  return page
}
