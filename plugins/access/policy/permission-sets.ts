import type { Permission } from 'pounce/sdk'
import { readingPermissions } from 'pounce/sdk/kit'

/** The permissions of an account with status ReadOnly (reference, api-platform §2). */
export const readOnlyPermissions: ReadonlySet<Permission> = new Set<Permission>([...readingPermissions, 'DownloadFiles'])

/**
 * The permissions of extractors: those of the routes that pyclowder and extractors call (reference, extraction §5.2, §8, §9; api-data, tier C).
 * Of the delete permissions only DeleteMetadata, which `resources.metadata` limits to documents of extractors. No spaces of their own, no accounts. What
 * DownloadFiles, EditFile … apply to is still bounded by the rights of the key's owner.
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

/**
 * Permissions whose use affects a resource everywhere: parents grant them only together. Whoever adds a file to a dataset of their own can edit it there, but
 * neither delete it from other datasets nor archive it.
 */
export const undividedPermissions: ReadonlySet<Permission> = new Set<Permission>(['DeleteFile', 'ArchiveFile'])

/** Permissions of a job key in the dataset of its file, and on its contents: read, add, and delete metadata of its own extractor (`resources.metadata`). */
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

/** Permissions on its target and descendants: in addition, submit extractions and mark files as archived. No other route accepts these from such a key. */
export const jobPermissions: ReadonlySet<Permission> = new Set<Permission>([
  ...jobAddingPermissions,
  'EditFile',
  'EditDataset',
  'ArchiveFile',
])

/**
 * Permissions of a key limited to spaces on routes without a specific resource: each such route returns only what the policy allows, or
 * creates and changes only what it attaches to a resource that it checks (`test/api/limited-keys.test.ts` lists all of them).
 */
export const placedPermissions: ReadonlySet<Permission> = new Set<Permission>([
  ...(['ViewSpace', 'ViewDataset', 'ViewCollection', 'ViewFile', 'ViewSection', 'ViewMetadata', 'ViewTags', 'ViewComments'] as const),
  ...(['ViewRelation', 'DownloadFiles'] as const),
  ...(['CreateDataset', 'CreateCollection', 'AddResourceToDataset', 'AddFile', 'AddMetadata', 'CreateSection', 'CreateRelation'] as const),
  ...(['ViewGeoStream', 'CreateSensor', 'AddGeoStream', 'DeleteGeoStream'] as const),
])
