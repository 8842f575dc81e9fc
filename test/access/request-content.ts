import { extractorInfo } from '../support/extractor-info.ts'
import { geostreamSendings } from './request-content-geostreams.ts'

/** The content of a request besides the ids of the oracle. `$dataset` is the id of that slot, `@key` a resource of the world, `#` a new word. */
export interface RequestContent {
  /** Path and query parameters other than ids of resources with a state. */
  readonly with?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Fields of a form; `file` is the name of its file part. */
  readonly fields?: Readonly<Record<string, string>>
  readonly filePart?: string | false
  readonly headers?: Readonly<Record<string, string>>
  /** Instead of a text file. */
  readonly bytes?: 'picture' | 'bag'
  /** Statuses other than success when all permissions are held; these do not depend on permissions. */
  readonly answers?: readonly number[]
  /** Its resources rarely belong together, which results in a 404. */
  readonly isLoose?: true
  /** Requires two different resources of one kind: not requested if they would be the same. */
  readonly isApart?: true
  /** States in which it is not requested, because the value would not be an id but a path, protocol text or external URL. */
  readonly skips?: readonly string[]
  /** Deletes resources of other requests, and therefore runs last. */
  readonly isLast?: true
  /** The reason why it never succeeds in the matrix. */
  readonly neverHere?: string
}

const agent = { '@type': 'cat:extractor', name: 'm', extractor_id: 'https://example.org/extractors/m/1.0' }
const document = { '@context': {}, agent, content: { matrix: 1 } }
const tus = { 'tus-resumable': '1.0.0' }
const vocabulary = { name: 'words', description: '', keys: 'a', tags: '', terms: [{ key: 'a' }] }
const definition = { label: '#', type: 'string', uri: 'http://example.org/#' }
const license = { licenseType: 'license2', rightsHolder: 'm', licenseText: '', licenseUrl: '', allowDownload: 'false' }
const titles = { theme: 'bootstrap.min.css', displayName: 'm', welcomeMessage: 'm', googleAnalytics: '' }
const sensors = { sensors: 's', sensor: 's', parameters: 'p', parameter: 'p' }
const proxied: RequestContent = { with: { key: 'nothing', path: 'x' }, neverHere: 'no server is configured behind the proxy' }
const archiving: RequestContent = { neverHere: 'no archiver is configured' }

const registration = { id: 'AA', rawId: 'AA', type: 'public-key', response: { clientDataJSON: 'AA', attestationObject: 'AA' } }
const assertion = {
  id: 'AA',
  rawId: 'AA',
  type: 'public-key',
  response: { clientDataJSON: 'AA', authenticatorData: 'AA', signature: 'AA' },
}
const noFactor = { neverHere: 'nobody has a second factor' }

/** Second factors: the accounts of the matrix use keys, which have none. */
const factorSendings: Readonly<Record<string, RequestContent>> = {
  finishLogin: { body: { challenge: 'm', code: '000000' }, answers: [401], ...noFactor },
  loginWithPasskey: { body: { challenge: 'm', passkey: assertion }, answers: [401], ...noFactor },
  stepUp: { body: { password: 'm' }, answers: [403], neverHere: 'nobody has a session' },
  beginPasskeyStepUp: noFactor,
  beginTotp: { body: {}, neverHere: 'no password is sent' },
  beginPasskey: { body: {}, neverHere: 'no password is sent' },
  confirmTotp: { body: { enrolment: 'm', code: '000000' }, neverHere: 'a code shows what an app knows' },
  addPasskey: { body: { enrolment: 'm', name: 'm', passkey: registration }, neverHere: 'there is no authenticator' },
  removeTotp: { answers: [400, 409], ...noFactor },
  replaceRecoveryCodes: noFactor,
  renamePasskey: { with: { passkey: 'f'.repeat(24) }, body: { name: 'm' }, ...noFactor },
  removePasskey: { with: { passkey: 'f'.repeat(24) }, ...noFactor },
  resetSecondFactors: { with: { id: '@person' } },
}

const noWebhook: RequestContent = { with: { webhook: 'f'.repeat(24) }, answers: [404], neverHere: 'nobody has a webhook' }
const noDelivery: RequestContent = { ...noWebhook, with: { webhook: 'f'.repeat(24), delivery: 'm' } }
const noNotification: RequestContent = { with: { id: 'f'.repeat(24) }, answers: [404], neverHere: 'nobody has a notification' }
const webhook = { url: 'https://example.org/hook' }

/** Personal webhooks and notifications. */
const personalSendings: Readonly<Record<string, RequestContent>> = {
  createWebhook: { body: webhook },
  createWebhookOfSpace: { body: webhook },
  createWebhookOfServer: { body: webhook },
  getWebhook: noWebhook,
  updateWebhook: { ...noWebhook, body: { active: false } },
  deleteWebhook: noWebhook,
  rotateWebhookSecret: noWebhook,
  testWebhook: noWebhook,
  listWebhookDeliveries: noWebhook,
  getWebhookDelivery: noDelivery,
  resendWebhookDelivery: noDelivery,
  resendWebhookDeliveries: { ...noWebhook, body: { since: '2026-01-01' } },
  markNotificationRead: noNotification,
  markNotificationUnread: noNotification,
  deleteNotification: noNotification,
  setNotificationPreferences: { body: { reply: 'mail' } },
}

/** By route. Requests of other routes are generated from their declaration alone. */
export const requestContents: Readonly<Record<string, RequestContent>> = {
  ...geostreamSendings,
  ...personalSendings,
  login: { body: { email: '@mail', password: '@password' } },
  createUser: { body: { email: '#@example.org', password: 'a long password', firstName: 'A', lastName: 'B' } },
  setStatuses: { body: { active: ['$user'] } },
  createKey: { with: { name: '#' } },
  deleteKey: { with: { name: '@key' } },
  getKey: { with: { name: '@key' } },
  renameUser: { with: { firstName: 'A', lastName: 'B' } },
  setUpFirstAdmin: {
    body: { token: 'x'.repeat(43), email: 'a@example.org', password: 'a long password', firstName: 'A', lastName: 'B' },
    neverHere: 'the first admin is there',
  },
  getSetUp: { with: { token: 'x'.repeat(43) }, neverHere: 'the first admin is there' },
  checkSetUp: { with: { token: 'x'.repeat(43) }, neverHere: 'the first admin is there' },
  setPreferences: { body: { theme: 'dark' } },
  deleteSessionsOfUser: { with: { id: '@person' } },
  attachPreview: { skips: ['malformed'] },
  attachCollectionPreview: { skips: ['malformed'] },
  moveFolder: { isApart: true },
  setSpaceMember: { body: { role: 'Viewer' } },
  inviteIntoSpace: { body: { emails: ['#@example.org'], role: 'Viewer' } },
  withdrawSpaceInvitation: { with: { invitation: 'f'.repeat(24) }, neverHere: 'nobody is invited' },
  acceptInvitation: { with: { id: 'f'.repeat(24) }, neverHere: 'nobody is invited' },
  declineInvitation: { with: { id: 'f'.repeat(24) }, neverHere: 'nobody is invited' },
  withdrawSpaceRequest: { neverHere: 'nobody asked' },
  deleteSession: { with: { id: 'f'.repeat(24) }, neverHere: 'nobody has a session' },
  changePassword: { body: { oldPassword: '@password', newPassword: '@password' }, answers: [401, 403], neverHere: 'the password stays' },
  ...factorSendings,
  exportPersonalData: { answers: [429] },
  erasePersonalData: { with: { heir: '$id' }, neverHere: 'an account that was its own heir stays, and is needed' },
  getQuota: { with: { kind: 'user', id: '@person' } },
  setQuota: { with: { kind: 'user', id: '@person' }, body: { maxBytes: null, maxFiles: null } },
  getAvatar: { with: { picture: 'AB-3' } },
  deleteQuarantined: { with: { id: 'f'.repeat(24) }, neverHere: 'no scanner runs' },
  releaseQuarantined: { with: { id: 'f'.repeat(24) }, neverHere: 'no scanner runs' },
  getRole: { with: { id: '@role' } },
  createRole: { body: { name: '#', permissions: ['ViewSpace'] } },
  updateRole: { with: { id: '@role' }, body: { description: 'm' } },
  deleteRole: { with: { id: '@role' } },
  startSignIn: { with: { provider: 'm' }, neverHere: 'no provider is configured' },
  finishSignIn: { with: { provider: 'm' }, neverHere: 'no provider is configured' },
  signUp: { body: { email: '#@example.org' }, answers: [403], neverHere: 'signing up may be switched off' },
  askForReset: { body: { email: '#@example.org' } },
  ...Object.fromEntries(
    ['getSignUp', 'getReset', 'finishSignUp', 'finishReset', 'getIdentityLink', 'confirmIdentityLink'].map(name => [
      name,
      {
        with: { token: 'x'.repeat(43) },
        body: { token: 'x'.repeat(43), password: 'a long password', firstName: 'A', lastName: 'B' },
        answers: [403],
        neverHere: 'links go out by mail',
      },
    ]),
  ),
  ...Object.fromEntries(['getGroup', 'deleteGroup', 'listGroupMembers', 'listGroupSpaces'].map(name => [name, { with: { id: '@group' } }])),
  createGroup: { body: { name: '#' } },
  updateGroup: { with: { id: '@group' }, body: { description: 'm' } },
  setPlugin: { with: { id: 'extractors.zip' }, body: { enabled: true } },
  addGroupMembers: { with: { id: '@group' }, body: { users: ['@person'] } },
  removeGroupMember: { with: { id: '@group', user: '@person' }, answers: [404] },
  setSpaceGroup: { with: { group: '@group' }, body: { role: 'Viewer' } },
  removeSpaceGroup: { with: { group: '@group' }, answers: [404], neverHere: 'the group is no member' },
  explainPermission: { with: { permission: 'ViewDataset', type: 'dataset' } },
  createSpace: { body: { name: 'm', description: 'm' } },
  updateSpace: { body: { name: 'm', description: 'm', timetolive: '24', enabled: false } },
  updateSpaceUsers: { body: { rolesandusers: { Viewer: '$user' } } },
  acceptSpaceRequest: { neverHere: 'nobody asked to be let in' },
  rejectSpaceRequest: { neverHere: 'nobody asked to be let in' },
  createCollection: { body: { name: 'm', description: '', space: '$space' } },
  createCollectionWithParent: { body: { name: 'm', description: '', parentId: '$parent', space: '$space' } },
  removeCollectionFromSpace: { with: { removeDatasets: 'false' }, isLoose: true },
  removeDatasetFromCollectionByPost: { with: { ignoreNotFound: 'true' } },
  setDatasetAccess: { with: { access: 'PRIVATE' } },
  licenseDataset: { body: license },
  licenseFile: { body: license },
  moveDatasetCreator: { with: { creator: 'm', newPos: '0' }, answers: [404] },
  removeDatasetCreator: { with: { creator: 'm' } },
  createFolder: { body: { name: 'm', parentId: '$parent', parentType: 'folder' } },
  ensureFolder: { body: { path: '#', parentId: '$parent' } },
  uploadByUrl: { body: { fileurl: 'http://192.0.2.1/x' }, neverHere: 'nothing outside is fetched' },
  uploadUrlsToDataset: { body: { fileurl: 'http://192.0.2.1/x' }, neverHere: 'nothing outside is fetched' },
  bulkRemoveFiles: { body: { fileIds: ['$file'] } },
  createArchive: { body: { resources: [{ type: 'file', id: '$file' }] } },
  // Only an invalid key is refused before the archive is looked up: 401 instead of 404.
  downloadArchive: { with: { id: 'f'.repeat(24) }, answers: [401, 404], neverHere: 'nobody has an archive of this id' },
  createBulkJob: { body: { act: 'untag', tags: ['m'], select: { dataset: '$dataset' } } },
  ...Object.fromEntries(
    ['getBulkJob', 'cancelBulkJob', 'listBulkOutcomes'].map(name => [
      name,
      { with: { id: 'f'.repeat(24) }, answers: [404], neverHere: 'nobody has a job of this id' },
    ]),
  ),
  getFileByLink: { with: { link: '@link' } },
  revokeFileLink: { with: { link: 'f'.repeat(24) }, answers: [404], neverHere: 'nobody has a link of this id' },
  revokeOwnLink: { with: { link: 'f'.repeat(24) }, neverHere: 'nobody has a link of this id' },
  appendToUpload: { headers: { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' } },
  postToUpload: { headers: { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' } },
  beginUpload: {
    headers: { ...tus, 'upload-length': '9', 'upload-metadata': 'filename bQ==,dataset ~$dataset' },
    filePart: false,
    skips: ['malformed'],
  },
  checkUploads: { body: { dataset: '$dataset', folder: '$folder', files: [{ path: 'file.txt', size: 1 }] } },
  endUpload: { headers: tus },
  getUpload: { headers: tus },
  listUploads: { headers: tus },
  attachFilesToDataset: { body: { datasetid: '$dataset', existingfiles: '$first,$file' } },
  createDataset: { body: { name: 'm', description: '', space: '$space', file_id: '$file' } },
  createEmptyDataset: { body: { name: 'm', space: ['$space'], collection: ['$collection'], existingfiles: '$file' } },
  detachFileFromDatasetByPost: { with: { ignoreNotFound: 'true' } },
  updateUser: { body: { position: 'm' } },
  moveFileToRoot: { isLoose: true, neverHere: 'the file is in the root' },
  getDefinitionTerms: { neverHere: 'the field has no words of elsewhere' },
  moveFileToFolder: { body: {} },
  createDatasetFromBag: { bytes: 'bag' },
  createVocabulary: { body: vocabulary },
  createVocabularyFromForm: { fields: { name: 'words', keys: 'a', description: '' }, filePart: false },
  editVocabulary: { body: vocabulary },
  findOwnVocabularies: { with: { name: 'words' } },
  deleteStandardVocabulary: { with: { id: '@standard' } },
  getStandardTerms: { with: { id: '@standard' } },
  getStandardVocabulary: { with: { id: '@standard' } },
  createStandardVocabulary: { body: ['a'] },
  updateStandardVocabulary: { with: { id: '@standard' }, body: ['a', 'b'] },
  createDefinition: { body: definition },
  createSpaceDefinition: { body: definition },
  updateDefinition: { body: definition },
  listDatasetDefinitions: {},
  createRelation: {
    skips: ['malformed'],
    body: { source: { id: '$dataset', resourceType: 'dataset' }, target: { id: '$file', resourceType: 'file' } },
  },
  searchRelations: { with: { sourceType: 'dataset', targetType: 'file' } },
  ...Object.fromEntries(
    ['addCollectionMetadata', 'addDatasetMetadata', 'addFileMetadata', 'addSpaceMetadata'].map(name => [name, { body: document }]),
  ),
  addMetadataToFiles: { body: { files: ['$file'], metadata: document } },
  addOwnMetadata: { body: { '@context': {}, file_id: '$file', content: { matrix: 1 } } },
  addPlainDatasetMetadata: { body: { matrix: 1 } },
  addPlainFileMetadata: { body: { matrix: 1 } },
  addContext: { body: { context_name: '#', '@context': {} } },
  getContext: { with: { id: '@context' } },
  removeContext: { with: { id: '@context' } },
  getContextByName: { with: { name: '@contextName' } },
  createSection: { body: { file_id: '$file', description: 'm' } },
  ...Object.fromEntries(
    ['Collection', 'Dataset', 'File', 'Section'].flatMap(kind => [
      [`add${kind}Tags`, { body: { tags: ['m'] } }],
      [`remove${kind}Tags`, { body: { tags: ['m'] } }],
    ]),
  ),
  removeDatasetTag: { body: { tagId: 'f'.repeat(24) } },
  commentDataset: { body: { text: 'm' } },
  commentFile: { body: { text: 'm' } },
  commentSection: { body: { text: 'm' } },
  replyToComment: { body: { text: 'm' } },
  editComment: { body: { commentText: 'm' } },
  mentionInComment: { with: { resourceType: 'file', commenterId: '@self' } },
  uploadThumbnail: { bytes: 'picture' },
  attachTile: { with: { tile: '@tile', level: '3' }, body: {} },
  getTile: { with: { folder: '$folder_files', level: '3', filename: '0_0.png' }, answers: [401], neverHere: 'the preview has no tiles' },
  deleteExtractor: { with: { name: '@extractor' } },
  getExtractor: { with: { name: 'pounce.digest' } },
  getExtractorMetrics: { with: { name: 'pounce.digest' } },
  registerExtractor: { body: extractorInfo('#') },
  setEnabledExtractors: { body: { enabled: [] } },
  setSpaceExtractors: { body: { enabled: [], disabled: [] } },
  createExtractorLabel: { body: { name: '#', category: 'c', extractors: ['pounce.digest'] } },
  updateExtractorLabel: { with: { label: '@label' }, body: { name: '#', category: 'c', extractors: [] } },
  deleteExtractorLabel: { with: { label: '@label' } },
  cancelDatasetExtraction: { with: { job: '@job' }, body: { extractor: 'pounce.digest' }, answers: [404], neverHere: 'the job is done' },
  cancelFileExtraction: { with: { job: '@job' }, body: { extractor: 'pounce.digest' }, answers: [404], neverHere: 'the job is done' },
  submitDataset: { body: { extractor: 'pounce.digest' } },
  submitFile: { body: { extractor: 'pounce.digest' } },
  submitSelected: { body: { extractor: 'pounce.digest' } },
  archiveFile: archiving,
  unarchiveFile: archiving,
  queueArchival: archiving,
  queueUnarchival: archiving,
  sendArchiveRequest: archiving,
  sendUnarchiveRequest: archiving,
  searchByJson: { with: { query: '[]' } },
  saveSearch: { body: { name: '#', query: 'm' } },
  deleteSavedSearch: { with: { search: 'f'.repeat(24) }, answers: [404], neverHere: 'nobody has saved a search' },
  suggestValues: { with: { field: 'tag' } },
  autocompleteMetadataNames: { with: { filter: 'a' } },
  getChildrenOfNode: { with: { nodeType: 'dataset' } },
  rerunExtraction: { with: { job: '@job' }, neverHere: 'the job went well' },
  removeDatasetFromSpace: { isLoose: true },
  addFileEvent: { with: { inFolder: 'false', fileCount: '1' } },
  changeAppearance: { body: titles },
  setConfiguration: { body: titles },
  setSensorTitles: { body: sensors },
  writeToAdmins: { body: { subject: 'm', body: 'm' } },
  ...Object.fromEntries(
    ['Delete', 'Get', 'Post', 'Put'].flatMap(method => [
      [`proxy${method}`, proxied],
      [`proxy${method}Below`, proxied],
    ]),
  ),
  selectDataset: { body: { dataset: '$dataset' } },
  unselectDataset: { body: { dataset: '$dataset' } },
  getExtractionStatus: { skips: ['malformed'] },
  downloadSelected: { answers: [404], neverHere: 'nothing is selected' },
  tagSelected: { with: { tags: 'm' } },
  changeLogo: { body: { showText: true } },
  changeLogoAt: { with: { name: 'logo' }, body: { showText: true } },
  deleteLogoAt: { with: { name: 'logo' } },
  getLogoAt: { with: { name: 'logo' } },
  getLogoPictureAt: { with: { name: 'logo' } },
  putLogo: { fields: { path: 'space-$space', name: 'logo' }, filePart: 'image', bytes: 'picture', skips: ['malformed'] },
  addInstitution: { with: { institution: '#' } },
  addProject: { with: { project: '#' } },
}
