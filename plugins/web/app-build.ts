import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Log, wire } from 'pounce/sdk'

const app = fileURLToPath(new URL('./app/', import.meta.url))
const dist = fileURLToPath(new URL('./dist/', import.meta.url))
const lockFile = fileURLToPath(new URL('../../package-lock.json', import.meta.url))

/** A file of the build, with its precompressed encodings. */
export interface BuiltFile {
  readonly path: string
  readonly sizeBytes: number
  readonly encodings: Readonly<Partial<Record<'br' | 'gzip', { readonly path: string; readonly sizeBytes: number }>>>
}

/** What the HTML shell of a page links to: paths below `dist`. */
export interface EntryFiles {
  readonly script: string
  readonly styles: readonly string[]
  /** Modules imported by the entry, to be preloaded. */
  readonly modules: readonly string[]
  readonly fonts: readonly string[]
}

/** A module that pages load on demand, with its style sheets: paths below `dist`. */
export interface BuiltModule {
  readonly script: string
  readonly styles: readonly string[]
}

interface ReadyBuild {
  readonly entry: EntryFiles
  /** Entries other than the page itself, by their path below `app`: viewers. */
  readonly modules: ReadonlyMap<string, BuiltModule>
  readonly files: ReadonlyMap<string, BuiltFile>
}

/** `building`: the pages appear when it is done. `missing`: there is no build, and Vite is not installed. */
export type BuildState = 'building' | 'missing' | ReadyBuild

interface ManifestChunk {
  readonly name?: string
  readonly file: string
  readonly css?: readonly string[]
  readonly assets?: readonly string[]
  readonly imports?: readonly string[]
  readonly isEntry?: boolean
}

/**
 * The built files of the web interface. `npm ci` builds them; if they are missing or older than the sources, a child process builds them while the API
 * is already being served. Nothing is read before the first page is requested.
 */
export class AppBuild {
  #log: Log
  #checked: Promise<void> | undefined
  #state: BuildState = 'missing'
  #builder: ChildProcess | undefined

  constructor(log: Log) {
    this.#log = log
  }

  dispose(): void {
    this.#builder?.kill()
  }

  /** The current build. The first call reads the folder, and starts a build when it is stale. */
  async state(): Promise<BuildState> {
    this.#checked ??= this.#check().catch((error: unknown) => {
      this.#checked = undefined
      throw error
    })
    await this.#checked
    return this.#state
  }

  async #check(): Promise<void> {
    const isCurrent = await isBuilt()
    if (isCurrent || !hasVite()) {
      if (!isCurrent) this.#log.warn('Web interface not built, or older than its sources, and Vite is not installed')
      if (isCurrent || existsSync(join(dist, 'stamp'))) this.#state = await readBuild()
      return
    }
    this.#state = 'building'
    this.#log.info('Building the web interface')
    const builder = spawnBuild()
    this.#builder = builder
    void ended(builder).then(code => this.#finish(code))
  }

  async #finish(code: number | null): Promise<void> {
    this.#builder = undefined
    if (code === 0) this.#state = await readBuild()
    else {
      this.#state = 'missing'
      this.#log.error('Building the web interface failed; run `npm run web:build` for the reason', { code })
    }
  }
}
wire(AppBuild, Log)

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise(resolve => {
    child.once('error', () => resolve(null))
    child.once('exit', resolve)
  })

const readBuild = async (): Promise<ReadyBuild> => {
  const manifest = JSON.parse(await readFile(join(dist, '.vite/manifest.json'), 'utf8')) as Readonly<Record<string, ManifestChunk>>
  const entry = manifest['main.tsx']
  if (!entry) throw new Error(`The web interface in ${dist} has no entry: run \`npm run web:build\``)
  const files = entryFiles(entry, manifest)
  const modules = Object.entries(manifest)
    .filter(([, chunk]) => chunk.isEntry && chunk !== entry)
    .map(([name, chunk]) => [name, { script: chunk.file, styles: stylesOf(loadedWith(chunk, manifest), files.styles) }] as const)
  return { entry: files, modules: new Map(modules), files: await builtFiles() }
}

/** A chunk and its imports. */
const loadedWith = (entry: ManifestChunk, manifest: Readonly<Record<string, ManifestChunk>>): readonly ManifestChunk[] => {
  const seen = new Set<ManifestChunk>()
  const visit = (chunk: ManifestChunk): void => {
    if (seen.has(chunk)) return
    seen.add(chunk)
    for (const name of chunk.imports ?? []) if (manifest[name]) visit(manifest[name])
  }
  visit(entry)
  return [...seen]
}

/** Style sheets of chunks, except those that are loaded anyway. */
const stylesOf = (chunks: readonly ManifestChunk[], loaded: readonly string[] = []): readonly string[] => [
  ...new Set(chunks.flatMap(chunk => chunk.css ?? []).filter(file => !loaded.includes(file))),
]

const entryFiles = (entry: ManifestChunk, manifest: Readonly<Record<string, ManifestChunk>>): EntryFiles => {
  const [, ...chunks] = loadedWith(entry, manifest)
  // The entry is one line that imports the chunk with its module.
  const script = chunks.find(({ name }) => name === 'app') ?? entry
  return {
    script: script.file,
    styles: stylesOf(chunks),
    modules: chunks.filter(chunk => chunk !== script).map(chunk => chunk.file),
    fonts: [...new Set(chunks.flatMap(chunk => chunk.assets ?? []))].filter(
      file => file.includes('next-latin-wght') || file.includes('newsreader'),
    ),
  }
}

const builtFiles = async (): Promise<ReadonlyMap<string, BuiltFile>> => {
  const names = (await readdir(dist, { recursive: true, withFileTypes: true }))
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(dist.length))
  const sizes = new Map(await Promise.all(names.map(async name => [name, (await stat(join(dist, name))).size] as const)))
  const encoded = (name: string) => ({ path: join(dist, name), sizeBytes: sizes.get(name) ?? 0 })
  return new Map(
    names
      .filter(name => name.startsWith('assets/') && !/\.(?:br|gz)$/.test(name))
      .map(name => [
        name,
        {
          ...encoded(name),
          encodings: {
            ...(sizes.has(`${name}.br`) ? { br: encoded(`${name}.br`) } : {}),
            ...(sizes.has(`${name}.gz`) ? { gzip: encoded(`${name}.gz`) } : {}),
          },
        },
      ]),
  )
}

const viteProgram = (): string | undefined => {
  try {
    return join(createRequire(import.meta.url).resolve('vite/package.json'), '../bin/vite.js')
  } catch {
    return undefined
  }
}

/** Whether this installation can build the web interface, which requires the development dependencies. */
export const hasVite = (): boolean => viteProgram() !== undefined && existsSync(join(app, 'vite.config.ts'))

/** Starts Vite, which replaces `dist` at its end. */
export const spawnBuild = (output: 'ignore' | 'inherit' = 'ignore'): ChildProcess =>
  spawn(process.execPath, [viteProgram() ?? '', 'build', '--config', join(app, 'vite.config.ts'), '--logLevel', 'warn'], {
    cwd: app,
    stdio: ['ignore', output, output],
    env: { ...process.env, NODE_ENV: 'production' },
  })

/** A digest of the sources and the lock file, which identifies a build. */
export const sourceStamp = async (): Promise<string> => {
  const entries = (await readdir(app, { recursive: true, withFileTypes: true })).filter(entry => entry.isFile())
  const paths = entries.map(entry => join(entry.parentPath, entry.name)).sort()
  const digest = createHash('sha256')
  for (const path of [...paths, ...(existsSync(lockFile) ? [lockFile] : [])]) {
    digest.update(path.slice(app.length))
    digest.update(await readFile(path))
  }
  return digest.digest('hex')
}

/** Whether `dist` contains a build of the current sources. */
export const isBuilt = async (): Promise<boolean> => {
  if (!existsSync(join(dist, 'stamp'))) return false
  if (!existsSync(app)) return true
  return (await readFile(join(dist, 'stamp'), 'utf8')) === (await sourceStamp())
}
