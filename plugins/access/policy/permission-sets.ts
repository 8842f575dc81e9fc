import type { Permission } from 'pounce/sdk'
import { readingPermissions } from 'pounce/sdk/kit'

/** What an account with status ReadOnly keeps (reference, api-platform §2). */
export const readOnlyPermissions: ReadonlySet<Permission> = new Set<Permission>([...readingPermissions, 'DownloadFiles'])

/**
 * What extractors do: the permissions of the routes that pyclowder and extractors call (reference, extraction §5.2, §8, §9; api-data, tier C),
 * and of those that delete, only DeleteMetadata: `resources.metadata` limits it to documents of extractors. No spaces of their own, no accounts. What
 * DownloadFiles, EditFile … reach is still bounded by the rights of the user behind the key.
 */
export const extractionPermissions: ReadonlySet<Permission> = new Set<Permission>([
  ...readOnlyPermissions,
  'AddFile',
  'EditFile',
  'CreateDataset',
  'EditDataset',
  'AddResourceToDataset',
  'CreateCollection',
  'EditCollection',
  'AddResourceToCollection',
  'AddResourceToSpace',
  'AddMetadata',
  'DeleteMetadata',
  'AddTag',
  'CreatePreview',
  'CreateSection',
  'EditSection',
  'AddGeoStream',
])

/** What the key of a job may do in the dataset that holds its file, and to what lies there: read, add, and delete metadata of its own extractor (`resources.metadata`). */
export const jobAddingPermissions: ReadonlySet<Permission> = new Set<Permission>([
  ...readOnlyPermissions,
  'AddFile',
  'AddResourceToDataset',
  'AddMetadata',
  'DeleteMetadata',
  'AddTag',
  'CreatePreview',
  'CreateSection',
  'EditSection',
])

/** What it may do to its target and what lies below: besides that, submit extractions, and say that files are archived, which takes these. No other route takes them from such a key. */
export const jobPermissions: ReadonlySet<Permission> = new Set<Permission>([
  ...jobAddingPermissions,
  'EditFile',
  'EditDataset',
  'ArchiveFile',
])

/**
 * What a key that is limited to spaces may request where no thing is named: every route that does so shows only what the policy lets through, or
 * makes and changes only what it places on a resource that it checks (`test/api/limited-keys.test.ts` lists them all).
 */
export const placedPermissions: ReadonlySet<Permission> = new Set<Permission>([
  ...(['ViewSpace', 'ViewDataset', 'ViewCollection', 'ViewFile', 'ViewSection', 'ViewMetadata', 'ViewTags', 'ViewComments'] as const),
  ...(['ViewRelation', 'DownloadFiles'] as const),
  ...(['CreateDataset', 'CreateCollection', 'AddResourceToDataset', 'AddFile', 'AddMetadata', 'CreateSection', 'CreateRelation'] as const),
  ...(['ViewGeoStream', 'CreateSensor', 'AddGeoStream', 'DeleteGeoStream'] as const),
])
