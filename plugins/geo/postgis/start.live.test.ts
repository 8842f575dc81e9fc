import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { Unavailable } from 'pounce/sdk'
import { bootForTest, liveTests } from 'pounce/sdk/testing'
import { PostgisPoints } from './postgis-points.ts'
import { onServer, openStore, testSchema } from './testing.ts'

const { test: live, url } = liveTests(test, 'POSTGIS')

const secret = 'correct-horse-battery'
const settings = { schema: 'never', timeoutMs: 5000, cursorIdleMs: 1000, poolSize: 2 }

const refuses = async (t: ExecutionContext, address: string, reason: RegExp, schema = settings.schema): Promise<void> => {
  const store = new PostgisPoints({ ...settings, url: address, schema })
  const error = await t.throwsAsync(store.start(), { message: reason })
  t.false(`${error?.message}`.includes(secret), error?.message)
  await t.throwsAsync(store.get(1), { instanceOf: Unavailable })
  await store.dispose()
}

/** The address of the server with some parts replaced. */
const changed = (change: (address: URL) => void): string => {
  const address = new URL(url('POSTGIS'))
  change(address)
  return address.href
}

/** A database that is dropped when the test ends. */
const testDatabase = async (t: ExecutionContext): Promise<string> => {
  const name = `pounce_${randomUUID().slice(0, 8)}`
  await onServer(url('POSTGIS'), client => client.query(`create database "${name}" template template0`))
  t.teardown(() => onServer(url('POSTGIS'), client => client.query(`drop database if exists "${name}" with (force)`)))
  return changed(address => {
    address.pathname = `/${name}`
  })
}

live('stores that start concurrently create the schema once, and all are usable', async t => {
  const schema = testSchema(t, url('POSTGIS'))
  const stores = await Promise.all(Array.from({ length: 6 }, () => openStore(t, { url: url('POSTGIS'), schema })))
  for (const store of stores) t.is(await store.get(1), undefined)
  const { rows } = await onServer(url('POSTGIS'), client => client.query(`select number from ${schema}.version`))
  t.is(rows.length, 1)
  t.regex(stores[0]?.engine ?? '', /^PostGIS \d+\.\d+.* \(PostgreSQL \d+(\.\d+)?\)$/)
})

live('a schema of a newer version is refused and left unchanged', async t => {
  const schema = testSchema(t, url('POSTGIS'))
  await (await openStore(t, { url: url('POSTGIS'), schema })).dispose()
  await onServer(url('POSTGIS'), client => client.query(`update ${schema}.version set number = 1000`))
  await refuses(t, url('POSTGIS'), /^geo\.postgis\.url: the schema pounce_\w+ was created by a newer version/, schema)
  const { rows } = await onServer(url('POSTGIS'), client => client.query(`select number from ${schema}.version`))
  t.deepEqual(rows, [{ number: 1000 }])
})

live('a database without PostGIS is refused with the SQL statement that installs it', async t => {
  await refuses(t, await testDatabase(t), /^geo\.postgis\.url: PostGIS is not installed in this database: .*"create extension postgis;"/)
})

live('PostGIS may be installed in another schema, and the configured schema may have a reserved name', async t => {
  const database = await testDatabase(t)
  await onServer(database, async client => {
    await client.query('create schema "Gis, new"')
    await client.query('create extension postgis schema "Gis, new"')
  })
  const store = await openStore(t, { url: database, schema: 'user' })
  const point = {
    id: 1,
    stream: 1,
    startMs: 0,
    endMs: null,
    createdMs: 0,
    geometry: { type: 'Point' as const, coordinates: [1, 2] },
    properties: {},
  }
  t.deepEqual(await store.insert([point]), [{ status: 'inserted' }])
  t.is((await store.find({ filter: { areas: [{ box: [0, 0, 2, 2] }] }, limit: 1 })).points.length, 1)
  await store.dispose()
})

live('permission to create the schema suffices, and its absence is reported', async t => {
  const role = `pounce_${randomUUID().slice(0, 8).replaceAll('-', '')}`
  const database = await testDatabase(t)
  const name = new URL(database).pathname.slice(1)
  await onServer(database, async client => {
    await client.query('create extension postgis')
    await client.query(`create role "${role}" login password '${secret}'`)
  })
  t.teardown(() => onServer(url('POSTGIS'), client => client.query(`drop role "${role}"`)))
  t.teardown(() => onServer(url('POSTGIS'), client => client.query(`drop database if exists "${name}" with (force)`)))
  const own = new URL(database)
  own.username = role
  own.password = secret
  await refuses(t, own.href, /^geo\.postgis\.url: the server at .* does not allow this user to create or use the schema never/)
  await onServer(database, client => client.query(`grant create on database "${name}" to "${role}"`))
  const store = new PostgisPoints({ ...settings, url: own.href, schema: 'mine' })
  await store.start()
  t.is(await store.count({}, 10), 0)
  await store.dispose()
  await onServer(database, client => client.query(`revoke create on database "${name}" from "${role}"`))
  const again = new PostgisPoints({ ...settings, url: own.href, schema: 'mine' })
  await again.start()
  await again.dispose()
})

live('an unknown user or database is refused with the name of the setting', async t => {
  const nobody = changed(address => {
    address.username = 'nobody_at_all'
    address.password = secret
  })
  await refuses(t, nobody, /^geo\.postgis\.url: the server at [^@]+ refuses this user and password/)
  await refuses(
    t,
    changed(address => {
      address.pathname = '/no_such_database'
    }),
    /^geo\.postgis\.url: /,
  )
})

test('the error for an unusable URL does not contain its password', async t => {
  await refuses(t, `postgres://me:${secret}@127.0.0.1:1/pounce`, /^geo\.postgis\.url: no server can be used at 127\.0\.0\.1:1\/pounce/)
  await refuses(t, `http://me:${secret}@127.0.0.1:1/pounce`, /^geo\.postgis\.url: expected a URL like/)
  await refuses(t, `postgres://me:${secret}@127.0.0.1:port/pounce`, /^geo\.postgis\.url: /)
  for (const mode of ['no-verify', 'require', 'prefer', 'verify-ca'])
    await refuses(t, `postgres://me:${secret}@127.0.0.1:1/pounce?sslmode=${mode}`, /^geo\.postgis\.url: sslmode must be verify-full/)
})

live('a server without TLS is refused when the URL requires TLS', async t => {
  await refuses(
    t,
    changed(address => address.searchParams.set('sslmode', 'verify-full')),
    /^geo\.postgis\.url: .*SSL/,
  )
})

live('the status of the server names the store as Clowder does, and shows admins where it is', async t => {
  const schema = testSchema(t, url('POSTGIS'))
  const address = changed(each => {
    each.password = secret
  })
  const env = { POUNCE_REPLACE_PLUGINS: 'geo.postgis', POUNCE_GEO__POSTGIS__URL: address, POUNCE_GEO__POSTGIS__SCHEMA: schema }
  const server = await bootForTest({ t, env })
  const status = async (key?: string) =>
    ((await (await server.as(key)('/api/status')).json()) as { plugins: Record<string, unknown> }).plugins
  t.deepEqual((await status())['postgres'], { status: 'connected' })
  const catalog = new URL(address).pathname.slice(1)
  t.like(await status(server.admin.key), { postgres: { status: 'connected', catalog, schema } })
  t.false(JSON.stringify(await status(server.admin.key)).includes(secret))
})
