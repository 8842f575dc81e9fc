import test from 'ava'
import { where } from './where.ts'

const id = '5f1e7c0000a1b2c3d4e5f601'

/** A text and the folder of the source that must be found for it. */
const urls: readonly (readonly [text: string, folder: string])[] = [
  [`GET /api/datasets/${id}`, 'plugins/resources/datasets/'],
  [`POST /api/uploadToDataset/${id}`, 'plugins/resources/files/'],
  ['GET https://data.example.org/api/search?query=soil', 'plugins/resources/search/'],
  [`DELETE /api/spaces/${id}`, 'plugins/resources/spaces/'],
  ['/api/geostreams/datapoints/bin/day/1', 'plugins/resources/geostreams/'],
  [`/api/files/${id}/metadata.jsonld`, 'plugins/resources/metadata/'],
  ['POST /api/login', 'plugins/resources/users/'],
  [`/api/thumbnails/${id}`, 'plugins/resources/previews/'],
  ['/healthz', 'core/system-routes.ts'],
  ['GET /api/extractors/', 'plugins/resources/extractions/'],
]

const settings: readonly (readonly [text: string, folder: string])[] = [
  ['http.port', 'core/'],
  ['http.maxConnections', 'core/http/'],
  ['replacePlugins', 'core/kernel/config/'],
  ['POUNCE_LOG__LEVEL', 'core/'],
  ['startTimeoutMs', 'core/kernel/config/'],
  ['blobs.s3.bucket', 'plugins/blobs/s3/'],
  ['resources.users.stepUpMinutes', 'plugins/resources/users/'],
  ['resources.files.scrubDays', 'plugins/resources/files/'],
  ['POUNCE_DOCUMENTS__MONGODB__URI', 'plugins/documents/mongodb/'],
  ['auth.ldap.bindPassword', 'plugins/auth/ldap/'],
]

/** Messages in responses, in the log and on the command line. */
const messages: readonly (readonly [text: string, folder: string])[] = [
  ['Dataset not found or not accessible', 'sdk/'],
  ['Permission denied: AddFile required', ''],
  ['Handler failed; the event will be retried', 'core/kernel/'],
  ['Plugin is still starting', 'core/kernel/'],
  ['Stopping; waiting for running requests', 'core/'],
  ['Search index rebuilt', 'plugins/resources/search/'],
  ['Extractors run in an operating system sandbox', 'plugins/transport/queue/'],
  ['Metadata successfully added to db', 'plugins/resources/metadata/'],
  ['Dead letters cannot be migrated: see `pounce events dead-letters`, then `events retry` or `events drop`', 'core/'],
  ['Job requeued from its error queue', 'plugins/transport/rabbitmq/'],
]

for (const [what, texts] of Object.entries({ urls, settings, messages })) {
  test(`${what} lead to their source`, async t => {
    for (const [text, folder] of texts) {
      const places = await where(text)
      t.true(places.length > 0 && places.length <= 3, `${text}: ${places.length} places`)
      t.true(
        places.some(({ file }) => file.startsWith(folder)),
        `${text}: ${places.map(({ file, line }) => `${file}:${line}`).join(', ')}`,
      )
    }
  })
}

test('a text that is in no source has no location', async t => {
  for (const text of ['GET /api/no-such-route', 'http.noSuchSetting', 'This sentence is in none of our sources']) {
    t.deepEqual(await where(text), [], text)
  }
})
