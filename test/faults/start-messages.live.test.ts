import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { dataFolder, startChild } from '../support/child-server.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'S3', 'ELASTICSEARCH', 'RABBITMQ', 'RABBITMQ_MANAGEMENT')
const { test: liveS3 } = liveTests(test, 'S3')
const { test: liveBroker } = liveTests(test, 'RABBITMQ', 'RABBITMQ_MANAGEMENT')
const { test: liveStore } = liveTests(test, 'MONGODB', 'S3')

type Settings = Readonly<Record<string, string>>

const secret = 'pa55-w0rd-of-ours'
/** An address without a listener. */
const nowhere = '127.0.0.1:9'

/** Starts with wrong settings, and expects one line that names the wrong one. */
const refuses = async (t: ExecutionContext, settings: Settings, message: RegExp): Promise<void> => {
  const { code, out, err } = await startChild(await dataFolder(t), { POUNCE_LOG__LEVEL: 'silent', ...settings }).ended
  t.is(code, 1, err)
  t.is(out, '')
  t.is(err.trim().split('\n').length, 1, err)
  t.regex((JSON.parse(err) as { error: string }).error, message)
  t.false(err.includes(secret), err)
  t.false(/\\n\s+at /.test(err), err)
}

const mongodb = (uri: string): Settings => ({ POUNCE_REPLACE_PLUGINS: 'documents.mongodb', POUNCE_DOCUMENTS__MONGODB__URI: uri })

liveStore('a wrong address, account or kind of database is refused with the name of its setting', async t => {
  const setting = /^documents\.mongodb did not start: documents\.mongodb\.uri: /
  await Promise.all([
    refuses(t, mongodb(url('MONGODB').replace('://', `://me:${secret}@`)), setting),
    refuses(t, mongodb(`mongodb://me:${secret}@${nowhere}/`), new RegExp(`${setting.source}no server can be used at ${nowhere}`)),
    refuses(t, mongodb(`mongo://me:${secret}@${nowhere}/`), setting),
  ])
  await refuses(t, mongodb(url('S3').replace('http:', 'mongodb:')), setting)
})

liveS3('a missing bucket, wrong keys or a wrong endpoint of S3 is refused with the name of its setting', async t => {
  const right = {
    POUNCE_REPLACE_PLUGINS: 'blobs.s3',
    POUNCE_BLOBS__S3__ENDPOINT: url('S3'),
    POUNCE_BLOBS__S3__BUCKET: 'pounce-was-never-made',
    POUNCE_BLOBS__S3__ACCESS_KEY_ID: process.env['POUNCE_TEST_S3_KEY'] ?? 'testkey',
    POUNCE_BLOBS__S3__SECRET_ACCESS_KEY: process.env['POUNCE_TEST_S3_SECRET'] ?? 'testsecret',
  }
  await Promise.all([
    refuses(t, right, /blobs\.s3\.bucket: bucket "pounce-was-never-made" does not exist; create it, or set blobs\.s3\.createBucket/),
    refuses(t, { ...right, POUNCE_BLOBS__S3__ACCESS_KEY_ID: 'nobody' }, /blobs\.s3\.accessKeyId: /),
    refuses(t, { ...right, POUNCE_BLOBS__S3__SECRET_ACCESS_KEY: secret }, /blobs\.s3\.secretAccessKey: /),
  ])
  await Promise.all([
    refuses(t, { ...right, POUNCE_BLOBS__S3__ENDPOINT: `http://${nowhere}` }, /blobs\.s3\.endpoint: .*is unreachable/),
    refuses(t, { POUNCE_REPLACE_PLUGINS: 'blobs.s3' }, /blobs\.s3\.bucket is required/),
  ])
})

const rabbitmq = (uri: string): Settings => ({
  POUNCE_REPLACE_PLUGINS: 'transport.rabbitmq,resources.event-sink',
  POUNCE_TRANSPORT__RABBITMQ__URI: uri,
  POUNCE_TRANSPORT__RABBITMQ__MANAGEMENT_URL: url('RABBITMQ_MANAGEMENT'),
})

liveBroker('a missing vhost and an unauthorized account are refused with the name of the setting', async t => {
  const vhost = new URL(url('RABBITMQ'))
  vhost.pathname = '/no-such-vhost'
  const account = new URL(url('RABBITMQ'))
  account.password = secret
  await Promise.all([
    refuses(t, rabbitmq(vhost.href), /transport\.rabbitmq\.uri: the broker rejects the vhost no-such-vhost/),
    refuses(t, rabbitmq(account.href), /transport\.rabbitmq\.uri: /),
    refuses(t, rabbitmq(`http://me:${secret}@${nowhere}/`), /transport\.rabbitmq\.uri/),
  ])
})

/** Starts although a backend is unavailable, and expects a single warning and readiness. */
const startsWithout = async (t: ExecutionContext, plugin: string, settings: Settings): Promise<void> => {
  const starting = startChild(await dataFolder(t), settings)
  t.teardown(async () => {
    starting.signal('SIGKILL')
    await starting.ended
  })
  const server = await starting.ready
  t.is((await server.as()('/readyz')).status, 200)
  server.signal('SIGTERM')
  const { code, err } = await server.ended
  t.is(code, 0)
  t.true(
    err.split('\n').some(line => line.includes(`"plugin":"${plugin}"`) && line.includes('"level":"warn"')),
    err,
  )
  t.false(err.includes(secret), err)
}

live('a server starts without search or the broker, with a warning', async t => {
  const search = { POUNCE_REPLACE_PLUGINS: 'search.elasticsearch', POUNCE_SEARCH__ELASTICSEARCH__NODES: `http://${nowhere}` }
  await Promise.all([
    startsWithout(t, 'search.elasticsearch', {
      ...search,
      POUNCE_SEARCH__ELASTICSEARCH__USERNAME: 'me',
      POUNCE_SEARCH__ELASTICSEARCH__PASSWORD: secret,
    }),
    startsWithout(t, 'transport.rabbitmq', rabbitmq(`amqp://me:${secret}@${nowhere}/`)),
  ])
})

test('a data folder that is not writable is refused with its name, for every local store', async t => {
  const folder = await dataFolder(t)
  const file = join(folder, 'file')
  await writeFile(file, '')
  await Promise.all([
    refuses(t, { POUNCE_DATA: file }, /The data folder .*file is not a folder, or is inside a file/),
    refuses(t, { POUNCE_DOCUMENTS__SQLITE__FOLDER: join(file, 'documents') }, /documents\.sqlite/),
    refuses(t, { POUNCE_BLOBS__DISK__FOLDER: join(file, 'blobs') }, /blobs\.disk/),
  ])
})
