import { globSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'
import { sourceStamp } from '../app-build.ts'
import { iconNames } from './components/icon-names.ts'

const dist = join(import.meta.dirname, '../dist')

/** Compressed copies of each text file, so that the server only sends them, and the stamp by which it knows the build is current. */
const compressedCopies = (): Plugin => ({
  name: 'compressed-copies',
  apply: 'build',
  async writeBundle() {
    const stamp = await sourceStamp()
    const folder = join(dist, 'assets')
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
    await writeFile(join(dist, 'stamp'), stamp)
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

/** Modules that the script of the pages needs at once, and all that pages may load. Viewers and frames are entries too, and must not enlarge them. */
const ofPages = { first: new Set<string>(), all: new Set<string>() }

const findModulesOfPages = (): Plugin => ({
  name: 'modules-of-pages',
  apply: 'build',
  buildEnd() {
    const reach = (id: string, found: Set<string>, isLazy: boolean): void => {
      if (found.has(id)) return
      found.add(id)
      const info = this.getModuleInfo(id)
      for (const each of [...(info?.importedIds ?? []), ...(isLazy ? (info?.dynamicallyImportedIds ?? []) : [])]) reach(each, found, isLazy)
    }
    const main = join(import.meta.dirname, 'main.tsx')
    reach(main, ofPages.first, false)
    reach(main, ofPages.all, true)
  },
})

/**
 * So that a page is few requests, and none loads much that others need: libraries and own modules of the first script, controls by the pages that use them,
 * what most pages with lists share. Only the last two take along what their modules import: a control is imported by way of a module that has all.
 */
const chunkGroups = [
  {
    name: 'libraries',
    priority: 4,
    includeDependenciesRecursively: false,
    test: /node_modules[\\/](?:react|react-dom|scheduler|use-sync-external-store|i18next|react-i18next|@tanstack[\\/](?:react-router|router-core|history|react-store|store|react-query|query-core))[\\/]/,
  },
  { name: 'app', priority: 3, includeDependenciesRecursively: false, test: (id: string) => isOwn(id) && ofPages.first.has(id) },
  {
    name: 'lists',
    priority: 2,
    minShareCount: 2,
    includeDependenciesRecursively: false,
    test: (id: string) =>
      isOwn(id) &&
      ofPages.all.has(id) &&
      !/[\\/](?:markdown|safe-html|thing-parts|read-access|resource-list|virtual-grid|grid-[\w-]+|collection-tree|selection[\w-]*)\.tsx?$/.test(
        id,
      ),
  },
  {
    name: 'grids',
    priority: 2,
    minShareCount: 2,
    includeDependenciesRecursively: false,
    // Markdown is for the README of a dataset and for viewers.
    test: (id: string) => isOwn(id) && ofPages.all.has(id) && !/[\\/](?:markdown|safe-html)\.tsx?$/.test(id),
  },
  {
    name: 'tables',
    priority: 2,
    minShareCount: 2,
    includeDependenciesRecursively: false,
    test: /[\\/](?:viewers[\\/]table[\\/]|node_modules[\\/]uplot[\\/])/,
  },
  {
    name: 'viewers',
    priority: 2,
    minShareCount: 2,
    includeDependenciesRecursively: false,
    test: /[\\/]viewers[\\/](?:lib[\\/])?[\w-]+\.(?:tsx?|css)$|[\\/](?:worker-calls|react-part|encoding)\.tsx?$/,
  },
  {
    name: 'controls',
    priority: 1,
    test: (id: string) => ofPages.first.has(id),
    entriesAware: true,
    entriesAwareMergeThreshold: 60_000,
  },
  {
    name: 'shared',
    minShareCount: 2,
    test: (id: string) => ofPages.all.has(id),
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
    outDir: dist,
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
  plugins: [icons(), findModulesOfPages(), compressedCopies(), developmentPage()],
  server: {
    proxy: { '^/(?:api|docs|web/sample|openapi\\.json)(?:[/?]|$)': process.env['POUNCE_URL'] ?? 'http://127.0.0.1:9000' },
  },
})
