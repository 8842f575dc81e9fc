import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { InputOptions, Plugin, RolldownOutput } from 'rolldown'
import { ownPluginFile, ownPluginIds } from '../core/own-plugins.ts'

/** The program's folder. */
export const root: string = fileURLToPath(new URL('../', import.meta.url))

const { exports: exported } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string>>
}

/** Entries of the SDK as plugins name them (`pounce/sdk/kit`), with their files. */
export const sdkEntries: ReadonlyMap<string, string> = new Map(
  Object.entries(exported).map(([name, file]) => [`pounce${name.slice(1)}`, file]),
)

/** Packages that every start loads. All others stay external: they are loaded on first use, and some locate their own files. */
const bundledPackages = new Set([
  '@koa/router',
  'awilix',
  'content-disposition',
  'content-type',
  'koa',
  'mime-types',
  'negotiator',
  'pino',
  'range-parser',
  'reflect-metadata',
  'tsyringe',
])

const entry = 'pounce:entry'

/** Koa and its dependencies load two versions of it at start: 1 MB of tables that common requests do not need. */
const requiredLater = 'mime-types'
const later = '\0pounce:later:'
/** Replaces pino's caller lookup, which locates transports relative to the calling files and is not needed here. */
const noCallers = '\0pounce:no-callers'
const tables = /[\\/]mime-db[\\/]db\.json$/

/** A stub with the functions of the package that loads it on the first call. */
const laterModule = (file: string): string =>
  ['charset', 'contentType', 'extension', 'lookup']
    .map(name => `exports.${name} = value => require(${JSON.stringify(file)}).${name}(value)`)
    .join('\n')

const inPackages = `${sep}node_modules${sep}`
const place = '__placeOfModule__'
const slashes = (path: string): string => path.split(sep).join('/')
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
const indexFile = (id: string): string => ownPluginFile(id) ?? ''

/** The modules that every start with the default plugins loads: one chunk. */
const usualModules = (): readonly string[] => {
  const { plugins, basePlugins } = JSON.parse(readFileSync(join(root, 'config/default.json'), 'utf8')) as Record<string, readonly string[]>
  const sdk = [...sdkEntries].filter(([name]) => !/\/(?:testing|language)$/.test(name)).map(([, file]) => file)
  const core = ['core/cli/start.ts', 'core/http/server.ts']
  return [...[...core, ...sdk].map(file => join(root, file)), ...[...(plugins ?? []), ...(basePlugins ?? [])].map(indexFile)]
}

const entryModule = (): string =>
  [
    `export { run } from ${JSON.stringify(join(root, 'core/cli/run.ts'))}`,
    `export { standardOutput, surviveClosedPipes } from ${JSON.stringify(join(root, 'core/cli/output.ts'))}`,
  ].join('\n')

const noPlugins = 'new Map<string, () => Promise<{ readonly plugin?: unknown }>>()'

/** The bundle's list of plugins, each imported on first use. */
const withPlugins = (code: string): string => {
  if (!code.includes(noPlugins)) throw new Error('core/own-plugins.ts contains no list of bundled plugins')
  const loaders = ownPluginIds().map(id => `[${JSON.stringify(id)}, () => import(${JSON.stringify(indexFile(id))})]`)
  return code.replace(noPlugins, `new Map([${loaders.join()}])`)
}

/** Wrapped in a named function: V8 eagerly compiles parenthesized functions, such as the bundler's modules, even if they are never called. */
const tablesModule = async (file: string): Promise<string> =>
  `function tables() { return ${await readFile(file, 'utf8')} }\nmodule.exports = tables()`

/** Escapes non-ASCII characters: V8 stores a string with two bytes per character if one of them needs it. */
const asciiOnly = (code: string): string =>
  code.replace(/[^\0-\x7f]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The output folder, and whether it is the complete program: then modules that are located by URL become files of it. */
interface Target {
  readonly folder: string
  readonly isPackage: boolean
  /** Collects the modules of other threads and processes. */
  readonly elsewhere: Set<string>
}

const withoutImports = /new URL\('\.\/([^']+)\.ts', import\.meta\.url\)/g
const migrationsFolder = /new URL\('\.\/migrations\/', import\.meta\.url\)/
const asScript = (path: string): string => path.replace(/\.ts$/, '.js')

/** Modules of other threads and processes: workers and extractors. */
const elsewhereOf = (code: string, id: string): readonly string[] =>
  [...code.matchAll(withoutImports)].map(([, name]) => join(dirname(id), `${name}.ts`))

const migrationsOf = (code: string, id: string): readonly string[] => {
  const folder = join(dirname(id), 'migrations')
  const names = migrationsFolder.test(code) ? readdirSync(folder) : []
  return names.filter(name => /^\d.*(?<!\.test)\.ts$/.test(name)).map(name => join(folder, name))
}

interface Bundling {
  readonly plugin: Plugin
  /** Modules that every command loads, in a separate chunk: client commands load nothing of the server. */
  readonly first: ReadonlySet<string>
  readonly usual: ReadonlySet<string>
}

/** Resolves like the program, and preserves each module's source path, which workers, migrations and data are located by. */
const bundling = ({ folder, isPackage, elsewhere }: Target): Bundling => {
  const first = new Set<string>()
  const usual = new Set<string>()
  const plugin: Plugin = {
    name: 'pounce',
    resolveId(specifier, importer, { kind }) {
      if (specifier === entry) return entry
      if (specifier === requiredLater && kind === 'require-call')
        return this.resolve(specifier, importer, { kind, skipSelf: true }).then(found => found && later + found.id)
      // Both read line numbers at each start, which makes V8 keep a line table: 0.8 MB. Deprecated calls are reported only from the sources.
      if (specifier === 'depd') return this.resolve('depd/lib/browser/index.js', importer, { skipSelf: true })
      if (specifier === './lib/caller' && importer?.endsWith(`pino${sep}pino.js`)) return noCallers
      const sdk = sdkEntries.get(specifier)
      if (sdk !== undefined) return join(root, sdk)
      if (specifier.startsWith('node:')) return { id: specifier, external: true }
      const isBundled = kind !== 'dynamic-import' && bundledPackages.has(packageOf(specifier))
      return /^[./]|^[A-Za-z]:/.test(specifier) || importer?.includes(inPackages) || isBundled ? null : { id: specifier, external: true }
    },
    load(id) {
      if (id === entry) return entryModule()
      if (id === noCallers) return 'module.exports = () => []'
      if (id.startsWith(later)) return laterModule(id.slice(later.length))
      return tables.test(id) ? tablesModule(id).then(code => ({ code, moduleType: 'js' })) : null
    },
    transform: {
      filter: { id: { exclude: /[\\/]node_modules[\\/]/ }, code: /import\.meta\.url/ },
      handler(code, id) {
        const path = slashes(relative(root, id))
        for (const file of elsewhereOf(code, id)) elsewhere.add(file)
        if (isPackage)
          for (const file of migrationsOf(code, id))
            this.emitFile({ type: 'chunk', id: file, fileName: asScript(slashes(relative(root, file))), preserveSignature: 'strict' })
        return (path === 'core/own-plugins.ts' ? withPlugins(code) : code)
          .replace(/createRequire\(import\.meta\.url\)\('([^'.][^']*)'\)/g, (text, name: string) =>
            bundledPackages.has(packageOf(name)) ? `require('${name}')` : text,
          )
          .replace(/\.ts(['`], import\.meta\.url)/g, isPackage ? '.js$1' : '$&')
          .replaceAll('import.meta.url', `${place}(${JSON.stringify(isPackage ? asScript(path) : path)})`)
      },
    },
    buildEnd() {
      const collect = (found: Set<string>, start: readonly string[]): void => {
        const visit = (id: string): void => {
          const module = first.has(id) || found.has(id) ? null : this.getModuleInfo(id)
          if (!module) return
          found.add(id)
          module.importedIds.forEach(visit)
        }
        start.forEach(visit)
      }
      collect(first, [entry])
      collect(usual, usualModules())
    },
    renderChunk: (code, { fileName }) => {
      const toRoot = slashes(relative(dirname(join(folder, fileName)), isPackage ? folder : root)) || '.'
      const placed = code.replace(
        new RegExp(`${place}\\("([^"]+)"\\)`, 'g'),
        (_, path: string) => `new URL("${toRoot}/${path}", import.meta.url).href`,
      )
      return { code: placed }
    },
    // Not in renderChunk: rolldown reprints its result without the escapes.
    generateBundle(_, bundle) {
      for (const one of Object.values(bundle)) if (one.type === 'chunk') one.code = asciiOnly(one.code)
    },
  }
  return { plugin, first, usual }
}

const chunkName = (name: string): string => name.slice('pounce/'.length).replaceAll('/', '-')

/** Loaded only by servers under test. */
const answerCheck = 'core/http/testing/answer-check.ts'

const entriesOf = (isPackage: boolean): Readonly<Record<string, string>> => {
  if (!isPackage) {
    const sdk = [...sdkEntries].map(([name, file]) => [chunkName(name), join(root, file)])
    return { pounce: entry, 'answer-check': join(root, answerCheck), ...Object.fromEntries(sdk) }
  }
  const files = [...sdkEntries.values(), 'core/boot.ts', 'core/kernel/config.ts', answerCheck]
  return { 'chunks/pounce': entry, ...Object.fromEntries(files.map(file => [file.replace(/^\.\/|\.ts$/g, ''), join(root, file)])) }
}

const common = (plugin: Plugin): InputOptions => ({
  cwd: root,
  platform: 'node',
  plugins: [plugin],
  // A changed symbolic link must be detected.
  resolve: { symlinks: false },
  preserveEntrySignatures: 'allow-extension',
  tsconfig: false,
  // Replacements keep line numbers but not columns.
  checks: { eval: false, sourcemapBroken: false, ineffectiveDynamicImport: false },
  logLevel: 'warn',
})

const written = {
  format: 'es',
  keepNames: true,
  comments: { legal: true, annotation: false, jsdoc: false },
  entryFileNames: '[name].js',
} as const

/** Builds the server into a folder. */
const bundle = async (target: Target): Promise<RolldownOutput> => {
  const { folder: dir, isPackage } = target
  const { build } = await import('rolldown')
  const { plugin, first, usual } = bundling(target)
  return build({
    ...common(plugin),
    input: entriesOf(isPackage),
    treeshake: false,
    output: {
      ...written,
      dir,
      sourcemap: !isPackage,
      chunkFileNames: isPackage ? 'chunks/[name].js' : '[name].js',
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [first, usual].map((modules, at) => ({ name: at === 0 ? 'command' : 'main', test: (id: string) => modules.has(id) })),
      },
    },
  })
}

/** Builds the complete program into a folder: the server, and separately the modules of threads and processes, which load only what they need. */
export const bundlePackage = async (folder: string): Promise<void> => {
  const { build } = await import('rolldown')
  const elsewhere = new Set<string>()
  await bundle({ folder, isPackage: true, elsewhere })
  const files = [...elsewhere].map(file => slashes(relative(root, file)))
  await build({
    ...common(bundling({ folder, isPackage: true, elsewhere }).plugin),
    input: Object.fromEntries(files.map(file => [file.replace(/\.ts$/, ''), join(root, file)])),
    output: { ...written, dir: folder, chunkFileNames: 'chunks/elsewhere-[name].js' },
  })
}

type FileStamp = readonly [path: string, sizeBytes: number, changedMs: number]

const stampOf = (path: string): FileStamp => {
  const { size, mtimeMs } = statSync(path)
  return [slashes(relative(root, path)), size, mtimeMs]
}

/** The files that determine the bundle: its modules, and the files that select them. */
const sourcesOf = (output: RolldownOutput['output']): readonly string[] => {
  const modules = output.flatMap(one => (one.type === 'chunk' ? one.moduleIds : []))
  const files = modules.filter(id => id !== entry && !id.startsWith('\0'))
  return [
    ...new Set([...files, ...['package.json', 'config/default.json', 'scripts/server-bundle.ts'].map(file => join(root, file))]),
  ].sort()
}

/** `files` are compared at each start, by size and modification time. */
export interface BundleManifest {
  readonly id: string
  readonly folder: string
  readonly entry: string
  readonly sdk: Readonly<Record<string, string>>
  readonly files?: readonly FileStamp[]
}

/**
 * Builds the server into a new folder below `dist` and names it in the manifest, so that a running server keeps loading from its own folder. Keeps
 * the previous folder, and deletes older ones.
 */
export const buildServer = async (dist: string = join(root, 'dist')): Promise<BundleManifest> => {
  const begun = Date.now()
  const id = begun.toString(36)
  const { output } = await bundle({ folder: join(dist, id), isPackage: false, elsewhere: new Set() })
  const files = sourcesOf(output).map(stampOf)
  const late = files.find(([, , changedMs]) => changedMs >= begun)
  if (late) throw new Error(`${late[0]} changed during the build: build again`)
  const digest = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16)
  const sdk = Object.fromEntries([...sdkEntries.keys()].flatMap(name => [name, `@${name}`].map(one => [one, `${chunkName(name)}.js`])))
  const manifest = { id: digest, folder: `./${id}/`, entry: 'pounce.js', sdk, files }
  const path = join(dist, 'manifest.json')
  const before = await readFile(path, 'utf8').then(
    text => (JSON.parse(text) as BundleManifest).folder.slice(2, -1),
    () => undefined,
  )
  await writeFile(`${path}.new`, JSON.stringify(manifest))
  await rename(`${path}.new`, path)
  const kept = [id, before]
  for (const one of await readdir(dist, { withFileTypes: true }))
    if (one.isDirectory() && one.name !== 'packages' && !kept.includes(one.name)) await rm(join(dist, one.name), { recursive: true })
  return manifest
}
