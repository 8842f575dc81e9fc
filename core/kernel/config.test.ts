import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { DocumentStore, definePlugin, provide, s } from 'pounce/sdk'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { type ConfigSources, loadConfig } from './config.ts'

const store = definePlugin({
  id: 'blobs.bucket',
  summary: 'Bytes in a bucket.',
  config: s.Object({
    bucket: s.String({ default: 'pounce', minLength: 3 }),
    secretKey: s.Optional(s.String({ secret: true })),
    partSize: s.Integer({ default: 8, minimum: 5 }),
    isPublic: s.Boolean({ default: false }),
    hosts: s.Array(s.String(), { default: [] }),
    mode: s.Union([s.Literal('fast'), s.Literal('safe')], { default: 'safe' }),
    providers: s.Record(
      s.String(),
      s.Object({
        clientId: s.String(),
        scope: s.String({ default: 'openid' }),
        secret: s.Optional(s.String({ secret: true, minLength: 3 })),
      }),
      { default: {} },
    ),
    mirrors: s.Array(
      s.Object({ host: s.String(), port: s.Integer({ default: 443 }), token: s.Optional(s.String({ secret: true, minLength: 3 })) }),
      {
        default: [],
      },
    ),
    retry: s.Object({ times: s.Integer({ default: 3 }) }, { default: {} }),
  }),
})
const demanding = definePlugin({ id: 'mail.smtp', summary: 'Mail.', config: s.Object({ host: s.String() }) })

const load = (sources: ConfigSources = {}) => loadConfig({ defaults: {}, plugins: [store], ...sources })
const bucket = async (sources: ConfigSources) => (await load(sources)).plugins[0]?.config as Record<string, unknown>
const refusal = async (t: ExecutionContext, sources: ConfigSources): Promise<string> => (await t.throwsAsync(load(sources))).message

const file = async (t: ExecutionContext, settings: unknown): Promise<string> => {
  const path = join(await tempFolder(t), 'pounce.json')
  await writeFile(path, typeof settings === 'string' ? settings : JSON.stringify(settings))
  return path
}

test('without settings the defaults apply, and data is an absolute path', async t => {
  const { kernel, plugins } = await load()
  t.is(kernel.http.host, '127.0.0.1')
  t.is(kernel.http.port, 9000)
  t.is(kernel.data, resolve('data'))
  t.deepEqual(kernel.roles, ['http', 'worker'])
  t.is(kernel.access.private, undefined)
  t.like(plugins[0]?.config, { bucket: 'pounce', retry: { times: 3 } })
})

test('the file overrides the defaults, the environment the file, and flags override all', async t => {
  const path = await file(t, { http: { port: 1, host: '0.0.0.0' }, blobs: { bucket: { bucket: 'of-the-file', partSize: 6 } } })
  const config = await load({
    file: path,
    environment: { POUNCE_HTTP__PORT: '2', POUNCE_BLOBS__BUCKET__PART_SIZE: '7' },
    flags: { 'http.port': '3' },
  })
  t.is(config.kernel.http.port, 3)
  t.is(config.kernel.http.host, '0.0.0.0')
  t.like(config.plugins[0]?.config, { bucket: 'of-the-file', partSize: 7 })
})

test('names in the environment ignore case and single underscores', async t => {
  const config = await load({ environment: { POUNCE_HTTP__BASE_URL: 'https://data.example.org/dm', pounce_blobs__bucket__parTSIZE: '9' } })
  t.is(config.kernel.http.baseUrl, 'https://data.example.org/dm')
  t.like(config.plugins[0]?.config, { partSize: 9 })
})

test('text is converted to the type in the schema', async t => {
  const environment = {
    POUNCE_BLOBS__BUCKET__IS_PUBLIC: 'yes',
    POUNCE_BLOBS__BUCKET__HOSTS: 'one, two ,three',
    POUNCE_BLOBS__BUCKET__MODE: 'fast',
    POUNCE_BLOBS__BUCKET__PROVIDERS__ORCID__CLIENT_ID: 'abc',
    POUNCE_BLOBS__BUCKET__RETRY: '{"times": 5}',
  }
  t.like(await bucket({ environment }), {
    isPublic: true,
    hosts: ['one', 'two', 'three'],
    mode: 'fast',
    providers: { orcid: { clientId: 'abc', scope: 'openid' } },
    retry: { times: 5 },
  })
  t.deepEqual((await bucket({ environment: { POUNCE_BLOBS__BUCKET__HOSTS: '["a,b"]' } }))['hosts'], ['a,b'])
  t.deepEqual((await bucket({ environment: { POUNCE_BLOBS__BUCKET__HOSTS: '' } }))['hosts'], [])
})

test('a secret is read from a file', async t => {
  const path = await file(t, 'hunter22\n')
  t.like(await bucket({ environment: { POUNCE_BLOBS__BUCKET__SECRET_KEY_FILE: path } }), { secretKey: 'hunter22' })
  const message = await refusal(t, { environment: { POUNCE_BLOBS__BUCKET__SECRET_KEY_FILE: `${path}-absent` } })
  t.regex(message, /POUNCE_BLOBS__BUCKET__SECRET_KEY_FILE: ENOENT/)
})

test('a variable that is not a setting is refused with the nearest one, even with one underscore instead of two', async t => {
  t.regex(
    await refusal(t, { environment: { POUNCE_HTTP__PROT: '1' } }),
    /POUNCE_HTTP__PROT is not a setting \(did you mean POUNCE_HTTP__PORT\?\)/,
  )
  t.regex(await refusal(t, { environment: { POUNCE_HTTP_PORT: '1' } }), /did you mean POUNCE_HTTP__PORT\?/)
  await t.notThrowsAsync(load({ environment: { POUNCE_TEST_LOG: 'debug', HOME: '/root' } }))
})

test('an unknown key of a file is refused with the nearest one and the file', async t => {
  const path = await file(t, { http: { prot: 1 }, blobs: { bucket: { buckets: 'x' } } })
  const message = await refusal(t, { file: path })
  t.true(message.includes(`http.prot in ${path} is not a setting (did you mean http.port?)`), message)
  t.true(message.includes('blobs.bucket.buckets'), message)
})

test('a key with dots in a file is refused with the nested form', async t => {
  const path = await file(t, { 'http.port': 9001 })
  const message = await refusal(t, { file: path })
  t.true(message.includes(`http.port in ${path} must be nested: {"http":{"port":"…"}}`), message)
})

test('settings of a plugin that is not enabled are distinguished from misspelled ones', async t => {
  const path = await file(t, { documents: { sqlite: { file: 'x' } } })
  t.regex(
    await refusal(t, { file: path }),
    /documents\.sqlite.* belongs to the plugin documents\.sqlite, which is in neither "plugins" nor "replacePlugins"/,
  )
  const environment = { POUNCE_DOCUMENTS__SQLITE__TIMEOUT: '1' }
  t.regex(await refusal(t, { environment }), /POUNCE_DOCUMENTS__SQLITE__TIMEOUT belongs to the plugin documents\.sqlite/)
})

test('a typo in a setting of an enabled plugin is refused with the nearest setting of that plugin', async t => {
  const sources = { defaults: {}, plugins: ['documents.sqlite'] }
  const refused = async (more: ConfigSources) => (await t.throwsAsync(loadConfig({ ...sources, ...more }))).message
  const path = await file(t, { documents: { sqlite: { cache: 8 } } })
  t.true((await refused({ file: path })).includes(`documents.sqlite.cache in ${path} is not a setting (did you mean documents.sqlite.`))
  t.regex(await refused({ flags: { 'documents.sqlite.cacheMb': '8' } }), /is not a setting \(did you mean documents\.sqlite\.cache/)
  const environment = { POUNCE_DOCUMENTS__SQLITE__CACHE: '8' }
  t.regex(await refused({ environment }), /is not a setting \(did you mean POUNCE_DOCUMENTS__SQLITE__/)
})

test('an invalid value is refused with the valid ones and its source', async t => {
  const message = await refusal(t, {
    environment: { POUNCE_HTTP__PORT: 'many', POUNCE_BLOBS__BUCKET__PART_SIZE: '1', POUNCE_ROLES: 'http,cook' },
  })
  t.regex(message, /http\.port must be a whole number from 0 to 65535 \(is "many"\), from POUNCE_HTTP__PORT/)
  t.regex(message, /blobs\.bucket\.partSize must be a whole number of at least 5 \(is 1\), from POUNCE_BLOBS__BUCKET__PART_SIZE/)
  t.regex(message, /roles\.1/)
})

for (const [what, settings, name] of [
  ['null for a group of settings', { http: null }, 'http'],
  ['a list for a group of settings', { http: [] }, 'http'],
  ['a number for a text', { data: 5 }, 'data'],
  ['a fraction for a whole number', { http: { port: 80.5 } }, 'http.port'],
  ['an empty text where there must be one', { data: '' }, 'data'],
] as const)
  test(`${what} is refused`, async t => {
    const { message } = await t.throwsAsync(loadConfig({ plugins: [], settings }))
    t.true(message.includes(`\n  - ${name} must `), message)
  })

test('an invalid choice is refused with the options, and the value as typed', async t => {
  const message = await refusal(t, {
    environment: { POUNCE_LOG__LEVEL: 'Debug', POUNCE_ROLES: 'http,cook', POUNCE_HTTP__PORT: '7e4' },
    flags: { 'blobs.bucket.mode': 'quick' },
  })
  t.regex(message, /log\.level must be one of debug, info, warn, error, silent \(is "Debug"\), from POUNCE_LOG__LEVEL/)
  t.regex(message, /roles\.1 must be one of http, worker \(is "cook"\)/)
  t.regex(message, /blobs\.bucket\.mode must be one of fast, safe \(is "quick"\), from --set blobs\.bucket\.mode/)
  t.regex(message, /http\.port must be a whole number from 0 to 65535 \(is 7e4\), from POUNCE_HTTP__PORT/)
})

test('an invalid part of a JSON value is shown without the rest', async t => {
  const providers = '{"orcid": {"clientId": 5, "secret": "hunter22"}}'
  const message = await refusal(t, { environment: { POUNCE_BLOBS__BUCKET__PROVIDERS: providers } })
  t.regex(message, /providers\.orcid\.clientId must be text \(is 5\), from POUNCE_BLOBS__BUCKET__PROVIDERS/)
  t.notRegex(message, /hunter22/)
})

test('an invalid email address is refused for admins', async t => {
  const message = await refusal(t, { environment: { POUNCE_ADMIN__EMAIL: 'ada.example.org', POUNCE_ADMINS: 'a@example.org,b' } })
  t.regex(message, /admin\.email must be an email address \(is "ada\.example\.org"\), from POUNCE_ADMIN__EMAIL/)
  t.regex(message, /admins\.1 must be an email address \(is "b"\), from POUNCE_ADMINS/)
})

test('defaults are applied to items of lists and records, and their invalid secrets are not shown', async t => {
  const providers = { orcid: { clientId: 'abc' } }
  t.like(await bucket({ settings: { blobs: { bucket: { providers, mirrors: [{ host: 'a' }, { host: 'b', port: 80 }] } } } }), {
    providers: { orcid: { clientId: 'abc', scope: 'openid' } },
    mirrors: [
      { host: 'a', port: 443 },
      { host: 'b', port: 80 },
    ],
  })
  const wrong = { providers: { orcid: { clientId: 'abc', secret: '#' } }, mirrors: [{ host: 'a', token: '#' }, { port: 'x' }] }
  const message = await refusal(t, { settings: { blobs: { bucket: wrong } } })
  t.false(message.includes('#'))
  for (const name of ['providers.orcid.secret', 'mirrors.0.token', 'mirrors.1.host', 'mirrors.1.port']) t.true(message.includes(name), name)
})

test('an invalid secret is not shown', async t => {
  const message = await refusal(t, { environment: { POUNCE_ADMIN__PASSWORD: 'short1' } })
  t.regex(message, /admin\.password must be text of at least 8 characters/)
  t.notRegex(message, /short1/)
})

test('a missing setting without a default is reported by name', async t => {
  t.regex(await refusal(t, { plugins: [demanding] }), /mail\.smtp\.host is missing and has no default/)
})

test('a file that is not JSON, not an object or absent is refused by name', async t => {
  t.regex(await refusal(t, { file: await file(t, '{') }), /pounce\.json cannot be read/)
  t.regex(await refusal(t, { file: await file(t, '[]') }), /is not a JSON object/)
  t.regex(await refusal(t, { file: '/nowhere/at/all.json' }), /ENOENT/)
})

test('settings are printed with defaults and without secrets', async t => {
  const environment = {
    POUNCE_ADMIN__EMAIL: 'a@example.org',
    POUNCE_ADMIN__PASSWORD: 'correct-horse',
    POUNCE_BLOBS__BUCKET__SECRET_KEY: 'hunter22',
    POUNCE_BLOBS__BUCKET__PROVIDERS__ORCID: '{"clientId": "abc", "secret": "hunter23"}',
  }
  const printed = (await load({ environment })).print()
  const text = JSON.stringify(printed)
  t.notRegex(text, /correct-horse|hunter2/)
  t.like(printed, { admin: { email: 'a@example.org', password: '********' }, http: { port: 9000 }, plugins: ['blobs.bucket'] })
  t.like(printed['blobs'], {
    bucket: { secretKey: '********', bucket: 'pounce', providers: { orcid: { clientId: 'abc', scope: 'openid', secret: '********' } } },
  })
})

test('settings of a plugin below a kernel setting are kept separate from it', async t => {
  const policy = definePlugin({ id: 'access.policy', summary: 'p', config: s.Object({ strict: s.Boolean({ default: false }) }) })
  const config = await load({ plugins: [policy], environment: { POUNCE_ACCESS__PRIVATE: '1', POUNCE_ACCESS__POLICY__STRICT: '1' } })
  t.deepEqual(config.kernel.access, { private: true })
  t.deepEqual(config.plugins[0]?.config, { strict: true })
})

test('a flag that is not a setting is refused', async t => {
  t.regex(await refusal(t, { flags: { 'log.levle': 'debug' } }), /log\.levle is not a setting \(did you mean log\.level\?\)/)
})

test('a setting called __proto__ is refused and changes nothing', async t => {
  const path = await file(t, '{"__proto__": {"polluted": true}, "http": {"__proto__": {"port": 1}}}')
  await t.throwsAsync(load({ file: path }))
  t.false('polluted' in {})
})

const keeps = (id: string) =>
  definePlugin({
    id,
    summary: id,
    config: s.Object({ uri: s.Optional(s.String()) }),
    provides: [provide(DocumentStore, class {} as never)],
  })
const alsoBytes = definePlugin({ id: 'blobs.extra', summary: 'No store.' })
const namesOf = async (sources: ConfigSources) => (await loadConfig({ defaults: {}, ...sources })).plugins.map(({ name }) => name)

const aliases = definePlugin({
  id: 'compat.other',
  summary: 'Variables of another program.',
  environment: {
    OTHER_ADMINS: { setting: 'admins' },
    OTHER_STORE: { setting: 'blobs.disk.folder', uses: ['blobs.disk'], convert: text => text.replace('file:', '') },
    OTHER_MODE: { otherwise: 'modes are no more', defaults: ['plain'] },
    OTHER_KEY: { setting: 'mail.smtp.key' },
  },
})

test('variables declared by a plugin set their settings, or give a warning', async t => {
  const environment = { OTHER_ADMINS: 'a@example.org,b@example.org', OTHER_MODE: 'Fancy', OTHER_KEY: 'k', OTHER_STORE: '' }
  const config = await load({ plugins: [aliases], environment })
  t.deepEqual(config.kernel.admins, ['a@example.org', 'b@example.org'])
  t.deepEqual(config.warnings, [
    'OTHER_MODE has no effect: modes are no more',
    'OTHER_KEY has no effect: no enabled plugin has the setting mail.smtp.key',
  ])
  t.deepEqual((await load({ plugins: [aliases], environment: { OTHER_MODE: 'Plain' } })).warnings, [])
})

test('the POUNCE_ variable of a setting takes precedence over that of another program', async t => {
  const environment = { OTHER_ADMINS: 'a@example.org', POUNCE_ADMINS: 'b@example.org' }
  t.deepEqual((await load({ plugins: [aliases], environment })).kernel.admins, ['b@example.org'])
})

test('a variable enables the plugins that it is declared to use, with its value converted for them', async t => {
  const { plugins, warnings } = await load({ plugins: [aliases], environment: { OTHER_STORE: 'file:/srv/bytes' } })
  t.deepEqual(
    plugins.map(({ name }) => name),
    ['compat.other', 'blobs.disk'],
  )
  t.like(plugins[1]?.config, { folder: '/srv/bytes' })
  t.deepEqual(warnings, [])
})

test('base plugins are added to any list, unless a listed one provides the same port', async t => {
  const defaults = { basePlugins: ['net.fetch', 'blobs.disk'] }
  t.deepEqual(await namesOf({ defaults, plugins: [alsoBytes] }), ['blobs.extra', 'net.fetch', 'blobs.disk'])
  t.deepEqual(await namesOf({ defaults: { ...defaults, plugins: ['blobs.s3'] } }), ['blobs.s3', 'net.fetch'])
  t.deepEqual(await namesOf({ defaults, plugins: [alsoBytes], environment: { POUNCE_BASE_PLUGINS: '' } }), ['blobs.extra'])
})

test('a plugin may define the path of its settings, and those of a copy are under its name', async t => {
  const outside = definePlugin({
    id: 'net.outside',
    summary: 'Settings elsewhere.',
    configPath: 'outside',
    config: s.Object({ allow: s.Array(s.String(), { default: [] }) }),
  })
  const config = await load({ plugins: [outside], environment: { POUNCE_OUTSIDE__ALLOW: 'a,b' } })
  t.deepEqual(config.plugins[0]?.config, { allow: ['a', 'b'] })
  t.deepEqual(config.print()['outside'], { allow: ['a', 'b'] })
})

test('a plugin in replacePlugins replaces the one that provides the same port, and the rest stay', async t => {
  const plugins = [keeps('documents.sqlite'), alsoBytes]
  t.deepEqual(await namesOf({ plugins }), ['documents.sqlite', 'blobs.extra'])
  t.deepEqual(await namesOf({ plugins, environment: { POUNCE_REPLACE_PLUGINS: 'blobs.disk,search.fts' } }), [
    'documents.sqlite',
    'blobs.extra',
    'blobs.disk',
    'search.fts',
  ])
  const shipped = await namesOf({
    defaults: { plugins: ['documents.sqlite', 'blobs.disk'] },
    environment: { POUNCE_REPLACE_PLUGINS: 'blobs.s3' },
  })
  t.deepEqual(shipped, ['documents.sqlite', 'blobs.s3'])
})

test('a plugin in replacePlugins that is already listed stays, and the other provider of its port is removed', async t => {
  const defaults = { plugins: ['blobs.s3', 'blobs.disk'] }
  t.deepEqual(await namesOf({ defaults, environment: { POUNCE_REPLACE_PLUGINS: 'blobs.disk' } }), ['blobs.disk'])
})

test('only replacePlugins of the source with the highest precedence applies', async t => {
  const path = await file(t, { replacePlugins: ['blobs.s3'], plugins: ['blobs.disk'] })
  t.deepEqual(await namesOf({ file: path }), ['blobs.s3'])
  t.deepEqual(await namesOf({ file: path, environment: { POUNCE_REPLACE_PLUGINS: '' } }), ['blobs.disk'])
})

test('settings alone enable no plugin: they are refused while their plugin is not enabled', async t => {
  const environment = { POUNCE_BLOBS__S3__BUCKET: 'pounce' }
  const { message } = await t.throwsAsync(loadConfig({ defaults: { plugins: ['blobs.disk'] }, environment }))
  t.regex(message, /POUNCE_BLOBS__S3__BUCKET belongs to the plugin blobs\.s3, which is in neither "plugins" nor "replacePlugins"/)
  const used = await loadConfig({
    defaults: { plugins: ['blobs.disk'] },
    environment: { ...environment, POUNCE_REPLACE_PLUGINS: 'blobs.s3' },
  })
  t.like(used.plugins[0]?.config, { bucket: 'pounce' })
  const printed = used.print()
  t.deepEqual([printed['plugins'], printed['replacePlugins']], [['blobs.s3'], ['blobs.s3']])
})

test('a setting that was renamed is read under its former name, from each source, and stored under its current one', async t => {
  const path = await file(t, { use: ['blobs.s3'], plugins: ['blobs.disk'] })
  t.deepEqual(await namesOf({ file: path }), ['blobs.s3'])
  t.deepEqual(await namesOf({ file: path, environment: { POUNCE_USE: '' } }), ['blobs.disk'])
  t.deepEqual(await namesOf({ file: path, environment: { POUNCE_REPLACE_PLUGINS: 'search.fts' } }), ['blobs.disk', 'search.fts'])
  t.deepEqual(await namesOf({ file: path, flags: { use: 'search.fts' } }), ['blobs.disk', 'search.fts'])
  const printed = (await loadConfig({ defaults: {}, file: path })).print()
  t.deepEqual([printed['replacePlugins'], 'use' in printed], [['blobs.s3'], false])
})

test('a setting under both of its names in one file is refused', async t => {
  const path = await file(t, { use: ['blobs.s3'], replacePlugins: ['blobs.disk'] })
  t.regex(await refusal(t, { file: path }), /sets both replacePlugins and its former name use: keep only replacePlugins/)
})

test('an unknown plugin in replacePlugins is refused by name', async t => {
  const message = await refusal(t, { environment: { POUNCE_REPLACE_PLUGINS: 'blobs.dsk' } })
  t.is(message, 'blobs.dsk is not part of this version (did you mean blobs.disk?)')
})

test('the defaults of this version are valid', async t => {
  const shipped = JSON.parse(await readFile(new URL('../../config/default.json', import.meta.url), 'utf8')) as Record<string, unknown>
  const file = await loadConfig({ defaults: shipped, plugins: [] })
  t.deepEqual(file.kernel.plugins, shipped['plugins'])
})

test('the production example is valid', async t => {
  const { kernel } = await load({
    defaults: { basePlugins: ['net.fetch'] },
    file: fileURLToPath(new URL('../../config/production.example.json', import.meta.url)),
  })
  t.is(kernel.http.baseUrl, 'https://data.example.org')
})
