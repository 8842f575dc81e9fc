const named = (verbs: string, things: string): readonly string[] =>
  verbs.split(' ').flatMap(verb => things.split(' ').map(thing => `${verb}${thing}`))

/** READONLY of Clowder v1 (reference, api-platform §2): the role Viewer, and everyone's permissions on public resources. */
export const readOnly: ReadonlySet<string> = new Set(
  named('View', 'Space Dataset Collection File Section Metadata Tags Comments Sensor GeoStream User Vocabulary VocabularyTerm'),
)

const viewer = readOnly

/** The same paragraph, without the archive permissions (docs/clowder-differences.md, Rights). */
const editor: ReadonlySet<string> = new Set([
  ...viewer,
  ...['CreateSpace', 'AddResourceToSpace', 'RemoveResourceFromSpace'],
  ...named('Create Edit Public ExecuteOn', 'Dataset'),
  ...['AddResourceToDataset', 'RemoveResourceFromDataset'],
  ...named('Create Edit', 'Collection'),
  ...['AddResourceToCollection', 'RemoveResourceFromCollection'],
  ...['AddFile', 'EditFile', 'DownloadFiles', 'EditLicense', 'CreatePreview', 'MultimediaIndexDocument'],
  ...named('Create Edit Delete', 'Section'),
  ...named('Add Edit Delete', 'Metadata'),
  ...named('Add Delete', 'Tag'),
  ...named('Add Edit Delete', 'Comment'),
  ...['CreateSensor', 'DeleteSensor', 'AddGeoStream', 'DeleteGeoStream', 'AddDatapoints'],
  ...named('Create View Delete', 'Relation'),
  ...named('Create Edit Delete', 'Vocabulary VocabularyTerm'),
])

const admin: ReadonlySet<string> = new Set([
  ...editor,
  ...['DeleteSpace', 'EditSpace', 'PublicSpace', 'EditStagingArea', 'DeleteDataset', 'DeleteCollection', 'DeleteFile', 'EditUser'],
  ...named('Archive', 'File Dataset'),
])

export const roles = { viewer, editor, admin }

/** Accounts of status ReadOnly: the same paragraph, "unless p is READONLY or DownloadFiles". */
export const ofReadOnlyAccounts: ReadonlySet<string> = new Set([...readOnly, 'DownloadFiles'])

/**
 * Permissions of extractors (architecture §6.4): those of the routes that pyclowder and extractors call (extraction §5.2, §8, §9; api-data, the routes
 * marked C). Of permissions to delete, only that of pyclowder's remove_metadata.
 */
export const ofExtractionKeys: ReadonlySet<string> = new Set([
  ...readOnly,
  ...['DownloadFiles', 'AddFile', 'EditFile', 'CreatePreview', 'AddMetadata', 'DeleteMetadata', 'AddTag', 'CreateSection', 'EditSection'],
  ...['CreateDataset', 'EditDataset', 'AddResourceToDataset', 'AddResourceToSpace'],
  ...['CreateCollection', 'EditCollection', 'AddResourceToCollection'],
  'AddGeoStream',
])

/** Whether a permission only reads (decision 0022, the verb `read`). */
export const looks = (permission: string): boolean => permission.startsWith('View') || permission === 'DownloadFiles'
