/**
 * What the rows of the oracle call the permissions: the kind of right that a permission is. Written down once more, apart from
 * `sdk/model/permission.ts` and the policy: a permission that is not here has no place, and the matrix fails by its name.
 */
export const rights: Readonly<Record<Right, readonly string[]>> = {
  look: [
    ...['ViewSpace', 'ViewDataset', 'ViewCollection', 'ViewFile', 'ViewSection', 'ViewMetadata', 'ViewTags', 'ViewComments'],
    ...['ViewSensor', 'ViewUser', 'ViewVocabulary', 'ViewVocabularyTerm'],
  ],
  read: ['ViewGeoStream'],
  download: ['DownloadFiles'],
  relate: ['ViewRelation'],
  annotate: [
    ...['AddFile', 'EditFile', 'CreateDataset', 'EditDataset', 'AddResourceToDataset', 'CreateCollection', 'EditCollection'],
    ...['AddResourceToCollection', 'AddResourceToSpace', 'AddMetadata', 'EditMetadata', 'AddTag', 'AddComment', 'CreatePreview'],
    ...['CreateSection', 'EditSection', 'CreateRelation', 'MultimediaIndexDocument', 'CreateSensor', 'AddGeoStream', 'AddDatapoints'],
  ],
  edit: [
    ...['CreateSpace', 'RemoveResourceFromSpace', 'PublicDataset', 'RemoveResourceFromDataset', 'ExecuteOnDataset'],
    ...['RemoveResourceFromCollection', 'EditLicense', 'EditComment', 'CreateVocabulary', 'EditVocabulary', 'CreateVocabularyTerm'],
    'EditVocabularyTerm',
  ],
  remove: [
    ...['DeleteSection', 'DeleteMetadata', 'DeleteTag', 'DeleteComment', 'DeleteSensor', 'DeleteGeoStream', 'DeleteRelation'],
    ...['DeleteVocabulary', 'DeleteVocabularyTerm'],
  ],
  rule: ['EditSpace', 'PublicSpace', 'EditStagingArea', 'EditUser', 'ArchiveFile', 'ArchiveDataset'],
  destroy: ['DeleteSpace', 'DeleteDataset', 'DeleteCollection', 'DeleteFile'],
}

/**
 * look: everybody on a public server, and on public things. read: the same, of readings, which a private server may show to everybody too. download: who edits, and accounts that only read. relate: like editing, but it
 * is only looking. annotate: editors, extractors too. edit: editors, no extractors. remove: the same, also from the trash. rule:
 * admins of a space. destroy: the same, also from the trash. own: whoever made it.
 */
export type Right = 'look' | 'read' | 'download' | 'relate' | 'annotate' | 'edit' | 'remove' | 'rule' | 'destroy'

const byPermission = new Map(Object.entries(rights).flatMap(([right, permissions]) => permissions.map(each => [each, right as Right])))

/** The right that a permission is; undefined for one without a place. */
export const rightOf = (permission: string): Right | undefined => byPermission.get(permission)
