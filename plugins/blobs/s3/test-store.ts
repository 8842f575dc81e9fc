import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PermissionCatalog } from 'pounce/sdk/kit'
import { FixedClock, silent } from 'pounce/sdk/testing'
import { BucketObjects } from './bucket-objects.ts'
import { S3Connection } from './connection.ts'
import { MultipartUploads } from './multipart-uploads.ts'
import { S3Blobs } from './s3-blobs.ts'
import type { S3Config } from './s3-config.ts'

/** A store for a test, and its backend. */
export interface TestStore {
  readonly store: S3Blobs
  readonly connection: S3Connection
  readonly objects: BucketObjects
  readonly uploads: MultipartUploads
  readonly config: S3Config
  readonly clock: FixedClock
}

/** Settings for a bucket that does not exist yet. */
export const freshConfig = (endpoint: string, more: Partial<S3Config> = {}): S3Config => ({
  endpoint,
  bucket: `pounce-test-${randomBytes(8).toString('hex')}`,
  createBucket: true,
  prefix: '',
  accessKeyId: 'testkey',
  secretAccessKey: 'testsecret',
  ...more,
})

/** A started store in a new bucket; both are removed when the test ends. `through` is the address that the store uses instead of that of the server. */
export async function freshStore(
  t: { teardown(fn: () => Promise<void>): void },
  endpoint: string,
  { through = endpoint, ...more }: Partial<S3Config> & { readonly through?: string } = {},
): Promise<TestStore> {
  const config = freshConfig(endpoint, more)
  const direct = new S3Connection(config, silent)
  await direct.start()
  t.teardown(() => removeBucket(direct))
  return startedStore(t, { ...config, endpoint: through })
}

/** A store on an existing bucket. */
export async function startedStore(t: { teardown(fn: () => Promise<void>): void }, config: S3Config): Promise<TestStore> {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-s3-'))
  const connection = new S3Connection(config, silent)
  await connection.start()
  const installation = {
    instance: 'test',
    version: '0',
    dataFolder: folder,
    baseUrl: '',
    plugins: [],
    roles: new Set(['http' as const]),
    admins: [],
    permissions: new PermissionCatalog(),
  }
  const clock = new FixedClock()
  const store = new S3Blobs(config, connection, installation, clock, silent)
  await store.start()
  t.teardown(async () => {
    await store.dispose()
    connection.dispose()
    await rm(folder, { recursive: true, force: true })
  })
  return { store, connection, objects: new BucketObjects(connection), uploads: new MultipartUploads(connection), config, clock }
}

async function removeBucket(connection: S3Connection): Promise<void> {
  const objects = new BucketObjects(connection)
  const uploads = new MultipartUploads(connection)
  for await (const upload of uploads.list('')) await uploads.abort(upload)
  for await (const { name } of objects.list('')) await objects.remove(name)
  const { sdk, client, bucket } = connection.wire
  await client.send(new sdk.DeleteBucketCommand({ Bucket: bucket }))
  connection.dispose()
}
