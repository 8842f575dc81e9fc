import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin, RolldownOutput } from 'rolldown'
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

/** Packages that every start loads. All others stay outside: they are loaded when they are first used, and some look for files of theirs. */
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
const inPackages = `${sep}node_modules${sep}`
const place = '__placeOfModule__'
const slashes = (path: string): string => path.split(sep).join('/')
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
const indexFile = (id: string): string => ownPluginFile(id) ?? ''

/** What is loaded by every start with the usual plugins, one chunk. */
const usualModules = (): readonly string[] => {
  const { plugins, basePlugins } = JSON.parse(readFileSync(join(root, 'config/default.json'), 'utf8')) as Record<string, readonly string[]>
  const sdk = [...sdkEntries].filter(([name]) => !/\/(?:testing|language)$/.test(name)).map(([, file]) => file)
  const core = ['core/cli/start.ts', 'core/http/server.ts']
  return [entry, ...[...core, ...sdk].map(file => join(root, file)), ...[...(plugins ?? []), ...(basePlugins ?? [])].map(indexFile)]
}

const entryModule = (): string =>
  [
    `import { bundledPlugins } from ${JSON.stringify(join(root, 'core/own-plugins.ts'))}`,
    ...ownPluginIds().map(id => `bundledPlugins.set(${JSON.stringify(id)}, () => import(${JSON.stringify(indexFile(id))}))`),
    `export { run } from ${JSON.stringify(join(root, 'core/cli/run.ts'))}`,
    `export { standardOutput, surviveClosedPipes } from ${JSON.stringify(join(root, 'core/cli/output.ts'))}`,
  ].join('\n')

/** V8 keeps text in two bytes per character when one character needs them. */
const asciiOnly = (code: string): string =>
  code.replace(/[^\0-\x7f]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Resolves as the program does, and lets each module go on knowing where its source lies: workers, migrations and data are found from there. */
const bundling = (folder: string): { readonly plugin: Plugin; readonly usual: ReadonlySet<string> } => {
  const usual = new Set<string>()
  const plugin: Plugin = {
    name: 'pounce',
    resolveId(specifier, importer, { kind }) {
      if (specifier === entry) return entry
      const sdk = sdkEntries.get(specifier)
      if (sdk !== undefined) return join(root, sdk)
      if (specifier.startsWith('node:')) return { id: specifier, external: true }
      const isBundled = kind !== 'dynamic-import' && bundledPackages.has(packageOf(specifier))
      return /^[./]|^[A-Za-z]:/.test(specifier) || importer?.includes(inPackages) || isBundled ? null : { id: specifier, external: true }
    },
    load: id => (id === entry ? entryModule() : null),
    transform: {
      filter: { id: { exclude: /[\\/]node_modules[\\/]/ }, code: /import\.meta\.url/ },
      handler: (code, id) =>
        code
          .replace(/createRequire\(import\.meta\.url\)\('([^'.][^']*)'\)/g, (text, name: string) =>
            bundledPackages.has(packageOf(name)) ? `require('${name}')` : text,
          )
          .replaceAll('import.meta.url', `${place}(${JSON.stringify(slashes(relative(root, id)))})`),
    },
    buildEnd() {
      const visit = (id: string): void => {
        const module = usual.has(id) ? null : this.getModuleInfo(id)
        if (!module) return
        usual.add(id)
        module.importedIds.forEach(visit)
      }
      usualModules().forEach(visit)
    },
    renderChunk: (code, { fileName }) => {
      const toRoot = slashes(relative(dirname(join(folder, fileName)), root))
      const placed = code.replace(
        new RegExp(`${place}\\("([^"]+)"\\)`, 'g'),
        (_, path: string) => `new URL("${toRoot}/${path}", import.meta.url).href`,
      )
      return { code: asciiOnly(placed) }
    },
  }
  return { plugin, usual }
}

const chunkName = (name: string): string => name.slice('pounce/'.length).replaceAll('/', '-')

const bundle = async (folder: string): Promise<RolldownOutput> => {
  const { build } = await import('rolldown')
  const { plugin, usual } = bundling(folder)
  return build({
    cwd: root,
    platform: 'node',
    input: { pounce: entry, ...Object.fromEntries([...sdkEntries].map(([name, file]) => [chunkName(name), join(root, file)])) },
    plugins: [plugin],
    // A symbolic link that comes to lead elsewhere must be noticed.
    resolve: { symlinks: false },
    preserveEntrySignatures: 'allow-extension',
    tsconfig: false,
    treeshake: false,
    // What is replaced stays in its line: lines are right, columns behind it are not.
    checks: { eval: false, sourcemapBroken: false },
    logLevel: 'warn',
    output: {
      dir: folder,
      format: 'es',
      sourcemap: true,
      keepNames: true,
      comments: { legal: true, annotation: false, jsdoc: false },
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: 'main', test: id => usual.has(id) }] },
    },
  })
}

type FileStamp = readonly [path: string, sizeBytes: number, changedMs: number]

const stampOf = (path: string): FileStamp => {
  const { size, mtimeMs } = statSync(path)
  return [slashes(relative(root, path)), size, mtimeMs]
}

/** Files that decide what the bundle is: its modules, and what says which they are. */
const sourcesOf = (output: RolldownOutput['output']): readonly string[] => {
  const modules = output.flatMap(one => (one.type === 'chunk' ? one.moduleIds : []))
  const files = modules.filter(id => id !== entry && !id.startsWith('\0'))
  return [
    ...new Set([...files, ...['package.json', 'config/default.json', 'scripts/server-bundle.ts'].map(file => join(root, file))]),
  ].sort()
}

/** `files` are compared at each start, by size and time of change. */
export interface BundleManifest {
  readonly id: string
  readonly folder: string
  readonly sdk: Readonly<Record<string, string>>
  readonly files?: readonly FileStamp[]
}

/**
 * Builds the server into a folder of its own below `dist`, which the manifest then names: a server that runs goes on loading from its own. The one
 * before the last is deleted.
 */
export const buildServer = async (dist: string = join(root, 'dist')): Promise<BundleManifest> => {
  const begun = Date.now()
  const id = begun.toString(36)
  const { output } = await bundle(join(dist, id))
  const files = sourcesOf(output).map(stampOf)
  const late = files.find(([, , changedMs]) => changedMs >= begun)
  if (late) throw new Error(`${late[0]} changed during the build: build again`)
  const digest = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16)
  const sdk = Object.fromEntries([...sdkEntries.keys()].map(name => [name, `${chunkName(name)}.js`]))
  const manifest = { id: digest, folder: `./${id}/`, sdk, files }
  const path = join(dist, 'manifest.json')
  const before = await readFile(path, 'utf8').then(
    text => (JSON.parse(text) as BundleManifest).folder.slice(2, -1),
    () => undefined,
  )
  await writeFile(`${path}.new`, JSON.stringify(manifest))
  await rename(`${path}.new`, path)
  const kept = [id, before]
  for (const one of await readdir(dist, { withFileTypes: true }))
    if (one.isDirectory() && !kept.includes(one.name)) await rm(join(dist, one.name), { recursive: true })
  return manifest
}
