/*
 * `pounce/sdk`: the contract between kernel and plugins: plugin, route, setting and event declarations, the records, the token and interface of every port, and
 * the problems. Helpers are in `pounce/sdk/kit`. Each name is listed explicitly; at most 250.
 */

export { authorize, signedIn } from './authorize.ts'
export type { ByteRange, Bytes } from './bytes.ts'
export type { EventConnection, EventStream } from './event-stream.ts'
export { eventTypes } from './event-types.ts'
export { type AnyEvent, type EventMap, type EventType, event, type NewEvent, type StoredEvent } from './events.ts'
// Types of the kit occur in declarations of the contract: TypeScript can name and extend them only in a program that contains the kit.
export type {} from './kit.ts'
export {
  type AccountStatus,
  anonymous,
  anonymousUserId,
  type Caller,
  type CallerUser,
  isServerAdmin,
  isSuperAdmin,
  type Membership,
} from './model/caller.ts'
export { ExtractorInfo } from './model/extractor-info.ts'
export type { Kind, LifeState, Ref } from './model/kind.ts'
export type { GroupRecord, RoleRecord, UserRecord } from './model/people.ts'
export type { Permission } from './model/permission.ts'
export type {
  CollectionRecord,
  CommentRecord,
  DatasetRecord,
  FileRecord,
  FolderRecord,
  License,
  MetadataRecord,
  Place,
  PreviewRecord,
  SectionRecord,
  SpaceRecord,
  Tag,
  ThumbnailRecord,
  Time,
} from './model/records.ts'
export {
  type BatchHandler,
  type CrossOriginHeaders,
  configPort,
  definePlugin,
  type EnvironmentAlias,
  type Handler,
  isRoute,
  type KoaMiddleware,
  type Lifecycle,
  type MiddlewareClass,
  type MiddlewareContext,
  type MiddlewarePhase,
  on,
  onBatch,
  type Plugin,
  type PluginDefinition,
  type PluginMiddleware,
  type Subscription,
} from './plugin.ts'
export {
  type Class,
  type Contributions,
  contributions,
  isClass,
  type Needs,
  type Port,
  type Provision,
  port,
  provide,
  type Resolved,
  type Token,
  takesMany,
  wrapped,
} from './port.ts'
export { Comments, MetadataDocuments, Previews, Sections, Tags } from './ports/annotations.ts'
export { type Archive, Archives } from './ports/archives.ts'
export {
  type AccessTrail,
  AccessTrails,
  AuditForwarding,
  type AuditReceiver,
  AuditReceivers,
  type AuditTrail,
  AuditTrails,
} from './ports/audit.ts'
export {
  type AuthProvider,
  AuthProviders,
  Callers,
  CredentialRefs,
  JobRecords,
  Keys,
  RateLimiter,
  SecretEncryption,
  type SignUpWay,
  SignUpWays,
  type VerifiedIdentity,
} from './ports/auth.ts'
export { BackupParts } from './ports/backup.ts'
export { type BlobOwner, BlobOwners, BlobStore, DamageReports, InPlaceFiles } from './ports/blob-store.ts'
export { BulkOperations } from './ports/bulk.ts'
export { CommitConflict, Taken } from './ports/conflicts.ts'
export {
  type ContentCount,
  ContentCounts,
  Counters,
  NameFinders,
  type Previewer,
  Previewers,
  Recommenders,
  type Searchable,
  Searchables,
  type TrashHandler,
  TrashHandlers,
  TreeBranches,
} from './ports/contributed.ts'
export {
  type After,
  and,
  type Collection,
  collection,
  contains,
  DocumentStore,
  eq,
  exists,
  type Find,
  isIn,
  type Json,
  ne,
  not,
  or,
  type Page,
  range,
  type Stored,
  startsWith,
  type Update,
  type Where,
} from './ports/document-store.ts'
export { type EventSink, EventSinks } from './ports/event-sink.ts'
export {
  type DerivedFile,
  type Extract,
  type Extractor,
  type ExtractorInput,
  type ExtractorNeeds,
  type ExtractorOutput,
  Extractors,
} from './ports/extractor.ts'
export { Feed } from './ports/feed.ts'
export { FileIngest } from './ports/file-ingest.ts'
export { GeoStore } from './ports/geo-store.ts'
export { Sensors, Streams } from './ports/geostreams.ts'
export { Groups, KnownGroups } from './ports/groups.ts'
export {
  Clock,
  type Command,
  Commands,
  Fetch,
  Ids,
  Installation,
  Log,
  Mailer,
  Metrics,
  type Periodic,
  StartupMessages,
} from './ports/kernel.ts'
export {
  Broadcasters,
  type CloudEvent,
  type EventFilter,
  type Progress,
  ProgressListeners,
  type PublicEvent,
  PublicEventHandlers,
  PublicEvents,
} from './ports/live-events.ts'
export { type MalwareScan, MalwareScanners } from './ports/malware-scan.ts'
export { type MetadataCheck, MetadataChecks, type MetadataNaming, MetadataNamings, StandardVocabularies } from './ports/metadata.ts'
export { NotificationPreferences, UnreadCounts } from './ports/notifications.ts'
export { KnownPages } from './ports/page-addresses.ts'
export { type Erasure, type Person, type PersonalData, PersonalDataSources } from './ports/personal-data.ts'
export { PickLists } from './ports/pick-lists.ts'
export { type AccessDecision, Policy, ReadAccess, type Resource, Resources, type Rights } from './ports/policy.ts'
export { ReportedRuns, type ReportSource, ReportSources } from './ports/reports.ts'
export { Collections, Datasets, Files, Folders, Spaces } from './ports/resources.ts'
export { SearchIndex } from './ports/search-index.ts'
export { SessionSources } from './ports/session.ts'
export { Site, Sites } from './ports/site.ts'
export { type StatusPart, StatusParts } from './ports/status.ts'
export { type StorageQuota, StorageQuotas } from './ports/storage-quotas.ts'
export { type Transport, Transports } from './ports/transport.ts'
export { Users } from './ports/users.ts'
export {
  Conflict,
  CorruptContent,
  Forbidden,
  InTrash,
  Invalid,
  NoSpace,
  NotFound,
  NotSignedIn,
  Problem,
  SecondFactorEnrolmentRequired,
  SecondFactorRequired,
  StepUpRequired,
  TermsNotAccepted,
  TooLarge,
  TooMany,
  Unavailable,
  Unreachable,
  Unsupported,
  WrongCredentials,
} from './problem.ts'
export { defineResource, type ResourceDeclaration } from './resource.ts'
export {
  byteBody,
  type Method,
  multipart,
  type Parts,
  type Request,
  type Route,
  type RouteDeclaration,
  ref,
  routesFor,
  type SentBytes,
} from './route.ts'
export * as s from './schema.ts'
export { StagedBlob } from './staged-blob.ts'
export { needsOf, wire } from './wire.ts'
