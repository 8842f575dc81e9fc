import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { isRoute, type Route } from 'pounce/sdk'
import { allPermissions } from 'pounce/sdk/kit'
import { kernelSchema } from '../core/kernel/config/kernel-schema.ts'
import { nodeOf } from '../core/kernel/config/schema-tree.ts'
import { loadPlugins } from '../core/kernel/plugins.ts'
import { ownPluginIds } from '../core/own-plugins.ts'
import { settingsOf } from '../scripts/docs/configuration-page.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Libraries that code may import besides Node and `pounce/sdk`. A plugin that is not named here imports none. */
const vendors: Readonly<Record<string, readonly string[]>> = {
  core: [
    '@fastify/busboy',
    '@koa/router',
    'ajv',
    'awilix',
    'commander',
    'content-disposition',
    'content-type',
    'koa',
    'koa-body',
    'negotiator',
    'pino',
    'prom-client',
    'range-parser',
    'reflect-metadata',
    'tsyringe',
  ],
  sdk: ['mime-types', 'typebox'],
  'plugins/documents/mongodb': ['mongodb'],
  'plugins/extractors/csv': ['csv-parse'],
  'plugins/blobs/s3': ['@aws-sdk/client-s3'],
  'plugins/extractors/image': ['exifr', 'sharp'],
  'plugins/extractors/pdf': ['@napi-rs/canvas', 'pdfjs-dist'],
  'plugins/extractors/text': ['marked', 'sanitize-html'],
  'plugins/extractors/zip': ['yauzl'],
  'plugins/geo/postgis': ['pg'],
  'plugins/audit/webhook': ['standardwebhooks'],
  'plugins/resources/webhooks': ['standardwebhooks'],
  'plugins/auth/ldap': ['ldapts'],
  'plugins/auth/oidc': ['jose', 'openid-client'],
  'plugins/mail/smtp': ['nodemailer'],
  'plugins/resources/bags': ['saxes', 'yauzl'],
  'plugins/resources/users': ['@simplewebauthn/server', 'otpauth'],
  'plugins/search/elasticsearch': ['@elastic/elasticsearch'],
  'plugins/transport/rabbitmq': ['amqplib'],
}

/** Plugins that need a server or a key, and run where the configuration names them. */
const usedOnly: readonly string[] = [
  'audit.syslog',
  'audit.webhook',
  'auth.ldap',
  'auth.oidc',
  'blobs.encrypted',
  'blobs.s3',
  'documents.mongodb',
  'geo.postgis',
  'mail.smtp',
  'resources.event-sink',
  'scan.clamav',
  'search.elasticsearch',
  'transport.rabbitmq',
]

/** Ports that plugins stand behind, and the contract tests that each of them must pass. */
const contracts: Readonly<Record<string, readonly string[]>> = {
  documentStore: ['documentStoreContract', 'outboxContract'],
  blobStore: ['blobStoreContract'],
  searchIndex: ['searchIndexContract', 'searchCorpusContract'],
  geoStore: ['geoStoreContract'],
  'transports*': ['transportContract'],
  mailer: ['mailerContract'],
  'malwareScanners*': ['malwareScanContract'],
  'previewers*': ['previewerContract'],
  'authProviders*': ['passwordProviderContract', 'bearerProviderContract'],
}

const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8')
const folders = ['core', 'sdk', 'plugins', 'test', 'scripts', 'examples'].filter(folder => existsSync(join(root, folder)))
/** What runs in browsers is of another world: other libraries, other types, and a file that is written by `npm run docs`. */
const isInBrowser = (path: string): boolean => path.startsWith('plugins/web/app/')
const isBuilt = (path: string): boolean => path.startsWith('plugins/web/dist/')
const paths = (await Array.fromAsync(glob(`{${folders.join(',')}}/**/*.{ts,tsx,md,py}`, { cwd: root }))).filter(path => !isBuilt(path))
const files = await Promise.all(paths.sort().map(async path => ({ path, text: await read(path) })))
const sources = files.filter(({ path }) => path.endsWith('.ts') && !isInBrowser(path))
const ids = ownPluginIds()
const plugins = await loadPlugins(ids.map(plugin => ({ plugin })))
const folderOf = (id: string): string => `plugins/${id.replace('.', '/')}`

const statement = /^\s*(?:import|export)\s[^'"`;]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm
const isOurs = ({ path }: { readonly path: string }): boolean => /^(core|sdk|plugins)\//.test(path)
const importsOf = (text: string): string[] => [...text.matchAll(statement)].map(([, one, two, three]) => one ?? two ?? three ?? '')
/** Tests and what only tests use: by its name, or because it imports what no product code may. */
const testFiles = new Set(
  sources
    .filter(
      ({ path, text }) =>
        /\.test\.ts$|\/(testing|testing-fixtures|fixtures|support)\//.test(path) || /from '(ava|pounce\/sdk\/testing)'/.test(text),
    )
    .map(({ path }) => path),
)
const product = sources.filter(({ path }) => !testFiles.has(path))
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

/** `core`, `sdk` or a plugin's folder. */
const ownerOf = (path: string): string =>
  path
    .split('/')
    .slice(0, path.startsWith('plugins/web/') ? 2 : path.startsWith('plugins/') ? 3 : 1)
    .join('/')

const routesOf = (one: (typeof plugins)[number]): readonly (readonly [string, Route])[] =>
  Object.entries(one.plugin.routes ?? {}).filter((entry): entry is [string, Route] => isRoute(entry[1]))

/** What a rule found wrong, all of it at once. */
const found = (faults: Iterable<string | false | undefined>): string[] => [...faults].filter(fault => typeof fault === 'string')

test('a plugin folder has an index and a README', t => {
  t.true(ids.length > 20)
  const hasManifest = (id: string): boolean =>
    sources.some(({ path, text }) => path === `${folderOf(id)}/index.ts` && /^export const plugin = definePlugin\(/m.test(text))
  t.deepEqual(found(ids.map(id => !existsSync(join(root, folderOf(id), 'README.md')) && `${folderOf(id)}/README.md is missing`)), [])
  t.deepEqual(found(ids.map(id => !hasManifest(id) && `${id} has no manifest in its index.ts`)), [])
})

test('every plugin of the tree runs by default, but for those that need a server', async t => {
  const shipped = JSON.parse(await read('config/default.json')) as {
    readonly plugins: readonly string[]
    readonly basePlugins: readonly string[]
  }
  const listed = [...shipped.plugins, ...shipped.basePlugins]
  t.deepEqual(
    [...listed].sort(),
    ids.filter(id => !usedOnly.includes(id)),
  )
})

test('what stands behind a port passes the contract of the port', t => {
  const missing = plugins.flatMap(({ name, plugin }) => {
    const own = sources.filter(({ path }) => path.startsWith(`${folderOf(name)}/`) && path.endsWith('.test.ts'))
    const isCalled = (contract: string): boolean =>
      own.some(({ text }) => new RegExp(`^\\s*${contract}\\(\\s*(?:test|live)\\b`, 'm').test(text))
    return (plugin.provides ?? []).flatMap(({ port }) => {
      const left = (contracts[port] ?? []).filter(contract => !isCalled(contract))
      // A way to sign in is a password or a token, and has the contract of that alone.
      const isEnough = port === 'authProviders*' && left.length < (contracts[port]?.length ?? 0)
      return isEnough ? [] : left.map(contract => `no test of ${name} runs ${contract}`)
    })
  })
  t.deepEqual(missing, [])
})

test('what only a plugin itself needs has no port: the class is the token', t => {
  const declared = product.filter(({ path, text }) => path.startsWith('plugins/') && /\b(port|contributions)(<.*>)?\(/.test(text))
  t.deepEqual(
    declared.map(({ path }) => path),
    [],
  )
})

test('every contract is exported for plugins from elsewhere', async t => {
  const testing = (await import('pounce/sdk/testing')) as Readonly<Record<string, unknown>>
  t.deepEqual(
    Object.values(contracts)
      .flat()
      .filter(contract => typeof testing[contract] !== 'function'),
    [],
  )
})

test('code imports the libraries that are declared for it, and package.json has them', async t => {
  type Versions = Readonly<Record<string, string>>
  const { dependencies, optionalDependencies } = JSON.parse(await read('package.json')) as Readonly<Record<string, Versions>>
  const installed = { ...dependencies, ...optionalDependencies }
  const faults = product.filter(isOurs).flatMap(({ path, text }) => {
    const names = importsOf(text)
      .filter(specifier => !/^(\.|node:|pounce\/)/.test(specifier))
      .map(packageOf)
    const owner = ownerOf(path)
    return found(
      names.flatMap(name => [
        !vendors[owner]?.includes(name) && `${path} imports ${name}, which is not declared for ${owner}`,
        !(name in installed) && `${path} imports ${name}, which is not among the dependencies in package.json`,
      ]),
    )
  })
  t.deepEqual(faults, [])
})

test('a library that is declared for code is imported there', t => {
  const imported = new Set(
    product.flatMap(({ path, text }) => importsOf(text).map(specifier => `${ownerOf(path)} ${packageOf(specifier)}`)),
  )
  const declared = Object.entries(vendors).flatMap(([owner, names]) => names.map(name => `${owner} ${name}`))
  t.deepEqual(
    declared.filter(one => !imported.has(one)),
    [],
  )
})

/** Libraries of the web interface; the build puts them into the files that browsers load. */
const browserVendors = [
  '@codemirror/language',
  '@codemirror/language-data',
  '@codemirror/search',
  '@codemirror/state',
  '@codemirror/view',
  '@lezer/highlight',
  '@tanstack/react-query',
  '@tanstack/react-router',
  '@tanstack/react-virtual',
  'dompurify',
  'geojson',
  'geotiff',
  'h5wasm',
  'hyparquet',
  'hyparquet-compressors',
  'i18next',
  'marked',
  'netcdfjs',
  'ol',
  'openseadragon',
  'papaparse',
  'pdfjs-dist',
  'react',
  'react-aria-components',
  'react-dom',
  'shpjs',
  'three',
  'topojson-client',
  'tus-js-client',
  'unzipit',
  'uplot',
  'vega',
  'vega-interpreter',
  'vega-lite',
  'wavesurfer.js',
  'world-atlas',
]

test('what runs in browsers imports its own folder and the libraries declared for it, and none of the server but the types of parts', t => {
  const pages = files.filter(({ path }) => isInBrowser(path) && /\.tsx?$/.test(path) && !path.endsWith('vite.config.ts'))
  t.true(pages.length > 10)
  const faults = pages.flatMap(({ path, text }) =>
    importsOf(text)
      .filter(specifier =>
        specifier.startsWith('.')
          ? !isInBrowser(join(dirname(path), specifier)) && !(path.endsWith('/viewers/host.ts') && specifier.endsWith('/sdk/web.ts'))
          : !['virtual:icons', ...browserVendors].includes(packageOf(specifier)),
      )
      .map(specifier => `${path} imports ${specifier}`),
  )
  t.deepEqual(faults, [])
})

/** What of the SDK product code may import: all but what is for tests. */
const sdkDoors = [
  'pounce/sdk',
  'pounce/sdk/kit',
  'pounce/sdk/store-kit',
  'pounce/sdk/geo',
  'pounce/sdk/search',
  'pounce/sdk/search/language',
  'pounce/sdk/sqlite',
]

test('the kernel imports no plugin, a plugin nothing but its own folder, the SDK nothing of ours, and none of them a test', t => {
  const faults = product.filter(isOurs).flatMap(({ path, text }) => {
    const owner = ownerOf(path)
    return importsOf(text).flatMap(specifier => {
      const isSdk = specifier.startsWith('pounce/')
      const target = join(dirname(path), specifier)
      const isAllowed = isSdk ? owner !== 'sdk' && sdkDoors.includes(specifier) : ownerOf(target) === owner && !testFiles.has(target)
      return (isSdk || specifier.startsWith('.')) && !isAllowed ? [`${path} imports ${specifier}`] : []
    })
  })
  t.deepEqual(faults, [])
})

/** What tests of a part may import besides their own folder and the SDK: helpers that several parts use, and what writes the files of `test/data`. */
const sharedHelpers = ['test/support/', 'scripts/test-data/']
/** Helpers of the kernel's own, used by tests of the SDK's client and of the kernel booted for tests. */
const sdkHelpers = ['core/http/testing/']

test("no test of a plugin, of core or of the SDK reaches into another's folder: what they share is in test/support", t => {
  const tested = sources.filter(({ path }) => testFiles.has(path) && isOurs({ path }))
  const faults = tested.flatMap(({ path, text }) => {
    const owner = ownerOf(path)
    const shared = owner === 'sdk' ? [...sharedHelpers, ...sdkHelpers] : sharedHelpers
    return importsOf(text)
      .filter(specifier => specifier.startsWith('.'))
      .map(specifier => join(dirname(path), specifier))
      .filter(target => !['sdk', owner].includes(ownerOf(target)) && !shared.some(folder => target.startsWith(folder)))
      .map(target => `${path} imports ${target}`)
  })
  t.true(tested.length > 200)
  t.deepEqual(faults, [])
})

const assertion = /^.*\bt\.(?:true|false|assert|truthy)\(.*$/gm
/** That something came no earlier than it should holds on a slow machine as well. */
const atMost = /\b(?:performance|Date)\.now\(\)\s*-[^<]*<|\belapsedMs\s*</

test('no test asserts that something takes no longer than so many milliseconds', t => {
  const faults = sources
    .filter(({ path }) => testFiles.has(path))
    .flatMap(({ path, text }) => [...text.matchAll(assertion)].map(([line]) => ({ path, line: line.trim() })))
    .filter(({ line }) => atMost.test(line))
  t.deepEqual(faults, [])
})

test('only the kernel and stores load what the SDK has for stores; other plugins import its types at most', t => {
  const isStore = (path: string): boolean => /^plugins\/(documents|blobs|search|geo)\//.test(path)
  const faults = product.filter(
    ({ path, text }) => path.startsWith('plugins/') && !isStore(path) && /^import \{[^}]*\} from 'pounce\/sdk\/store-kit'/m.test(text),
  )
  t.deepEqual(
    faults.map(({ path }) => path),
    [],
  )
})

const summaryVerbs = new Set(
  `Accept Add Aggregate Append Attach Autocomplete Bookmark Cancel Change Check Clear Comment Complete Confirm Copy Count Create Decline
  Delete Deselect Detach Download Edit Empty Enable End Erase Explain Export Follow Forward Get Invalidate Invite Leave Link List Mark
  Move Notify Open Query Reauthenticate Rebuild Record Redirect Register Reindex Reject Release Remove Rename Reorder Replace Reply Report
  Request Rerun Reset Restore Revoke Search Select Send Set Show Sign Start Submit Unfollow Update Upload Verify Withdraw`.split(/\s+/),
)

test('every route says who may call it and what it is for', t => {
  const known = new Set<string>([...allPermissions, 'anyone', 'reader', 'signedIn', 'serverAdmin'])
  const routes = plugins.flatMap(one => routesOf(one).map(([name, { declaration }]) => ({ name: `${one.name} ${name}`, declaration })))
  t.true(routes.length > 100)
  const faults = routes.flatMap(({ name, declaration: { permission, summary } }) => [
    !known.has(typeof permission === 'object' ? permission.right : permission) && `${name}: ${JSON.stringify(permission)} is no permission`,
    typeof permission === 'object' &&
      permission.unscoped &&
      !/^[A-Z].{5,}[^.\s]\.$/.test(permission.unscoped) &&
      `${name}: ${permission.unscoped} is no reason`,
    !/^\S.{5,58}[^.\s]$/s.test(summary) && `${name} needs a summary of at most 60 characters: ${summary}`,
    !summaryVerbs.has(summary.split(' ')[0] ?? '') && `${name} has no summary that begins with a verb: ${summary}`,
  ])
  t.deepEqual(found(faults), [])
})

test('no two routes have the same operation id', t => {
  const names = plugins.flatMap(one => routesOf(one).map(([name]) => name))
  t.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
})

test('every setting has a description', t => {
  const parts = [
    { path: [], schema: kernelSchema },
    ...plugins.map(({ name, plugin }) => ({ path: (plugin.configPath ?? name).split('.'), schema: plugin.config })),
  ]
  const settings = parts.flatMap(({ path, schema }) => settingsOf(nodeOf(schema), path))
  t.deepEqual(
    settings.filter(({ description }) => description.length < 10).map(({ name }) => name),
    [],
  )
})

test('a file has at most 500 lines', t => {
  const faults = sources.map(({ path, text }) => {
    const lines = text.split('\n').length - 1
    return lines > 500 && `${path} has ${lines} lines`
  })
  t.deepEqual(found(faults), [])
})

/** Manifests, entries of the SDK and the command line's programs list names; what they list stays apart. */
const listsNames = /\/index\.ts$|^sdk\/(?:kit|store-kit)\.ts$/
/** Loaded on demand or in a thread or process of its own, so it cannot be part of what loads it. */
const loadedApart = new Set(
  sources.flatMap(({ path, text }) =>
    [...text.matchAll(/\b(?:import\(|new URL\()\s*'(\.[^']+\.ts)'/g)].map(([, specifier = '']) => join(dirname(path), specifier)),
  ),
)

test('a file of less than 40 lines with a single importer is part of that importer', t => {
  const importers = new Map<string, string[]>()
  for (const { path, text } of product.filter(isOurs))
    for (const specifier of importsOf(text).filter(one => one.startsWith('.'))) {
      const target = join(dirname(path), specifier)
      importers.set(target, [...(importers.get(target) ?? []), path])
    }
  const faults = product.filter(isOurs).map(({ path, text }) => {
    const [only, ...others] = importers.get(path) ?? []
    const isSmall = text.split('\n').length - 1 < 40
    const isApart = loadedApart.has(path) || path.includes('/grammar/') || path.includes('/migrations/')
    return isSmall && !isApart && only !== undefined && others.length === 0 && !listsNames.test(only) && `${path} belongs into ${only}`
  })
  t.deepEqual(found(faults), [])
})

test('nothing is left to do', t => {
  const marks = new RegExp(`\\b(${['TO DO', 'FIX ME', 'X X X'].map(mark => mark.replaceAll(' ', '')).join('|')})\\b`)
  t.deepEqual(
    files.filter(({ text }) => marks.test(text)).map(({ path }) => path),
    [],
  )
})
