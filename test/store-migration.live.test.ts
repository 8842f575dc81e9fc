import test, { type ExecutionContext } from 'ava'
import { liveTests, silent, testBytes } from 'pounce/sdk/testing'
import { BucketObjects } from '../plugins/blobs/s3/bucket-objects.ts'
import { S3Connection } from '../plugins/blobs/s3/connection.ts'
import { freshConfig } from '../plugins/blobs/s3/test-store.ts'
import { adminKey, type ChildServer, childServer, dataFolder, runPounceWith, startChild, startPounce } from './support/child-server.ts'
import { newDataset, ok, upload } from './support/scene.ts'
import { placesOn } from './support/server-places.ts'
import { drained, until } from './support/until.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'S3')
const sizes = [0, 5, 70_000, 200_000, 3_000_000, 8_000_000]

interface Filled {
  readonly key: string
  readonly dataset: string
  /** Bytes by file id. */
  readonly files: Map<string, Buffer>
}

const fill = async (server: ChildServer): Promise<Filled> => {
  const key = await adminKey(server)
  const call = server.as(key)
  const dataset = await newDataset(call, { name: 'Moved leaves' })
  const files = new Map<string, Buffer>()
  for (let at = 0; at < 24; at += 1) {
    const bytes = testBytes(sizes[at % sizes.length] ?? 0, at + 1)
    files.set(await upload(call, dataset, bytes, `leaf-${at}.bin`, { type: 'application/octet-stream' }), bytes)
  }
  const [first = ''] = files.keys()
  await ok(call(`/api/files/${first}/tags`, { method: 'POST', json: { tags: ['oak'], extractor_id: 'x' } }))
  await drained(call)
  return { key, dataset, files }
}

const checkAll = async (t: ExecutionContext, server: ChildServer, { key, dataset, files }: Filled): Promise<void> => {
  const call = server.as(key)
  for (const [id, bytes] of files) {
    const answer = await call(`/api/files/${id}?tracking=false`)
    t.is(answer.status, 200)
    t.true(Buffer.from(await answer.arrayBuffer()).equals(bytes))
  }
  t.is((await ok<{ name: string }>(call(`/api/datasets/${dataset}`))).name, 'Moved leaves')
  const found = async () => (await ok<{ count: number }>(call('/api/search?query=tag:oak'))).count
  t.is(await until('the tagged file to be found', found, count => count === 1), 1)
  const id = await upload(call, dataset, 'after the migration')
  t.is(await (await call(`/api/files/${id}`)).text(), 'after the migration')
  files.set(id, Buffer.from('after the migration'))
  await drained(call)
}

const stop = async (server: ChildServer): Promise<void> => {
  server.signal('SIGTERM')
  await server.ended
}

type Settings = Readonly<Record<string, string>>

const without = ({ POUNCE_REPLACE_PLUGINS: _use, ...settings }: Settings): Settings => settings

/** Runs the command and kills it as soon as `count` objects are in the bucket. */
const killedWhen = async (count: number, settings: Settings, folder: string, words: readonly string[]): Promise<void> => {
  const bucket = settings['POUNCE_BLOBS__S3__BUCKET'] ?? ''
  const connection = new S3Connection({ ...freshConfig(url('S3')), bucket }, silent)
  await connection.start()
  const running = startPounce(without(settings), folder, ...words)
  const objects = async () => (await Array.fromAsync(new BucketObjects(connection).list(''))).length
  const ended = running.ended.then(end => Promise.reject(new Error(`the command exited early: ${end.code} ${end.err}`)))
  await Promise.race([until('objects in the bucket', objects, seen => seen >= count, 60_000), ended])
  running.signal('SIGKILL')
  await running.ended
  connection.dispose()
}

live('an installation is migrated from sqlite+disk to mongodb+s3 despite kills, works there, and is migrated back', async t => {
  const folder = await dataFolder(t)
  const { settings } = await placesOn(t, url, ['documents.mongodb', 'blobs.s3'])
  const first = await childServer(t, folder)
  const filled = await fill(first)
  await stop(first)

  const words = ['migrate', '--from', 'sqlite+disk', '--to', 'mongodb+s3']
  for (const count of [1, 12]) await killedWhen(count, settings, folder, words)
  const moved = await runPounceWith(without(settings), folder, ...words)
  t.is(moved.code, 0, moved.err)
  t.like(JSON.parse(moved.out), { blobs: 24, withoutBytes: 0, points: 'stay in geo.rtree', verified: 'counts and checksums' })
  t.regex(moved.out, /"search": "rebuilt/)
  const again = await runPounceWith(without(settings), folder, ...words)
  t.is(again.code, 1)
  t.regex(again.err, /not empty.*completed/)

  const second = await childServer(t, folder, settings)
  await checkAll(t, second, filled)
  await stop(second)

  const other = await dataFolder(t)
  const back = await runPounceWith(without(settings), other, 'migrate', '--from', 'mongodb+s3', '--to', 'sqlite+disk', '--read-data')
  t.is(back.code, 0, back.err)
  t.like(JSON.parse(back.out), { blobs: 25, verified: 'counts and checksums, every byte read' })
  await checkAll(t, await childServer(t, other), filled)
})

live('blobs alone are migrated to S3, with unchanged records; halfway through, no server starts', async t => {
  const folder = await dataFolder(t)
  const { settings } = await placesOn(t, url, ['blobs.s3'])
  const first = await childServer(t, folder)
  const filled = await fill(first)
  await stop(first)
  const words = ['migrate', '--from', 'sqlite+disk', '--to', 'sqlite+s3']
  await killedWhen(10, settings, folder, words)
  const refused = await t.throwsAsync(startChild(folder).ready)
  t.regex(refused.message, /run `pounce migrate --from sqlite\+disk --to sqlite\+s3` again/)
  const moved = await runPounceWith(without(settings), folder, ...words)
  t.is(moved.code, 0, moved.err)
  await checkAll(t, await childServer(t, folder, settings), filled)
})

live('an impossible migration is refused before anything is changed', async t => {
  const folder = await dataFolder(t)
  const { settings } = await placesOn(t, url, ['documents.mongodb', 'blobs.s3'])
  const refused = [
    [['--from', 'sqlite+disk'], /Both options are required/],
    [['--from', 'sqlite', '--to', 'mongodb+s3'], /--from sqlite: specify the document store and the blob store/],
    [['--from', 'sqlite+disk', '--to', 'oracle+s3'], /documents\.oracle is not part/],
    [['--from', 'sqlite+sweep', '--to', 'mongodb+s3'], /is neither/],
    [['--from', 'sqlite+disk', '--to', 'sqlite+disk'], /nothing to migrate/],
    [['--from', 'sqlite+disk', '--to', 'mongodb+s3'], /No installation found in the source/],
  ] as const
  for (const [options, message] of refused) {
    const { code, err } = await runPounceWith(without(settings), folder, 'migrate', ...options)
    t.is(code, 1)
    t.regex(err, message)
  }
  await childServer(t, folder)
  const { code, err } = await runPounceWith(without(settings), folder, 'migrate', '--from', 'sqlite+disk', '--to', 'mongodb+s3')
  t.is(code, 1)
  t.regex(err, /is used by the process/)
})
