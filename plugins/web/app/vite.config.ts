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
      preserveEntrySignatures: 'exports-only',
      // "use client" of React's libraries means nothing here.
      onLog: (level, log, handle) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : handle(level, log)),
    },
  },
  // Workers load their parts on demand.
  worker: { format: 'es' },
  plugins: [icons(), compressedCopies(), developmentPage()],
  server: {
    proxy: { '^/(?:api|docs|web/sample|openapi\\.json)(?:[/?]|$)': process.env['POUNCE_URL'] ?? 'http://127.0.0.1:9000' },
  },
})
