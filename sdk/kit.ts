/* `pounce/sdk/kit`: helpers for plugin authors, and the types used by routes, records and ports, for code that has to name them. */

export { accountsNamedBy, type NamedAccounts } from './account-address.ts'
export {
  authorizeDetach,
  type Detached,
  permissionDenied,
  requirePlaced,
  requireRecentAuthentication,
  requireServerAdmin,
} from './authorize.ts'
export { inBatches } from './batches.ts'
export { BufferStream, streamed } from './buffer-stream.ts'
export { countedBytes, type PageScripts, pagePolicy, RawJson, rawJson } from './bytes.ts'
export { CachedCounts } from './cached-counts.ts'
export { type Answer, type Call, CallFailed, type Client, type ClientOptions, clientOf } from './client.ts'
export { KeyedMutex, Mutex, Semaphore, type SemaphoreOptions } from './concurrency.ts'
export { ChangedMeanwhile, changeIfMatching, requireVersion, versionTag } from './conditional-changes.ts'
export { type Containment, recordsInContainer, removeAllFromContainer } from './container-records.ts'
export { cookieIn, cookieName, sessionCookie, setCookie } from './cookies.ts'
export { removeDeadLetters } from './dead-letters.ts'
export { isDiskFull } from './disk-full.ts'
export { type DoctorRow, doctorRow, type RecordsCheck, recordsRow } from './doctor-row.ts'
export { valueAt } from './documents/paths.ts'
export { overlongPiece, trigramsOf } from './documents/pieces.ts'
export { type CellValue, formatRow, quotedCsv, rowSeparator, unquoted } from './documents/row-formats.ts'
export { compareText } from './documents/scalars.ts'
export { DownloadCounts } from './download-counts.ts'
export { durationText } from './duration-text.ts'
export { checkedEmail, plainEmail } from './email.ts'
export { filePlaced } from './events.ts'
export { isSuccessStatus } from './extraction-status.ts'
export { fillSortKeys } from './fill-sort-keys.ts'
export { firstOfEach, type ItemsOfOwners } from './first-of-each.ts'
export { foldedText } from './folded-text.ts'
export { FollowAnswer, type Following, follow, unfollow } from './following.ts'
export {
  containersFor,
  contentsOf,
  FullLicense,
  FullStatistics,
  FullTags,
  type FullViewSource,
  fullLicense,
  fullMembers,
  fullStatistics,
  fullTags,
  fullViewOf,
  NamedContainer,
  viewParameter,
} from './full-view.ts'
export { type IndividualMail, IndividualMails, isUndeliverable } from './individual-mails.ts'
export { checkJsonLdContext } from './json-ld-context.ts'
export { isJsonObject } from './json-object.ts'
export { allowsDownload, LicenseBody, licenseChoices, ownLicense, toLicense } from './license.ts'
export {
  assertSafeJson,
  countJson,
  defaultJsonLimits,
  endOfJsonValue,
  type JsonCounts,
  type JsonLimits,
  NotJson,
  parseCounted,
  parseJson,
} from './limited-json.ts'
export { answerList, type ListAnswer, type ListPage, type ListSource, listPage } from './list-pages.ts'
export {
  afterParameter,
  conditionsOf,
  indexesForOrders,
  type ListQuery,
  linkToNext,
  listParameters,
  pageOf,
  readAfter,
  readNamedAfter,
  sortParameters,
  unionOf,
  type Visible,
  visibleOf,
} from './listing.ts'
export { mediaTypeOf, typeOfBytes } from './media-type.ts'
export type { CallerJob, KeyLimits, StepUp } from './model/caller.ts'
export { lifeStates, type OwnKind, type PluginKinds } from './model/kind.ts'
export { fullNameOf, type PasskeyRecord, type SecondFactorChange, type SecondFactorRecord, type UserProfile } from './model/people.ts'
export {
  allPermissions,
  type DefaultRole,
  defaultRoles,
  type OwnPermission,
  PermissionCatalog,
  type PermissionDefinition,
  type PluginPermissions,
  readingPermissions,
  type Verb,
  verbOf,
} from './model/permission.ts'
export { ReadAccessOrigin } from './model/read-access.ts'
export { type DatasetAccess, type FileScan, type FileStatus, noStatistics, type SpaceAccess, type Statistics } from './model/records.ts'
export { naturalKey } from './natural-key.ts'
export { didYouMean, editDistance, nearest } from './nearest.ts'
export { networkOf } from './network.ts'
export { optionalOrNull } from './optional-or-null.ts'
export { type PasswordCost, Passwords } from './passwords.ts'
export { pathFlag } from './path-flag.ts'
export { identityProviderOf, peopleFor, personContext, ShownPerson, wantsMail } from './people.ts'
export { isOpenedInBrowser, type LinkPage, type PlainPage, plainPage, respondWithPage, showsLinkPage } from './plain-page.ts'
export { apiVersion } from './plugin.ts'
export { type PluginState, PluginSwitch } from './plugin-switch.ts'
export type { NewMetadata } from './ports/annotations.ts'
export type { ArchiveMember, FileInArchive } from './ports/archives.ts'
export { type AccessNote, type AccessOutcome, type AuditEntry, type AuditNote, auditSending, recordAuditNote } from './ports/audit.ts'
export type { CredentialRef, Credentials, JobDetails, SignInSite } from './ports/auth.ts'
export type { BackupCopy, BackupPart } from './ports/backup.ts'
export type {
  BulkAct,
  BulkOperation,
  BulkParameters,
  BulkPlace,
  BulkRequest,
} from './ports/bulk.ts'
export { changedNothing, type Refusal } from './ports/conflicts.ts'
export {
  countIn,
  type NameFinder,
  nonEmptyContainers,
  type Recommendation,
  type Recommender,
  type ResourceSummary,
  type TreeBranch,
  type TreeNode,
  type TreeParent,
} from './ports/contributed.ts'
export type { DeclareCollection, FieldPath } from './ports/document-store.ts'
export type { SinkRecord } from './ports/event-sink.ts'
export type { FeedLine, FeedResource } from './ports/feed.ts'
export type { IncomingFile, IngestOptions, IngestTarget } from './ports/file-ingest.ts'
export { localSource } from './ports/groups.ts'
export type { StartupMessage } from './ports/kernel.ts'
export { type Broadcaster, type ProgressListener, type PublicEventHandler, publicEventTypes, reportProgress } from './ports/live-events.ts'
export { checkMail, isMailAddress, type Mail } from './ports/mail.ts'
export { isUsable, Quarantined, requireUsable, type ScanEvents, ScanPending, type ScanResult } from './ports/malware-scan.ts'
export {
  type NotificationKind,
  type NotificationPreference,
  notificationKinds,
  type UnreadCount,
  wantsMailOf,
} from './ports/notifications.ts'
export { type PageAddresses, pathOfPage } from './ports/page-addresses.ts'
export {
  createdBy,
  createdOrTaggedBy,
  type Erased,
  erasedName,
  type PersonalRecords,
  personalRecords,
  transferred,
} from './ports/personal-data.ts'
export type { ResourceDescription, ResourceReferences, RightsSource, TrashRule } from './ports/policy.ts'
export type { Records } from './ports/records.ts'
export type { ReportedRun } from './ports/reports.ts'
export type { FileCopy, FolderPath, NewDataset, NewFile, NewFolder } from './ports/resources.ts'
export type { ColumnValue, RowFormat } from './ports/row-format.ts'
export {
  type AccountSummary,
  type Capabilities,
  type CapabilityPart,
  capabilitiesBy,
  type SessionSource,
  type TrashCapability,
} from './ports/session.ts'
export { acceptsTerms, type SiteSettings, siteName } from './ports/site.ts'
export { maskedUri } from './ports/status.ts'
export type { ChargedTo } from './ports/storage-quotas.ts'
export type { Bus, BusListener, Heartbeat, Job, JobResult, JobStatus, QueueStatistics, TransportListener } from './ports/transport.ts'
export type { MembershipChange } from './ports/users.ts'
export { isOutage, isWrongCredential } from './problem.ts'
export { takesOperation } from './process-patterns.ts'
export { isPrivateAddress } from './public-addresses.ts'
export { RecentRead } from './recent-read.ts'
export type { RecordSearch, SearchEntry } from './record-searchable.ts'
export { referencedIds } from './referenced-ids.ts'
export { maxFolderDepth, namesInPath, OtherName } from './relative-path.ts'
export { type Removal, removeFound, requireDone } from './remove-found.ts'
export type { ContentQuery, DependentDefinition, ResourceDefinition, TreeContents, TreeDefinition } from './resource.ts'
export type {
  Access,
  ByteBody,
  CostClass,
  FieldPart,
  FilePart,
  MultipartBody,
  Reference,
  Reply,
  Responses,
  ScopedRight,
  TypedRoute,
  UnscopedRight,
} from './route.ts'
export { type ShownMetadata, shownMetadata } from './shown-metadata.ts'
export { pause, withTimeLimit } from './time-limit.ts'
export { msOfTime, readTime } from './times.ts'
export { clearTrashEveryMs, Trash, type TrashOf, trashIndexes, trashSettings } from './trash.ts'
export { trimEnd } from './trim-end.ts'
export { type DocumentChange, orNotFound, unlessConflict, updateWithRetry } from './update-with-retry.ts'
export {
  type MountedPart,
  type PartElement,
  type PartSubject,
  type ViewerHost,
  type ViewerRange,
  type WebContribution,
  type WebContributionKind,
  WebContributions,
  type WebText,
  webContribution,
} from './web.ts'
export { type ThreadOptions, type ThreadReply, WorkerClient } from './worker-client.ts'
export { youngGeneration } from './young-generation.ts'
