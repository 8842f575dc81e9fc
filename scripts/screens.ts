/**
 * `npm run screens`: takes screenshots of the web interface in light and dark mode and on a phone, with data, empty and with an error, into
 * `docs/screens`. `npm run screens -- dataset file` takes those whose names start with these words. Review each screenshot before committing it,
 * and record the findings in `docs/screens/README.md`.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page, Request, Route } from 'playwright-core'
import { StartupMessages } from 'pounce/sdk'
import { type BootOptions, bootForTest, type TestServer } from 'pounce/sdk/testing'
import sharp from 'sharp'
import { chromiumForTests } from '../test/support/real-browsers.ts'
import { newDataset, upload } from '../test/support/scene.ts'
import { webBuild } from '../test/support/web-build.ts'
import { type Seeded, seed } from './screens/seed.ts'

const folder = new URL('../docs/screens/', import.meta.url)
const wanted = process.argv.slice(2)

interface Account {
  readonly email: string
  readonly password: string
}

interface Screen {
  readonly name: string
  readonly path: string
  /** The signed-in account; anonymous by default. */
  readonly as?: Account
  /** Brings the page into the state to capture. */
  readonly act?: (page: Page) => Promise<unknown>
  /** The screen shows an error: failed requests in the browser's console are expected. */
  readonly isRefused?: boolean
  /** A variant of another screen, captured in light mode only. */
  readonly isDetail?: boolean
}

const variants = {
  light: { viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 390, height: 844 }, colorScheme: 'light', hasTouch: true, isMobile: true },
} as const

/** Uploads that are kept pending for a screenshot. */
const stalled: Route[] = []

const press = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click()

const plenty = (server: TestServer, { ids, researcher }: Seeded): readonly Screen[] => {
  const dataset = `/datasets/${ids['dataset']}`
  const file = (name: string, id: string): Screen => ({ name: `file-${name}`, path: `/files/${ids[id]}`, as: researcher })
  return [
    { name: 'home', path: '/', as: researcher },
    { name: 'home-visitor', path: '/' },
    { name: 'home-admin', path: '/', as: server.admin, isDetail: true },
    { name: 'datasets', path: '/datasets', as: researcher },
    { name: 'datasets-tiles', path: '/datasets?view=tiles', as: researcher, isDetail: true },
    { name: 'datasets-none-found', path: '/datasets?filter=glacier', as: researcher, isDetail: true },
    { name: 'collections', path: '/collections', as: researcher, isDetail: true },
    { name: 'spaces', path: '/spaces', as: researcher, isDetail: true },
    { name: 'space', path: `/spaces/${ids['space']}`, as: researcher },
    { name: 'collection', path: `/collection/${ids['collection']}`, as: researcher },
    { name: 'dataset', path: dataset, as: researcher },
    { name: 'dataset-visitor', path: dataset, isDetail: true },
    { name: 'dataset-folder', path: `${dataset}?folder=${ids['folder']}`, as: researcher },
    {
      name: 'dataset-selection',
      path: dataset,
      as: researcher,
      act: async page => {
        for (const name of ['leaf-area.pdf', 'stations.csv'])
          await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).click()
      },
    },
    { name: 'dataset-find', path: `${dataset}?find=plot%202&below=1`, as: researcher, isDetail: true },
    {
      name: 'dataset-upload',
      isRefused: true,
      path: dataset,
      as: researcher,
      act: async page => {
        await page.route('**/api/uploadToDataset/**', route => void stalled.push(route))
        const files = Array.from({ length: 24 }, (_, at) => ({
          name: `plot ${300 + at}.csv`,
          mimeType: 'text/csv',
          buffer: Buffer.alloc(20_000),
        }))
        await page.locator('input[type=file]').first().setInputFiles(files)
        await page.getByRole('progressbar').first().waitFor()
      },
    },
    {
      name: 'dataset-views',
      path: `${dataset}?tab=views`,
      as: researcher,
      act: async page => {
        for (const name of ['hill above plot 17.jpg', 'leaf-area.pdf'])
          await page.getByRole('checkbox', { name: `Compare ${name}` }).click()
      },
    },
    { name: 'compare', path: `/compare?left=${ids['picture']}&right=${ids['table']}`, as: researcher, isDetail: true },
    { name: 'dataset-empty', path: `/datasets/${ids['empty']}`, as: researcher },
    file('picture', 'picture'),
    file('table', 'table'),
    { ...file('document', 'pdf'), isDetail: true },
    { ...file('map', 'map'), isDetail: true },
    { ...file('archive', 'archive'), isDetail: true },
    { ...file('markdown', 'readme'), isDetail: true },
    { ...file('sound', 'sound'), isDetail: true },
    { ...file('no-viewer', 'unknown'), isDetail: true },
    { name: 'search', path: '/search?query=leaf', as: researcher },
    { name: 'search-none-found', path: '/search?query=glacier', as: researcher, isDetail: true },
    { name: 'search-error', path: '/search?query=%22leaf%20AND%20(', as: researcher, isRefused: true },
    { name: 'search-start', path: '/search', as: researcher, isDetail: true },
    {
      name: 'search-box',
      path: '/',
      as: researcher,
      isDetail: true,
      act: async page => {
        await page.keyboard.press('/')
        await page.keyboard.type('leaf')
        await page.getByRole('option').first().waitFor()
      },
    },
    { name: 'sign-in', path: '/login' },
    {
      name: 'sign-in-refused',
      path: '/login',
      isDetail: true,
      isRefused: true,
      act: async page => {
        await page.getByLabel('Email address').fill('ada@example.org')
        await page.getByLabel('Password').fill('wrong-horse')
        await press('Sign in')(page).catch(() => undefined)
        await page.getByRole('alert').waitFor()
      },
    },
    { name: 'sign-up', path: '/signup', isDetail: true },
    { name: 'reset', path: '/reset', isDetail: true },
    { name: 'reset-link-expired', path: '/reset?token=of-last-week', isDetail: true, isRefused: true },
    { name: 'not-found', path: '/datasets/0123456789abcdef01234567', isRefused: true },
    { name: 'accessibility', path: '/accessibility', isDetail: true },
    { name: 'keys', path: dataset, as: researcher, isDetail: true, act: page => page.keyboard.press('?') },
    {
      name: 'create-dataset',
      path: '/datasets',
      as: researcher,
      act: async page => {
        await press('Create dataset')(page)
        await page.getByRole('dialog').waitFor()
      },
    },
    {
      name: 'signed-out',
      path: dataset,
      as: researcher,
      isDetail: true,
      isRefused: true,
      act: async page => {
        await page.context().clearCookies()
        await press('Follow')(page)
        await page.getByRole('dialog').waitFor()
      },
    },
  ]
}

/** The path of the printed setup link of a server without an administrator. */
const setUpPath = async (server: TestServer): Promise<string> => {
  const messages = server.get(StartupMessages).all()
  const lines = await Promise.all(messages.map(message => message.lines()))
  return /http:\/\/[^/]+(\/\S+)/.exec(lines.flat().join('\n'))?.[1] ?? '/welcome'
}

const nothing = ({ admin }: TestServer): readonly Screen[] => [
  { name: 'home-empty', path: '/', as: admin },
  { name: 'datasets-empty', path: '/datasets', as: admin, isDetail: true },
  { name: 'spaces-empty', path: '/spaces', as: admin, isDetail: true },
  { name: 'first-dataset', path: '/welcome', as: admin },
]

/** Screens of a third-party plugin, and of the list of plugins. */
const contributed = async (server: TestServer): Promise<readonly Screen[]> => {
  const { admin } = server
  const call = server.as(admin.key)
  const dataset = await newDataset(call, { name: 'Beech plots', description: 'Tables, a photo and notes of the plots.' })
  for (const plot of [1, 2, 3, 4, 5, 6]) await upload(call, dataset, 'time,lai\n2026-07-01,2.1\n', `plot ${plot}.csv`, { type: 'text/csv' })
  for (const note of [1, 2]) await upload(call, dataset, '# Notes', `notes ${note}.md`, { type: 'text/markdown' })
  const path = `/datasets/${dataset}`
  return [
    { name: 'plugins', path: '/admin/plugins', as: admin },
    { name: 'access', path: '/admin/access', as: admin, isDetail: true },
    { name: 'plugin-tab', path: `${path}?tab=example.file-types.tab`, as: admin },
    { name: 'plugin-page', path: '/parts/example.file-types.page', as: admin, isDetail: true },
    {
      name: 'plugin-action',
      path,
      as: admin,
      isDetail: true,
      act: async page => {
        await press('More actions')(page)
        await page.getByRole('menuitem', { name: 'List file names' }).click()
        await page.getByRole('dialog').getByText('plot 6.csv').waitFor()
      },
    },
  ]
}

const failing = ({ admin }: TestServer): readonly Screen[] => [
  {
    name: 'unreachable',
    path: '/datasets',
    as: admin,
    isDetail: true,
    isRefused: true,
    act: async page => {
      await page.route('**/api/**', route => route.abort())
      await page.goto('/collections')
    },
  },
]

const firstRun = async (server: TestServer): Promise<readonly Screen[]> => [
  { name: 'first-account', path: await setUpPath(server) },
  { name: 'first-account-link-expired', path: '/welcome?token=of-yesterday', isDetail: true, isRefused: true },
  { name: 'home-not-set-up', path: '/', isDetail: true },
]

const named = async (server: TestServer, firstName: string, lastName: string): Promise<void> => {
  const query = new URLSearchParams({ firstName, lastName })
  await server.as(server.admin.key)(`/api/users/${server.admin.id}/updateName?${query}`, { method: 'POST' })
}

/** The pending requests of a page, except the live stream and intentionally stalled requests, which never end. */
const loadsOf = (page: Page): ReadonlySet<Request> => {
  const loading = new Set<Request>()
  page.on('request', request => !request.url().includes('/api/live') && loading.add(request))
  page.on('requestfinished', request => loading.delete(request))
  page.on('requestfailed', request => loading.delete(request))
  return loading
}

/** How long nothing may be loading before a page is settled: rendering a response may lead to another request. */
const quietMs = 300
const limitMs = 5000

/** Waits until a page has loaded its content. */
const settled = async (page: Page, loading: ReadonlySet<Request>): Promise<void> => {
  await page.locator('#app :is(h1, h2)').first().waitFor()
  await page.evaluate('document.fonts.ready')
  let quietSince = performance.now()
  for (const end = performance.now() + limitMs; performance.now() < Math.min(end, quietSince + quietMs); ) {
    if (loading.size > stalled.length) quietSince = performance.now()
    await pause(20)
  }
  await page.locator('.part[aria-busy=true]').first().waitFor({ state: 'detached' })
}

const draw = async (context: BrowserContext, { name, path, act, isRefused = false }: Screen, variant: string): Promise<number> => {
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const problems: string[] = []
  page.on('pageerror', error => problems.push(String(error)))
  page.on('console', message => message.type() === 'error' && !isRefused && problems.push(message.text()))
  const loading = loadsOf(page)
  await page.goto(path)
  await settled(page, loading)
  await act?.(page)
  if (act) await settled(page, loading)
  const sideways = await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  if (sideways > 0) problems.push(`${sideways} px too wide`)
  const png = await page.screenshot({ animations: 'disabled' })
  const small = await sharp(png).png({ palette: true, quality: 90, effort: 8 }).toBuffer()
  await writeFile(new URL(`${name}-${variant}.png`, folder), small)
  for (const route of stalled.splice(0)) await route.abort()
  await page.close()
  for (const problem of problems) console.error(`${name}-${variant}: ${problem}`)
  return small.length
}

const isWanted = ({ name }: Screen): boolean => wanted.length === 0 || wanted.some(each => name.startsWith(each))

await webBuild()
await mkdir(folder, { recursive: true })
const browser = await chromiumForTests()
const servers: TestServer[] = []
const boot = async (options: BootOptions = {}): Promise<TestServer> => {
  const server = await bootForTest(options)
  servers.push(server)
  return server
}
let bytes = 0
let pictures = 0
const drawAll = async (server: TestServer, screens: readonly Screen[]): Promise<void> => {
  for (const screen of screens.filter(isWanted))
    for (const [variant, settings] of Object.entries(variants)) {
      if (screen.isDetail && variant !== 'light') continue
      const context = await browser.newContext({
        ...settings,
        baseURL: server.url,
        reducedMotion: 'reduce',
        locale: 'en-GB',
        timezoneId: 'UTC',
      })
      if (screen.as) {
        const { email, password } = screen.as
        await context.request.post('/api/login', { data: { email, password } })
      }
      try {
        bytes += await draw(context, screen, variant)
        pictures += 1
      } catch (error) {
        console.error(`${screen.name}-${variant}: ${error}`)
        process.exitCode = 1
      }
      await context.close()
    }
}

try {
  const full = await boot()
  await drawAll(full, plenty(full, await seed(full)))
  const bare = await boot()
  await named(bare, 'Marie', 'Curie')
  await drawAll(bare, [...nothing(bare), ...failing(bare)])
  const extended = await boot({ also: [fileURLToPath(new URL('../examples/file-types/', import.meta.url))] })
  await named(extended, 'Marie', 'Curie')
  await drawAll(extended, await contributed(extended))
  const fresh = await boot({ admin: 'none' })
  await drawAll(fresh, await firstRun(fresh))
  console.log(`${pictures} pictures, ${Math.round(bytes / 1000)} kB`)
} finally {
  await browser.close()
  for (const server of servers) await server.stop()
}
