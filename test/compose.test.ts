import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { parse } from 'yaml'
import { loadConfig } from '../core/kernel/config.ts'

interface Service {
  readonly image?: string
  readonly build?: string
  readonly profiles?: readonly string[]
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly environment?: Readonly<Record<string, string>>
  readonly command?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes?: Readonly<Record<string, unknown>>
}

const pathOf = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url))
const read = (file: string): Promise<string> => readFile(pathOf(file), 'utf8')
const composeOf = async (file: string): Promise<Compose> => parse(await read(file), { merge: true }) as Compose
const compose = await composeOf('docker-compose.yml')
const forTests = await composeOf('test/servers.compose.yml')
const services = Object.entries(compose.services)
const inProfile = (...names: readonly string[]) => services.filter(([, { profiles = [] }]) => profiles.some(name => names.includes(name)))

const password = '0123456789abcdef'
/** Interpolates like docker compose when only the passwords are set. */
const filled = (text: string): string => text.replace(/\$\{\w+:-([^}]*)\}/g, (_, preset: string) => preset || password)
const environmentOf = ({ environment = {} }: Service) =>
  Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(value)]))

test('the profile default starts one server, and full starts two kernels with their servers', async t => {
  t.deepEqual(
    services.filter(([, { profiles }]) => profiles === undefined),
    [],
    'a service without a profile would always start',
  )
  const names = (profile: string) =>
    inProfile(profile)
      .map(([name]) => name)
      .sort()
  t.deepEqual(names('default'), ['pounce'])
  t.deepEqual(names('full'), ['elasticsearch', 'kernel-1', 'kernel-2', 'mongodb', 'passwords', 'postgis', 'proxy', 'rabbitmq', 's3'])
  t.deepEqual(names('extractors'), ['wordcount'])
  t.regex(await read('.env'), /^COMPOSE_PROFILES=default$/m)
})

test('every setting of a kernel in the compose file is known and has an effect', async t => {
  for (const name of ['pounce', 'kernel-1', 'kernel-2']) {
    const { warnings } = await loadConfig({ environment: environmentOf(compose.services[name] ?? {}) })
    t.deepEqual(warnings, [], name)
  }
  t.deepEqual(compose.services['kernel-1'], compose.services['kernel-2'])
})

test('every example configuration passes all checks', async t => {
  for (const file of ['config/production.example.json', 'config/cluster.example.json'])
    t.deepEqual((await loadConfig({ file: pathOf(file) })).warnings, [], file)
  const names = (await loadConfig({ file: pathOf('config/cluster.example.json') })).plugins.map(one => one.name)
  t.deepEqual(
    names.filter(name => /^(documents|geo|blobs\.(disk|s3)|search)/.test(name)),
    ['documents.mongodb', 'geo.postgis', 'blobs.s3', 'search.elasticsearch'],
  )
})

test('images are pinned, and the tests run on the same ones', t => {
  const images = [...services, ...Object.entries(forTests.services)].flatMap(([, { image, build }]) =>
    build === undefined && image ? [image] : [],
  )
  t.true(images.length > 8)
  for (const image of images) t.regex(image, /:v?\d[\w.-]*$/, image)
  for (const [name, { image }] of Object.entries(forTests.services)) t.is(image, compose.services[name]?.image, name)
})

test('services wait for the health of their dependencies, all of which have a health check', async t => {
  const ownCheck = (await read('Dockerfile')).includes('HEALTHCHECK')
  for (const [name, { depends_on = {} }] of services)
    for (const [needed, { condition }] of Object.entries(depends_on)) {
      if (condition === 'service_completed_successfully') continue
      t.is(condition, 'service_healthy', `${name} → ${needed}`)
      const service = compose.services[needed]
      t.true(service?.healthcheck !== undefined || (service?.build !== undefined && ownCheck), `${needed} has no health check`)
    }
  for (const [name, { healthcheck }] of Object.entries(forTests.services)) t.truthy(healthcheck, name)
})

test('the kernels do not start while the image of MongoDB creates the account, with a server on the loopback address', t => {
  const { test: check = [] } = compose.services['mongodb']?.healthcheck ?? {}
  t.is(check[check.indexOf('--host') + 1], 'mongodb')
})

test('profiles that run together share no host port, and volumes are declared', t => {
  for (const profiles of [['default'], ['full', 'extractors']]) {
    const ports = inProfile(...profiles)
      .flatMap(([, service]) => service.ports ?? [])
      .map(port => port.split(':')[0])
    t.is(new Set(ports).size, ports.length)
  }
  const used = services.flatMap(([, service]) => service.volumes ?? []).map(volume => volume.split(':')[0] ?? '')
  t.deepEqual([...new Set(used.filter(name => !name.startsWith('.')))].sort(), Object.keys(compose.volumes ?? {}).sort())
})

test('the proxy forwards to every kernel and probes the readiness of each', async t => {
  const proxy = await read('config/Caddyfile')
  const [, upstreams = ''] = /reverse_proxy ([^{]+)\{/.exec(proxy) ?? []
  t.deepEqual(upstreams.trim().split(' '), ['kernel-1:9000', 'kernel-2:9000'])
  t.regex(proxy, /health_uri \/readyz/)
  t.true(compose.services['proxy']?.volumes?.some(volume => volume.startsWith('./config/Caddyfile:')))
})

const servers = ['elasticsearch', 'mongodb', 'postgis', 'rabbitmq', 's3']
const given = /\$\{(\w+):-\}/

test('no password has a default, and no server starts before all of them are set', t => {
  const secrets = services.flatMap(([name, { environment = {} }]) =>
    Object.entries(environment)
      .filter(([key, value]) => /PASS|SECRET|URI$|URL$/.test(key) && (/:[^/]*@/.test(value) || !value.includes('://')))
      .map(([key, value]) => [name, key, value] as const),
  )
  t.true(secrets.length > 10)
  for (const [name, key, value] of secrets) t.regex(value, given, `${name}: ${key}`)
  for (const name of servers) t.is(compose.services[name]?.depends_on?.['passwords']?.condition, 'service_completed_successfully', name)
  t.is(compose.services['elasticsearch']?.environment?.['xpack.security.enabled'], 'true')
  t.truthy(compose.services['mongodb']?.environment?.['MONGO_INITDB_ROOT_PASSWORD'])
})

test('the start fails with the name of a missing, short or invalid password', t => {
  const script = (compose.services['passwords']?.command?.[0] ?? '').replaceAll('$$', '$')
  const names = Object.keys(compose.services['passwords']?.environment ?? {})
  t.is(names.length, servers.length)
  const run = (changed: Readonly<Record<string, string>>) =>
    spawnSync('/bin/sh', ['-c', script], {
      env: { ...Object.fromEntries(names.map(name => [name, password])), ...changed },
      encoding: 'utf8',
    })
  t.is(run({}).status, 0)
  for (const name of names)
    for (const value of ['', 'short', `${password}@`, `${password}/../`]) {
      const { status, stdout } = run({ [name]: value })
      t.is(status, 1, `${name}=${value}`)
      t.regex(stdout, new RegExp(name))
    }
})
