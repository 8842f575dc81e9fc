import { existsSync } from 'node:fs'
import { glob, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { didYouMean } from 'pounce/sdk/kit'
import { StartupError } from '../kernel/startup-error.ts'
import { programVersion } from '../services/installation.ts'
import type { RunCommand } from './built-in.ts'

/** Working plugins, one folder per kind; `example.template` and `pounce-template` are replaced with the new names. */
const templates = fileURLToPath(new URL('../../examples/templates/', import.meta.url))

const kinds = ['routes', 'blobs', 'search', 'auth', 'extractor', 'viewer', 'transport', 'geo'] as const
type Kind = (typeof kinds)[number]

const kindOf = (text: string): Kind => {
  const kind = kinds.find(one => one === text)
  if (kind !== undefined) return kind
  throw new StartupError(`Unknown kind of plugin "${text}"${didYouMean(text, kinds, 0.4)}: the kinds are ${kinds.join(', ')}`)
}

/** The package name, the plugin id, and its last part. */
interface Names {
  readonly name: string
  readonly id: string
  readonly short: string
}

/** A hyphen at the end would be one of the plugin's id, which collections are named after. */
const nameForm = /^(?:@([a-z0-9][a-z0-9-]{0,99})\/)?(?!pounce$)([a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?)$/

const namesOf = (name: string): Names => {
  const [, scope = 'plugin', own = ''] = nameForm.exec(name) ?? []
  if (own === '')
    throw new StartupError(
      `"${name}" is not a valid plugin name: use lower-case letters, digits and hyphens, such as pounce-tides or @acme/pounce-tides (--name)`,
    )
  const short = own.replace(/^pounce-(?=.)/, '')
  return { name, id: `${scope}.${short}`, short }
}

/** The package of the SDK: from the registry, or the file that Pounce itself is installed from. */
interface Sdk {
  readonly name: '@pounce/sdk' | 'pounce'
  readonly devDependencies: Readonly<Record<string, string>>
}

const sdkOf = (packed: unknown, folder: string): Sdk => {
  if (typeof packed !== 'string') return { name: '@pounce/sdk', devDependencies: {} }
  const file = resolve(packed)
  if (!existsSync(file)) throw new StartupError(`${file} does not exist: create it with npm pack in the repository of Pounce`)
  return { name: 'pounce', devDependencies: { pounce: `file:${relative(folder, file).replaceAll(sep, '/')}` } }
}

const manifestOf = ({ name }: Names, sdk: Sdk, summary: string, files: readonly string[]): object => ({
  name,
  version: '0.1.0',
  description: summary,
  keywords: ['pounce-plugin'],
  type: 'module',
  exports: './out/index.js',
  files,
  scripts: {
    build: 'tsc',
    test: 'node --test "src/**/*.test.ts"',
    dev: 'pounce dev',
    prepack: 'npm run build',
  },
  peerDependencies: { [sdk.name]: `^${programVersion}` },
  devDependencies: { '@types/node': '^24.19.2', ...sdk.devDependencies, typescript: '^7.0.2' },
})

const compilerOptions = {
  target: 'es2024',
  lib: ['esnext'],
  module: 'nodenext',
  types: ['node'],
  rootDir: 'src',
  outDir: 'out',
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  // Options for running without a build, and for the build.
  erasableSyntaxOnly: true,
  rewriteRelativeImportExtensions: true,
  skipLibCheck: true,
}

const commands = `
| | |
| --- | --- |
| \`npm test\` | runs the tests, in a server started for them |
| \`npm run dev\` | runs Pounce with the plugin and the settings in \`pounce.json\`, and restarts it on each change |
| \`npm publish\` | builds the package and publishes it |
`

/** The built-in plugin that a plugin of the kind replaces. */
const replaced: Readonly<Partial<Record<Kind, string>>> = { blobs: 'blobs.disk', search: 'search.fts', geo: 'geo.rtree' }

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`

/** The files of a new plugin, by path. */
const filesOf = async (kind: Kind, names: Names, sdk: Sdk): Promise<ReadonlyMap<string, string>> => {
  const filled = (text: string): string =>
    text
      .replaceAll("'pounce/sdk", sdk.name === 'pounce' ? "'pounce/sdk" : "'@pounce/sdk")
      .replaceAll('example.template', names.id)
      .replaceAll('pounce-template', names.name)
      .replaceAll('example: { template:', `${JSON.stringify(names.id.split('.')[0])}: { ${JSON.stringify(names.short)}:`)
      .replaceAll(/(['`/])template(?=[-'`./])/g, `$1${names.short}`)
  const files = new Map<string, string>()
  for await (const path of glob('**/*.*', { cwd: join(templates, kind) }))
    files.set(path.replace(/src[\\/]test\.ts$/, 'src/index.test.ts'), filled(await readFile(join(templates, kind, path), 'utf8')))
  const summary = /summary: '([^']*)'/.exec(files.get(join('src', 'index.ts')) ?? '')?.[1] ?? ''
  const folders = [...new Set([...files.keys()].map(path => path.split(/[\\/]/)[0] ?? ''))].filter(
    name => !['src', 'README.md'].includes(name),
  )
  files.set('package.json', json(manifestOf(names, sdk, summary, ['out', '!out/**/*.test.*', ...folders])))
  const instead = replaced[kind]
  files.set('pounce.json', json({ plugins: ['+./src', ...(instead === undefined ? [] : [`-${instead}`])] }))
  files.set('tsconfig.json', json({ compilerOptions, include: ['src'] }))
  files.set('.gitignore', 'node_modules/\nout/\n.pounce/\n*.tgz\n')
  files.set('README.md', `${files.get('README.md') ?? ''}${commands}`)
  return files
}

const refuseContent = async (folder: string): Promise<void> => {
  const found = (await readdir(folder)).filter(name => name !== '.git')
  if (found.length > 0) throw new StartupError(`${folder} is not empty: it has ${found.slice(0, 3).join(', ')}. Use an empty or new folder`)
}

/** `plugin new`: creates a working plugin with a test in an empty folder. */
export const newPlugin: RunCommand = async ({ arguments: { kind: word = '', folder: given = '' }, options: { name, from } }) => {
  const kind = kindOf(word)
  const folder = resolve(given || '.')
  const names = namesOf(typeof name === 'string' ? name : basename(folder))
  const files = await filesOf(kind, names, sdkOf(from, folder))
  await mkdir(folder, { recursive: true })
  await refuseContent(folder)
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text, { flag: 'wx' })
  }
  const next = [...(given && resolve(given) !== process.cwd() ? [`cd ${given}`] : []), 'npm install', 'npm test'].join(' && ')
  return { plugin: names.id, package: names.name, folder, next }
}
