import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { definePlugin, s } from 'pounce/sdk'
import { type ConfigSources, loadConfig } from './config.ts'
import { tempFolder } from './testing-fixtures/boot.ts'

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
    providers: s.Record(s.String(), s.Object({ clientId: s.String(), secret: s.Optional(s.String({ secret: true })) }), { default: {} }),
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

test('without any setting the defaults stand, and data is an absolute path', async t => {
  const { kernel, plugins } = await load()
  t.is(kernel.http.host, '127.0.0.1')
  t.is(kernel.http.port, 9000)
  t.is(kernel.data, resolve('data'))
  t.deepEqual(kernel.roles, ['http', 'worker'])
  t.false(kernel.access.private)
  t.like(plugins[0]?.config, { bucket: 'pounce', retry: { times: 3 } })
})

test('the file is over the defaults, the environment over the file, flags over all', async t => {
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

test('text becomes what the schema asks for', async t => {
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
    providers: { orcid: { clientId: 'abc' } },
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

test('a variable that is no setting is refused with the nearest one, also with a plain underscore for two', async t => {
  t.regex(
    await refusal(t, { environment: { POUNCE_HTTP__PROT: '1' } }),
    /POUNCE_HTTP__PROT is no setting \(did you mean POUNCE_HTTP__PORT\?\)/,
  )
  t.regex(await refusal(t, { environment: { POUNCE_HTTP_PORT: '1' } }), /did you mean POUNCE_HTTP__PORT\?/)
  await t.notThrowsAsync(load({ environment: { POUNCE_TEST_LOG: 'debug', HOME: '/root' } }))
})

test('an unknown key of a file is refused with the nearest one and the file', async t => {
  const path = await file(t, { http: { prot: 1 }, blobs: { bucket: { buckets: 'x' } } })
  const message = await refusal(t, { file: path })
  t.true(message.includes(`http.prot in ${path} is no setting (did you mean http.port?)`), message)
  t.true(message.includes('blobs.bucket.buckets'), message)
})

test('settings of a plugin that does not run are told apart from misspelled ones', async t => {
  const path = await file(t, { documents: { sqlite: { file: 'x' } } })
  t.regex(await refusal(t, { file: path }), /documents\.sqlite.* belongs to the plugin documents\.sqlite, which is not in "plugins"/)
  const environment = { POUNCE_DOCUMENTS__SQLITE__TIMEOUT: '1' }
  t.regex(await refusal(t, { environment }), /POUNCE_DOCUMENTS__SQLITE__TIMEOUT belongs to the plugin documents\.sqlite/)
})

test('a wrong value is refused with what would be right and where it came from', async t => {
  const message = await refusal(t, {
    environment: { POUNCE_HTTP__PORT: 'many', POUNCE_BLOBS__BUCKET__PART_SIZE: '1', POUNCE_ROLES: 'http,cook' },
  })
  t.regex(message, /http\.port must be integer \(is "many"\), from POUNCE_HTTP__PORT/)
  t.regex(message, /blobs\.bucket\.partSize must be >= 5 \(is 1\), from POUNCE_BLOBS__BUCKET__PART_SIZE/)
  t.regex(message, /roles\.1/)
})

test('a wrong secret is not shown', async t => {
  const message = await refusal(t, { environment: { POUNCE_ADMIN__PASSWORD: 'short1' } })
  t.regex(message, /admin\.password must NOT have fewer than 8 characters/)
  t.notRegex(message, /short1/)
})

test('a setting without a default that is missing is named', async t => {
  t.regex(await refusal(t, { plugins: [demanding] }), /mail\.smtp\.host is missing and has no default/)
})

test('a file that is no JSON, no object or absent is refused by name', async t => {
  t.regex(await refusal(t, { file: await file(t, '{') }), /pounce\.json cannot be read/)
  t.regex(await refusal(t, { file: await file(t, '[]') }), /does not hold an object/)
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
    bucket: { secretKey: '********', bucket: 'pounce', providers: { orcid: { clientId: 'abc', secret: '********' } } },
  })
})

test('a plugin below a setting of the kernel keeps its settings apart', async t => {
  const policy = definePlugin({ id: 'access.policy', summary: 'p', config: s.Object({ strict: s.Boolean({ default: false }) }) })
  const config = await load({ plugins: [policy], environment: { POUNCE_ACCESS__PRIVATE: '1', POUNCE_ACCESS__POLICY__STRICT: '1' } })
  t.deepEqual(config.kernel.access, { private: true })
  t.deepEqual(config.plugins[0]?.config, { strict: true })
})

test('a flag that is no setting is refused', async t => {
  t.regex(await refusal(t, { flags: { 'log.levle': 'debug' } }), /log\.levle is no setting \(did you mean log\.level\?\)/)
})

test('a setting called __proto__ is refused and changes nothing', async t => {
  const path = await file(t, '{"__proto__": {"polluted": true}, "http": {"__proto__": {"port": 1}}}')
  await t.throwsAsync(load({ file: path }))
  t.false('polluted' in {})
})

test("the names of Clowder's compose file are understood or warned about", async t => {
  const environment = {
    CLOWDER_ADMINS: 'a@example.org,b@example.org',
    CLOWDER_SECRET: 'x',
    CLOWDER_CONTEXT: '/',
    CLOWDER_SSL: 'true',
    MONGO_URI: 'mongodb://m',
  }
  const config = await load({ environment })
  t.deepEqual(config.kernel.admins, ['a@example.org', 'b@example.org'])
  t.deepEqual(
    config.warnings.map(warning => warning.split(' ')[0]),
    ['CLOWDER_SECRET', 'CLOWDER_SSL', 'MONGO_URI'],
  )
})

test('our own name of a setting is over that of Clowder', async t => {
  const config = await load({ environment: { CLOWDER_ADMINS: 'a@example.org', POUNCE_ADMINS: 'b@example.org' } })
  t.deepEqual(config.kernel.admins, ['b@example.org'])
})

test('RABBITMQ_URI is refused as long as its plugin is not part of this version', async t => {
  t.is(
    await refusal(t, { environment: { RABBITMQ_URI: 'amqp://guest:guest@localhost' } }),
    'RABBITMQ_URI is set, but transport.rabbitmq is not part of this version: unset it to use the built-in queue',
  )
})

test('the defaults of this version pass every check', async t => {
  const shipped = JSON.parse(await readFile(new URL('../config/default.json', import.meta.url), 'utf8')) as Record<string, unknown>
  const file = await loadConfig({ defaults: shipped, plugins: [] })
  t.deepEqual(file.kernel.plugins, shipped['plugins'])
})

test('the example for production passes every check', async t => {
  const { kernel } = await load({ file: fileURLToPath(new URL('../config/production.example.json', import.meta.url)) })
  t.is(kernel.http.baseUrl, 'https://data.example.org')
})
