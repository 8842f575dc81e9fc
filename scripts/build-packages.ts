import { execFile } from 'node:child_process'
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { writeClientPackage } from './client-package.ts'
import { writePythonClient } from './client-package-python.ts'
import { bundlePackage, root, sdkEntries } from './server-bundle.ts'

/** The input of `npm pack`: one folder per package. */
export const packages: string = join(root, 'dist/packages')
const pounce = join(packages, 'pounce')
const sdk = join(packages, 'sdk')

interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}

const writeJson = async (path: string, content: object): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `${JSON.stringify(content, undefined, 2)}\n`)
}

/** Files that are copied unchanged. */
const kept = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'config/default.json',
  'config/cluster.example.json',
  'config/production.example.json',
  'core/main.js',
  'core/bundle.js',
  'core/compile-cache.js',
  'core/installed-node.js',
  'examples/templates',
  'plugins/web/dist',
  'plugins/web/sample',
]

const scriptOf = (file: string): string => file.replace(/\.ts$/, '.js')
const typesOf = (file: string): string => file.replace(/\.ts$/, '.d.ts')

const entriesOf = (files: ReadonlyMap<string, string>): object =>
  Object.fromEntries([...files].map(([name, file]) => [name.replace('pounce', '.'), { types: typesOf(file), default: scriptOf(file) }]))

/** Emits the SDK's declarations with the compiler. */
const writeTypes = async (): Promise<void> => {
  const options = join(packages, 'tsconfig.json')
  await writeJson(options, {
    extends: '../../tsconfig.json',
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rewriteRelativeImportExtensions: true,
      rootDir: '../..',
      outDir: './pounce',
    },
    include: [],
    files: [...sdkEntries.values()].map(file => join('../..', file)),
  })
  await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', options], { cwd: root })
  await rm(options)
  for await (const path of glob('sdk/**/*.d.ts', { cwd: pounce })) {
    const text = await readFile(join(pounce, path), 'utf8')
    await writeFile(join(pounce, path), text.replace(/((?:from |import\()['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'))
  }
}

/** `@pounce/sdk` re-exports the SDK of the installed `pounce`, because a process must have a single instance of it. */
const writeSdk = async ({ version, description, license, engines }: Manifest): Promise<void> => {
  const files = new Map<string, string>()
  for (const name of sdkEntries.keys()) {
    const file = `./${name === 'pounce/sdk' ? 'index' : name.slice('pounce/sdk/'.length).replaceAll('/', '-')}.ts`
    files.set(name.replace('pounce/sdk', 'pounce'), file)
    const text = `export * from '${name}'\n`
    await mkdir(sdk, { recursive: true })
    await writeFile(join(sdk, scriptOf(file)), text)
    await writeFile(join(sdk, typesOf(file)), text)
  }
  await cp(join(root, 'LICENSE'), join(sdk, 'LICENSE'))
  await writeFile(
    join(sdk, 'README.md'),
    `# @pounce/sdk\n\nWhat plugins of [Pounce](https://www.npmjs.com/package/pounce) import. ${description}\n`,
  )
  await writeJson(join(sdk, 'package.json'), {
    name: '@pounce/sdk',
    version,
    description: 'What plugins of Pounce import',
    license,
    type: 'module',
    engines,
    exports: entriesOf(files),
    peerDependencies: { pounce: version },
  })
}

/** Builds the packages into `dist/packages`. */
export const buildPackages = async (): Promise<void> => {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest
  const { name, version, description, license, engines, dependencies, optionalDependencies } = manifest
  await rm(packages, { recursive: true, force: true })
  await bundlePackage(pounce)
  await writeTypes()
  for (const path of kept) await cp(join(root, path), join(pounce, path), { recursive: true })
  const sdkFiles = Object.fromEntries([...sdkEntries].map(([entry, file]) => [entry, `sdk${scriptOf(file).slice('./sdk'.length)}`]))
  const alias = Object.fromEntries(Object.entries(sdkFiles).map(([entry, file]) => [`@${entry}`, file]))
  await writeJson(join(pounce, 'dist/manifest.json'), {
    id: version,
    folder: '../',
    entry: 'chunks/pounce.js',
    sdk: { ...sdkFiles, ...alias },
  })
  await writeJson(join(pounce, 'package.json'), {
    name,
    version,
    description,
    license,
    type: 'module',
    engines,
    bin: { pounce: 'core/main.js' },
    exports: { ...entriesOf(sdkEntries), './package.json': './package.json' },
    dependencies,
    optionalDependencies,
    // Imported by the random models of `pounce/sdk/testing`.
    peerDependencies: { 'fast-check': '*' },
    peerDependenciesMeta: { 'fast-check': { optional: true } },
  })
  await writeSdk(manifest)
  const document = JSON.parse(await readFile(join(root, 'docs/openapi.json'), 'utf8')) as object
  await writeClientPackage(join(packages, 'client'), document, version)
  await writePythonClient(join(packages, 'client-python'), document, version)
}
