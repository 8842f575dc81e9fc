import test, { type ExecutionContext } from 'ava'
import { adminKey, childServer, dataFolder, runPounceWith } from './support/child-server.ts'
import { ok } from './support/scene.ts'

/** Nothing listens there: a command that is not refused fails at its target. */
const target = { POUNCE_DOCUMENTS__MONGODB__URI: 'mongodb://127.0.0.1:1/', POUNCE_BLOBS__S3__BUCKET: 'pounce' }
const words = ['migrate', '--from', 'sqlite+disk', '--to', 'mongodb+s3']
const pastRefusals = /documents\.mongodb did not start/

/** A folder with a stopped installation that has used all plugins, and has a record of `resources.institutions`. */
const usedFolder = async (t: ExecutionContext): Promise<string> => {
  const folder = await dataFolder(t)
  const server = await childServer(t, folder)
  const call = server.as(await adminKey(server))
  await ok(call('/api/institutions/addinstitution?institution=Garden', { method: 'POST' }))
  server.signal('SIGTERM')
  await server.ended
  return folder
}

test('a migration is refused if it would omit the records of a plugin that is not loaded', async t => {
  const folder = await usedFolder(t)
  const settings = { ...target, POUNCE_PLUGINS: '-resources.institutions' }
  const refused = await runPounceWith(settings, folder, ...words)
  t.is(refused.code, 1)
  t.regex(refused.err, /not be migrated: resources\.institutions\. Add them to ..plugins.., or .*--skip-plugins resources\.institutions/)
  const skipped = await runPounceWith(settings, folder, ...words, '--skip-plugins', 'resources.institutions')
  t.regex(skipped.err, pastRefusals)
  t.regex((await runPounceWith({ ...target, POUNCE_PLUGINS: '-resources.logos' }, folder, ...words)).err, pastRefusals, 'it has no records')
  t.regex((await runPounceWith(target, folder, ...words)).err, pastRefusals)
})

test('a migration is refused if it would leave the datapoints in a store that is no longer configured', async t => {
  const folder = await usedFolder(t)
  const settings = {
    ...target,
    POUNCE_REPLACE_PLUGINS: 'documents.mongodb,blobs.s3,geo.postgis',
    POUNCE_GEO__POSTGIS__URL: 'postgres://127.0.0.1:1/x',
  }
  const refused = await runPounceWith(settings, folder, ...words)
  t.is(refused.code, 1)
  t.regex(refused.err, /in geo\.rtree, but geo\.postgis is configured: .* --from sqlite\+disk\+rtree --to mongodb\+s3\+postgis/)
  const both = await runPounceWith(settings, folder, 'migrate', '--from', 'sqlite+disk+rtree', '--to', 'mongodb+s3+rtree')
  t.regex(both.err, pastRefusals, 'it is specified that they stay')
})
