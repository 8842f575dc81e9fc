import { globSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'
import { sourceStamp } from '../app-build.ts'
import { iconNames } from './components/icon-names.ts'

const dist = join(import.meta.dirname, '../dist')
/** A folder of this process, since several servers or tests may build after the same edit. */
const unfinished = join(dist, `unfinished-${process.pid}`)

/** Replaces a folder that another build may replace at the same time. */
const replace = async (folder: string, by: string): Promise<void> => {
  for (;;) {
    await rm(folder, { recursive: true, force: true })
    try {
      return await rename(by, folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
    }
  }
}

/** Removes what builds left that were stopped. */
const removeAbandoned = async (): Promise<void> => {
  for (const name of globSync('unfinished-*', { cwd: dist })) {
    try {
      process.kill(Number(name.split('-')[1]), 0)
    } catch {
      await rm(join(dist, name), { recursive: true, force: true })
    }
  }
}

/** Compressed copies of each text file, so that the server only sends them, and the stamp by which it knows the build is current. */
const compressedCopies = (): Plugin => ({
  name: 'compressed-copies',
  apply: 'build',
  buildStart: removeAbandoned,
  async writeBundle() {
    const stamp = await sourceStamp()
    const folder = join(unfinished, 'assets')
    const names = (await readdir(folder)).filter(name => /\.(?:js|css|svg|json|wasm)$/.test(name))
    await Promise.all(
      names.map(async name => {
        const bytes = await readFile(join(folder, name))
        if (bytes.length < 1024) return
        const [br, gz] = await Promise.all([
          promisify(brotliCompress)(bytes, {
            params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
          }),
          promisify(gzip)(bytes, { level: 9 }),
        ])
        await Promise.all([writeFile(join(folder, `${name}.br`), br), writeFile(join(folder, `${name}.gz`), gz)])
      }),
    )
    for (const name of await readdir(unfinished)) await replace(join(dist, name), join(unfinished, name))
    await writeFile(join(dist, 'stamp'), stamp)
    await rm(unfinished, { recursive: true })
  },
})

/** `virtual:icons`: the paths of the icons that the pages use, and of no others. */
const icons = (): Plugin => ({
  name: 'icons',
  resolveId: id => (id === 'virtual:icons' ? '\0virtual:icons' : undefined),
  async load(id) {
    if (id !== '\0virtual:icons') return undefined
    const path = createRequire(import.meta.url).resolve('@iconify-json/lucide/icons.json')
    const { icons: all } = JSON.parse(await readFile(path, 'utf8')) as {
      readonly icons: Readonly<Record<string, { readonly body: string }>>
    }
    const missing = iconNames.filter(name => !all[name])
    if (missing.length > 0) throw new Error(`Lucide has no icon ${missing.join(', ')}`)
    return `export default ${JSON.stringify(Object.fromEntries(iconNames.map(name => [name, all[name]?.body])))}`
  },
})

/** pdf.js keeps all that it exports in a global variable, also what nothing here imports: editors, forms, signatures. */
const pdfWithoutGlobal = (): Plugin => ({
  name: 'pdf-without-global',
  transform: {
    filter: { id: /[\\/]pdfjs-dist[\\/]build[\\/]pdf\.mjs$/ },
    handler(code) {
      if (!code.includes('globalThis.pdfjsLib = {')) this.error('pdf.js sets no global variable: this plugin is not needed any more')
      return { code: code.replace('globalThis.pdfjsLib = {', 'void {'), map: null }
    },
  },
})

/** `npm run web:dev`: the page around the script, which a running server has in `shell.ts`. */
const developmentPage = (): Plugin => ({
  name: 'development-page',
  apply: 'serve',
  configureServer: server => () => {
    server.middlewares.use((request, response, next) => {
      const html =
        '<!doctype html><html lang="en" data-base=""><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Pounce</title><div id="app"></div><script type="module" src="/main.tsx"></script></html>'
      const isPage = request.method === 'GET' && request.headers.accept?.includes('text/html')
      if (!isPage) next()
      else
        server.transformIndexHtml(request.originalUrl ?? '/', html).then(page => {
          response.setHeader('content-type', 'text/html; charset=utf-8')
          response.end(page)
        }, next)
    })
  },
})

/** The page, what runs in the frames of parts, and each viewer as a module of its own that the page loads by the address that the server lists. */
const entries = (): Readonly<Record<string, string>> => {
  const viewers = globSync('viewers/*/index.ts', { cwd: import.meta.dirname })
  const named = viewers.map(file => [`viewer-${basename(dirname(file))}`, join(import.meta.dirname, file)] as const)
  return { main: join(import.meta.dirname, 'main.tsx'), frame: join(import.meta.dirname, 'frame/main.ts'), ...Object.fromEntries(named) }
}

const isOwn = (id: string): boolean => !id.includes('node_modules')

/**
 * Modules that the script of the pages needs at once, those that dialogs need besides, and all that pages may load. Viewers and frames are entries
 * too, and must not enlarge them.
 */
const ofPages = { first: new Set<string>(), dialogs: new Set<string>(), all: new Set<string>() }

const findModulesOfPages = (): Plugin => ({
  name: 'modules-of-pages',
  apply: 'build',
  buildEnd() {
    const reach = (id: string, found: Set<string>, isLazy: boolean): void => {
      // Dialogs know of menus, and have none.
      if (found.has(id) || (found === ofPages.dialogs && /[\\/](?:Menu|Popover|Collection|SelectionIndicator)\.mjs$/.test(id))) return
      found.add(id)
      const info = this.getModuleInfo(id)
      for (const each of [...(info?.importedIds ?? []), ...(isLazy ? (info?.dynamicallyImportedIds ?? []) : [])]) reach(each, found, isLazy)
    }
    const main = join(import.meta.dirname, 'main.tsx')
    reach(main, ofPages.first, false)
    reach(join(import.meta.dirname, 'components/dialog.tsx'), ofPages.dialogs, false)
    reach(main, ofPages.all, true)
  },
})

const isOfPages = (id: string): boolean => isOwn(id) && ofPages.all.has(id)
const isFrom = (id: string, packages: readonly string[]): boolean => packages.some(name => id.includes(`/node_modules/${name}/`))
const isMarkdown = (id: string): boolean => /[\\/](?:markdown|safe-html)\.ts$/.test(id)
const isGrid = (id: string): boolean =>
  /[\\/](?:thing-parts|read-access|resource-list|virtual-grid|grid-[\w-]+|collection-tree|selection(?:-bar)?)\.tsx?$/.test(id)

const editorPackages = [
  ...['codemirror', 'crelt', 'style-mod', 'w3c-keyname', '@marijn/find-cluster-break', '@lezer/common', '@lezer/highlight'],
  ...['state', 'view', 'language', 'language-data', 'search', 'commands', 'streamparser'].map(name => `@codemirror/${name}`),
]

/** A chunk of modules, and of nothing that they import: the order of the groups decides to which a module belongs. */
const group = (name: string, test: (id: string) => boolean, minShareCount = 2) =>
  ({ name, test, minShareCount, includeDependenciesRecursively: false }) as const

/** So that a page is few requests, and none loads much that others need: first what all pages need, then what most of them share, then what viewers do. */
const chunkGroups = [
  group('libraries', id => !isOwn(id) && ofPages.first.has(id), 1),
  group('app', id => isOwn(id) && ofPages.first.has(id), 1),
  group('lists', id => (isOwn(id) ? isOfPages(id) && !isMarkdown(id) && !isGrid(id) : ofPages.dialogs.has(id))),
  group('grids', id => (isOfPages(id) && isGrid(id)) || isFrom(id, ['@tanstack'])),
  group('controls', id => isFrom(id, ['react-aria', 'react-stately', 'react-aria-components', '@internationalized']), 1),
  group('tables', id => /[\\/]viewers[\\/]table[\\/].*\.tsx?$/.test(id) || isFrom(id, ['uplot'])),
  // One style sheet for all of them; frames have their own, and load nothing of pages.
  group('viewers', id => isOwn(id) && /[\\/]viewers[\\/](?:lib[\\/])?[\w-]+\.tsx?$|[\\/](?:viewers|styles)[\\/].*\.css$/.test(id), 1),
  group('editor', id => isFrom(id, editorPackages)),
  group('languages', id => isFrom(id, ['@codemirror/autocomplete', '@lezer/lr'])),
  {
    name: 'shared',
    minShareCount: 2,
    test: id => isOfPages(id) && !isMarkdown(id),
    entriesAware: true,
    entriesAwareMergeThreshold: 15_000,
  },
]

export default defineConfig({
  root: import.meta.dirname,
  // Relative, as the server may be below a path of its proxy.
  base: './',
  publicDir: false,
  build: {
    outDir: unfinished,
    emptyOutDir: true,
    manifest: true,
    modulePreload: { polyfill: false },
    target: 'es2023',
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      input: entries(),
      // Pages call what viewers export.
      preserveEntrySignatures: 'allow-extension',
      output: { codeSplitting: { groups: chunkGroups } },
      // "use client" of React's libraries means nothing here.
      onLog: (level, log, handle) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : handle(level, log)),
    },
  },
  // Workers load their parts on demand.
  worker: { format: 'es' },
  plugins: [icons(), pdfWithoutGlobal(), findModulesOfPages(), compressedCopies(), developmentPage()],
  server: {
    proxy: { '^/(?:api|docs|web/sample|openapi\\.json)(?:[/?]|$)': process.env['POUNCE_URL'] ?? 'http://127.0.0.1:9000' },
  },
})
