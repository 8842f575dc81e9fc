import test from 'ava'
import type { Permission } from 'pounce/sdk'
import { allPermissions, readingPermissions } from 'pounce/sdk/kit'
import { extractionPermissions, jobAddingPermissions, jobPermissions, readOnlyPermissions } from './permission-sets.ts'

/** The calls of pyclowder (reference, extraction §5.2) and other extractors (§8), with the permissions the reference requires per route. */
const calls: Readonly<Record<string, readonly string[]>> = {
  'GET /files/:id': ['DownloadFiles'],
  'GET /files/:id/metadata': ['ViewFile'],
  'GET /files/:id/metadata.jsonld': ['ViewMetadata'],
  'PUT /files/:id/filename': ['EditFile'],
  'POST /files/:id/metadata.jsonld': ['AddMetadata'],
  'POST /files/:id/tags': ['AddTag'],
  'POST /previews': ['AddFile'],
  'POST /files/:id/previews/:preview': ['AddFile'],
  'POST /fileThumbnail': ['CreatePreview'],
  'POST /tiles': ['CreatePreview'],
  'POST /files/:id/thumbnails/:thumbnail': ['AddFile'],
  'POST /uploadToDataset/:id': ['AddResourceToDataset'],
  'POST /files/:id/extractions': ['EditFile'],
  'GET /datasets/:id': ['ViewDataset'],
  'GET /datasets/:id/download': ['DownloadFiles'],
  'DELETE /datasets/:id/metadata.jsonld': ['DeleteMetadata'],
  'POST /datasets/:id/extractions': ['EditDataset'],
  'POST /datasets/createempty': ['CreateDataset', 'AddResourceToSpace', 'AddResourceToCollection'],
  'POST /collections': ['CreateCollection', 'AddResourceToSpace'],
  'POST /collections/newCollectionWithParent': ['CreateCollection', 'AddResourceToSpace', 'AddResourceToCollection'],
  'GET /collections/:id/datasets': ['ViewCollection'],
  'POST /collections/:id/previews/:preview': ['EditCollection'],
  'POST /sections': ['CreateSection'],
  'GET /sections/:id': ['ViewSection'],
  'POST /sections/:id/tags': ['AddTag'],
  'POST /sections/:id/description': ['EditSection'],
  'POST /geostreams/sensors': ['AddGeoStream'],
  'POST /geostreams/streams': ['AddGeoStream'],
  'POST /geostreams/datapoints': ['AddGeoStream'],
  'GET /geostreams/sensors': ['ViewGeoStream'],
}

const sorted = (permissions: Iterable<string>): string[] => [...new Set(permissions)].sort()

test('a key of scope extraction grants the permissions of extractor calls and of reading, and no others', t => {
  t.deepEqual(sorted(extractionPermissions), sorted([...Object.values(calls).flat(), ...readingPermissions]))
})

test('extractor keys permit no deletion except of metadata, no removal or administration, and no creation of spaces', t => {
  for (const permissions of [extractionPermissions, jobPermissions])
    t.deepEqual(
      [...permissions].filter(
        each => /^(?:Delete|Remove|Public)|Vocabulary|User|License|Staging/.test(each) && !readingPermissions.has(each),
      ),
      ['DeleteMetadata'],
    )
  t.false(extractionPermissions.has('CreateSpace') || extractionPermissions.has('EditSpace'))
})

test('a job key grants no permissions beyond scope extraction except that of archive extractors', t => {
  t.true(jobAddingPermissions.isSubsetOf(jobPermissions))
  t.deepEqual([...jobPermissions.difference(extractionPermissions)], ['ArchiveFile'])
})

test('a ReadOnly account has the reading permissions and DownloadFiles', t => {
  t.deepEqual(sorted(readOnlyPermissions), sorted([...readingPermissions, 'DownloadFiles']))
  t.deepEqual(
    [...readingPermissions].filter((each: Permission) => !each.startsWith('View') || !allPermissions.has(each)),
    [],
  )
})
