import { existsSync } from 'node:fs'
import type { TestFn } from 'ava'
import { type Browser, chromium, firefox, type LaunchOptions, type Page } from 'playwright-core'
import { skippedBecause } from 'pounce/sdk/testing'

/** Without these Chromium calls hosts of its vendor at each start. */
const quiet = [
  '--no-sandbox',
  // As the browser with windows does without being told.
  '--site-per-process',
  // 3D by the processor, where there is no graphics card.
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  // To draw pages by way of it, too, costs a tenth to a third of the CPU time of the tests.
  '--disable-gpu-compositing',
  '--disable-gpu-rasterization',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The same engine without the windows, which take a fifth to a third of the CPU time of the tests; and the browser that people have. */
const [headlessShell, wholeChromium] = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

const known = {
  chromium: { type: chromium, executablePath: existsSync(headlessShell) ? headlessShell : wholeChromium, args: quiet },
  // Firefox as Debian has it is driven by WebDriver BiDi; Playwright's own build of it is not needed.
  firefox: { type: firefox, executablePath: '/usr/bin/firefox-esr', channel: 'moz-firefox' },
} as const

export type BrowserName = keyof typeof known

/**
 * Tests in a browser that this machine has; where it has none, each is reported as skipped: `apt-get install chromium-headless-shell firefox-esr`, or
 * `chromium` where a distribution has no such shell.
 */
export const browserTests = (test: TestFn, name: BrowserName): { readonly test: TestFn; readonly launch: () => Promise<Browser> } => {
  const { type, ...options } = known[name]
  const launch = () => type.launch({ ...options, headless: true, timeout: 60_000 } as LaunchOptions)
  const isHere = existsSync(options.executablePath)
  return { test: isHere ? test : skippedBecause(test, `${options.executablePath} is not installed`), launch }
}

/** Chromium for scripts that draw or measure pages. */
export const chromiumForTests = (): Promise<Browser> => chromium.launch({ executablePath: wholeChromium, args: [...quiet], headless: true })

/** An empty page of a server's own origin, from which its API can be called. */
export const blankPage = async (browser: Browser, origin: string): Promise<Page> => {
  const page = await browser.newPage()
  await page.route(`${origin}/blank-page`, route =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>blank</title>' }),
  )
  await page.goto(`${origin}/blank-page`)
  return page
}
