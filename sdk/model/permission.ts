const reading = [
  'ViewSpace',
  'ViewDataset',
  'ViewCollection',
  'ViewFile',
  'ViewSection',
  'ViewMetadata',
  'ViewTags',
  'ViewComments',
  'ViewSensor',
  'ViewGeoStream',
  'ViewUser',
  'ViewVocabulary',
  'ViewVocabularyTerm',
] as const

const editing = [
  'CreateSpace',
  'AddResourceToSpace',
  'RemoveResourceFromSpace',
  'CreateDataset',
  'EditDataset',
  'PublicDataset',
  'AddResourceToDataset',
  'RemoveResourceFromDataset',
  'ExecuteOnDataset',
  'CreateCollection',
  'EditCollection',
  'AddResourceToCollection',
  'RemoveResourceFromCollection',
  'AddFile',
  'EditFile',
  'DownloadFiles',
  'EditLicense',
  'CreatePreview',
  'MultimediaIndexDocument',
  'CreateSection',
  'EditSection',
  'DeleteSection',
  'AddMetadata',
  'EditMetadata',
  'DeleteMetadata',
  'AddTag',
  'DeleteTag',
  'AddComment',
  'EditComment',
  'DeleteComment',
  'CreateSensor',
  'DeleteSensor',
  'AddGeoStream',
  'DeleteGeoStream',
  'AddDatapoints',
  'CreateRelation',
  'ViewRelation',
  'DeleteRelation',
  'CreateVocabulary',
  'EditVocabulary',
  'DeleteVocabulary',
  'CreateVocabularyTerm',
  'EditVocabularyTerm',
  'DeleteVocabularyTerm',
] as const

const ruling = [
  'DeleteSpace',
  'EditSpace',
  'PublicSpace',
  'EditStagingArea',
  'DeleteDataset',
  'DeleteCollection',
  'DeleteFile',
  'EditUser',
  'ArchiveFile',
  'ArchiveDataset',
] as const

/** A right that a role can hold (reference, api-platform §2). */
export type Permission = (typeof reading)[number] | (typeof editing)[number] | (typeof ruling)[number]

/** The rights that everybody has on everything of a public server, and on public resources of a private one. */
export const readingPermissions: ReadonlySet<Permission> = new Set(reading)
/** What a Viewer, an Editor and an Admin of a space may do when the roles are first made. Archiving is the Admin's (seed). */
export const defaultRoles: Readonly<Record<'Viewer' | 'Editor' | 'Admin', readonly Permission[]>> = {
  Viewer: reading,
  Editor: [...reading, ...editing],
  Admin: [...reading, ...editing, ...ruling],
}

/** Every permission there is; a route that declares another one stops the start. */
export const allPermissions: ReadonlySet<string> = new Set<string>(defaultRoles.Admin)
