// Written by `npm run docs` from the OpenAPI document.

/** The named models of the API. */
export interface Models {
  AccountLists: { readonly active?: readonly (string)[] | null; readonly inactive?: readonly (string)[] | null; readonly admin?: readonly (string)[] | null; readonly readonly?: readonly (string)[] | null }
  ApiKey: { readonly name: string; readonly key: string; readonly identityId: { readonly userId: string; readonly providerId: string }; readonly scope: "full" | "extraction"; readonly verbs: readonly (string)[] | null; readonly spaces: readonly (string)[] | null; readonly created: string; readonly lastUsed: string | null; readonly expires: string | null }
  Appearance: { readonly theme: string; readonly displayName: string; readonly welcomeMessage: string; readonly googleAnalytics: string }
  Area: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  AuditAccount: { readonly id: string; readonly fullName: string; readonly email: string }
  AuditEntry: { readonly id: string; readonly at: string; readonly type: string; readonly actor: (Models['AuditAccount'] | null); readonly user: (Models['AuditAccount'] | null); readonly subject: { readonly kind: string; readonly id: string } | null; readonly about: Readonly<Record<string, (string | number | boolean | readonly (string)[])>>; readonly address: string | null; readonly count: number; readonly last: string; readonly chain: { readonly id: string; readonly seq: number; readonly prev: string; readonly hash: string } | null }
  AuditFault: { readonly fault: "changed" | "removed" | "inserted" | "reordered"; readonly chain: string; readonly seq: number; readonly id: string | null; readonly detail: string }
  AuditVerification: { readonly isIntact: boolean; readonly lines: number; readonly chains: number; readonly unchained: { readonly lines: number; readonly until: string | null }; readonly faults: readonly (Models['AuditFault'])[]; readonly faultCount: number; readonly heads: readonly ({ readonly chain: string; readonly seq: number; readonly hash: string })[] }
  Bin: { readonly depth: number; readonly label: string; readonly sources: readonly (string)[]; readonly year: number; readonly month?: number; readonly week?: number; readonly day?: number; readonly hour?: number; readonly minute?: number; readonly date: string; readonly depth_code: string; readonly doubles?: readonly (number)[]; readonly strings?: readonly (string)[]; readonly average?: number | null; readonly array?: readonly (string)[]; readonly count: number; readonly sum?: number | null; readonly min?: number; readonly max?: number; readonly mean?: number | null }
  BulkJob: { readonly id: string; readonly act: string; readonly state: string; readonly total: number | null; readonly done: number; readonly failed: number; readonly created: string; readonly ended: string | null; readonly message?: string }
  BulkOutcome: { readonly type: string; readonly id: string; readonly state: "waiting" | "done" | "failed"; readonly code?: string; readonly message?: string }
  BulkReport: { readonly inserted: number; readonly refused: number; readonly lines: readonly ({ readonly line: number; readonly field?: string; readonly message: string })[] }
  CacheEntry: { readonly route: string; readonly filesize: number; readonly created: string }
  Capabilities: { readonly signUp: "open" | "approval" | "off"; readonly mail: boolean; readonly private: boolean; readonly accessOrigin: "configuration" | "admin" | "pending" | "default"; readonly anonymousDownload: boolean; readonly uploads: { readonly resumable: { readonly path: string; readonly maxBytes: number; readonly maxOpen: number; readonly expireHours: number } | null; readonly maxUrlBytes: number | null }; readonly trash: { readonly datasets: { readonly clearAfterDays: number } | null; readonly collections: { readonly clearAfterDays: number } | null }; readonly live: string | null; readonly geostreams: boolean; readonly search: { readonly maxQueryLength: number; readonly maxPageSize: number; readonly maxOffset: number } | null; readonly licenses: readonly ({ readonly type: string; readonly text: string; readonly url: string })[]; readonly setupPending: boolean; readonly providers: string }
  CheckedUpload: { readonly path: string; readonly state: "absent" | "same" | "other" | "invalid"; readonly id: string | null; readonly message?: string }
  ChosenArchive: { readonly id: string; readonly url: string; readonly filename: string; readonly size: number; readonly files: number; readonly expires: string }
  ClientPreferences: Readonly<Record<string, unknown>>
  CloudEvent: { readonly specversion: "1.0"; readonly id: string; readonly type: string; readonly source: string; readonly subject: string; readonly time: string; readonly datacontenttype: "application/json"; readonly data: Readonly<Record<string, unknown>> }
  Collection: { readonly id: string; readonly collectionname: string; readonly description: string; readonly created: string; readonly thumbnail: string | null; readonly authorId: string; readonly resource_type: "collection" }
  CollectionDetails: { readonly id: string; readonly name: string; readonly description: string; readonly created: string; readonly author: string; readonly root_flag: string; readonly child_collection_ids: string; readonly parent_collection_ids: string; readonly childCollectionsCount: string; readonly datasetCount: string; readonly spaces: string }
  CollectionReport: { readonly type: "collection"; readonly id: string; readonly name: string; readonly owner: string; readonly owner_id: string; readonly created: string | null; readonly views: number | null; readonly last_viewed: string | null; readonly parent_collections: readonly (string)[]; readonly parent_spaces: readonly (string)[] }
  Comment: { readonly id: string; readonly text: string; readonly author: Models['UserSummary']; readonly comment_id: string | null; readonly file_id?: string; readonly dataset_id?: string; readonly section_id?: string; readonly posted: string }
  CurrentUser: { readonly "@context": Readonly<Record<string, string>>; readonly id: string; readonly firstName: string; readonly lastName: string; readonly fullName: string; readonly email: string | null; readonly avatar: string; readonly profile: Models['Profile']; readonly identityProvider: string; readonly notifications: string; readonly unreadNotifications?: number; readonly termsPending?: boolean }
  Datapoint: { readonly id: number; readonly created: string; readonly start_time: string; readonly end_time: string | null; readonly properties: Readonly<Record<string, unknown>>; readonly type: "Feature"; readonly geometry: Readonly<Record<string, unknown>>; readonly stream_id: string; readonly sensor_id: string; readonly sensor_name: string }
  DatapointStatistics: { readonly id: number; readonly created: string; readonly start_time: string; readonly end_time: string; readonly last_time?: string; readonly properties: Readonly<Record<string, unknown>>; readonly type: "Feature"; readonly geometry: Readonly<Record<string, unknown>>; readonly stream_id: readonly (string)[]; readonly sensor_id: string; readonly sensor_name: string }
  Dataset: { readonly id: string; readonly name: string; readonly description: string; readonly created: string; readonly thumbnail: string | null; readonly authorId: string; readonly spaces: readonly (string)[]; readonly resource_type: "dataset" }
  DatasetReport: { readonly type: "dataset"; readonly id: string; readonly name: string; readonly owner: string; readonly owner_id: string; readonly created: string | null; readonly views: number | null; readonly last_viewed: string | null; readonly downloads: number | null; readonly last_downloaded: string | null; readonly parent_collections: readonly (string)[]; readonly parent_spaces: readonly (string)[] }
  DownloadLink: { readonly id: string; readonly file: { readonly id: string; readonly name: string }; readonly maker: Models['UserSummary']; readonly created: string; readonly expires: string; readonly lastUsed: string | null }
  Entry: { readonly id: string; readonly kind: "folder" | "file"; readonly name: string; readonly size: number | null; readonly type: string | null; readonly status: string | null; readonly thumbnail: string | null; readonly created: string; readonly author: { readonly id: string; readonly fullName: string }; readonly folder: string | null; readonly entries: number | null; readonly path?: readonly (string)[] }
  EntryPage: { readonly entries: readonly (Models['Entry'])[]; readonly total: number | null; readonly totalBytes: number | null }
  Event: { readonly id: string; readonly event_type: string; readonly user: Models['UserSummary']; readonly targetuser?: Models['UserSummary']; readonly object_id?: string; readonly object_name?: string; readonly source_id?: string; readonly source_name?: string; readonly created: string }
  EventFilter: { readonly kinds?: readonly (string)[]; readonly ids?: readonly (string)[]; readonly spaces?: readonly (string)[]; readonly types?: readonly (string)[]; readonly mine?: boolean }
  ExtractedMetadata: { readonly file_id: string; readonly filename: string; readonly tags: readonly (Models['TagsByExtractor'])[]; readonly previews: readonly (Models['PreviewsByExtractor'])[]; readonly "versus descriptors url": string }
  ExtractedMetadataAndStatus: { readonly file_id: string; readonly filename: string; readonly tags: readonly (Models['TagsByExtractor'])[]; readonly previews: readonly (Models['PreviewsByExtractor'])[]; readonly "versus descriptors url": string; readonly Status: string }
  Extraction: { readonly id: string; readonly job_id: string; readonly extractor_id: string; readonly status: string; readonly start: string; readonly end: string | null; readonly user_id: string | null; readonly messages: readonly ({ readonly status: string; readonly at: string })[] }
  ExtractionLogEntry: { readonly clientIP: string; readonly fileid: string; readonly filename: string; readonly fileType: string; readonly filesize: number; readonly uploadDate: number; readonly extractors: readonly (string)[]; readonly startTime: string; readonly endTime: string | null }
  ExtractionReport: { readonly userid: string; readonly username: string; readonly email: string; readonly resource_id: string; readonly resource_type: string; readonly space_id: readonly (string)[]; readonly extractor: string; readonly job_id: string; readonly job_type: "queue" | "work"; readonly status_count: number; readonly last_status: string; readonly start: string; readonly end: string; readonly duration_ms: number }
  ExtractionRequest: { readonly extractor?: string; readonly parameters?: Readonly<Record<string, unknown>> | null }
  ExtractionState: { readonly id: string; readonly state: "processing" | "failed"; readonly extractor: string; readonly message: string }
  ExtractionTargets: { readonly ids: readonly (string)[] }
  Extractor: ({ readonly id: string; readonly updated: string; readonly permissions: readonly ({ readonly resourceType: string; readonly id: string })[]; readonly unique_key?: string } & Models['ExtractorInfo'])
  ExtractorInfo: { readonly name: string; readonly version: string; readonly description: string; readonly author: string; readonly contributors: readonly (string)[]; readonly contexts: unknown; readonly repository: readonly ({ readonly repType: string; readonly repUrl: string })[]; readonly external_services: readonly (string)[]; readonly libraries: readonly (string)[]; readonly bibtex: readonly (string)[]; readonly maturity: string; readonly defaultLabels: readonly (string)[]; readonly process: { readonly dataset?: readonly (string)[]; readonly file?: readonly (string)[]; readonly metadata?: readonly (string)[] }; readonly categories: readonly (string)[]; readonly parameters: Readonly<Record<string, unknown>> }
  ExtractorInstances: { readonly ip: string; readonly extractor_name: string; readonly count: number }
  ExtractorLabel: { readonly id: string; readonly name: string; readonly category: string | null; readonly extractors: readonly (string)[] }
  ExtractorMetrics: { readonly extractor: string; readonly last_day: { readonly seconds: number | null; readonly runs: number }; readonly last_month: { readonly seconds: number | null; readonly runs: number }; readonly jobs_last_7_days: number; readonly jobs_last_month: number; readonly by_user?: readonly ({ readonly user_id: string | null; readonly jobs: number; readonly last_job_time: string })[] }
  ExtractorSelection: { readonly enabled: readonly (string)[]; readonly disabled: readonly (string)[] }
  Feature: { readonly type: "Feature"; readonly geometry: Readonly<Record<string, unknown>>; readonly properties: Readonly<Record<string, unknown>> }
  File: { readonly id: string; readonly filename: string; readonly filedescription: string; readonly "content-type": string; readonly "date-created": string; readonly size: string; readonly thumbnail: string | null; readonly authorId: string; readonly status: string; readonly views: string; readonly downloads: string; readonly path: string; readonly sha256: string; readonly damaged?: string; readonly scan?: string; readonly signature?: string; readonly filepath?: string; readonly "service-endpoint"?: string; readonly "bucket-name"?: string; readonly "object-key"?: string }
  FileMove: { readonly status: string; readonly fileName: string; readonly folderName: string }
  FilePreviews: { readonly file_id: string; readonly previews: readonly ({ readonly pv_id: string; readonly p_id: string; readonly p_path: string; readonly p_main: string; readonly pv_route: string; readonly pv_contenttype: string; readonly pv_length: string })[] }
  FileRemoval: { readonly deleted: readonly (string)[]; readonly "not found": readonly (string)[]; readonly "error deleting": readonly (string)[]; readonly "no permission": readonly (string)[] }
  FileReport: { readonly type: "file"; readonly id: string; readonly name: string; readonly owner: string; readonly owner_id: string; readonly size_kb: number | null; readonly location: string; readonly parent_datasets: readonly (string)[]; readonly status: string; readonly views: number | null; readonly last_viewed: string | null; readonly downloads: number | null; readonly last_downloaded: string | null; readonly parent_collections: readonly (string)[]; readonly parent_spaces: readonly (string)[]; readonly uploaded: string | null }
  FileStorageReport: { readonly file_type: string; readonly id: string; readonly name: string; readonly owner: string; readonly owner_email: string; readonly owner_id: string; readonly size_kb: number; readonly uploaded: string | null; readonly location: string; readonly parent_datasets: readonly (string)[]; readonly parent_collections: readonly (string)[]; readonly parent_spaces: readonly (string)[]; readonly space_owners: readonly (string)[]; readonly space_admins: readonly (string)[] }
  FileSummary: { readonly id: string; readonly name: string; readonly status: string; readonly thumbnail: string | null; readonly created: string; readonly resource_type: "file" }
  FileTags: { readonly id: string; readonly filename: string; readonly tags: readonly (string)[]; readonly items: readonly ({ readonly id: string; readonly name: string })[] }
  FileVersion: { readonly id: string; readonly created: string; readonly author: { readonly id: string; readonly fullName: string }; readonly sizeBytes: number; readonly sha256: string }
  FirstAdmin: { readonly token: string; readonly email: string; readonly password: string; readonly firstName: string; readonly lastName: string; readonly private?: boolean }
  Folder: { readonly id: string; readonly name: string; readonly parentDatasetID: string; readonly parentId: string; readonly parentType: string; readonly created: string; readonly files: string; readonly folders: string }
  FolderMove: { readonly status: string; readonly folderId: string; readonly newname: string }
  FolderPlace: { readonly id: string; readonly name: string; readonly parentDatasetID: string; readonly parentId: string; readonly parentType: string; readonly created: string }
  FollowResult: { readonly status: string; readonly recommendations?: readonly ({ readonly id: string; readonly name: string; readonly objectType: string })[] }
  FollowedResource: { readonly type: string; readonly id: string; readonly name: string }
  FullCollection: { readonly id: string; readonly name: string; readonly description: string; readonly created: string; readonly author: { readonly id: string; readonly fullName: string }; readonly following: boolean; readonly rights: readonly (string)[]; readonly modified: string; readonly isPublic: boolean; readonly spaces: readonly ({ readonly id: string; readonly name: string })[]; readonly parents: readonly ({ readonly id: string; readonly name: string })[]; readonly rootOf: readonly ({ readonly id: string; readonly name: string })[]; readonly tags: readonly ({ readonly id: string; readonly name: string })[]; readonly thumbnail: string | null; readonly counts: { readonly datasets: number; readonly collections: number }; readonly trashedAt: string | null; readonly resource_type: "collection" }
  FullDataset: { readonly id: string; readonly name: string; readonly description: string; readonly created: string; readonly author: { readonly id: string; readonly fullName: string }; readonly following: boolean; readonly rights: readonly (string)[]; readonly modified: string; readonly access: "PUBLIC" | "PRIVATE" | "DEFAULT" | "TRIAL"; readonly isPublic: boolean; readonly spaces: readonly ({ readonly id: string; readonly name: string })[]; readonly collections: readonly ({ readonly id: string; readonly name: string })[]; readonly creators: readonly (string)[]; readonly license: Models['FullLicense']; readonly tags: readonly ({ readonly id: string; readonly name: string })[]; readonly thumbnail: string | null; readonly statistics: Models['FullStatistics']; readonly counts: { readonly files: number; readonly folders: number }; readonly trashedAt: string | null; readonly resource_type: "dataset" }
  FullFile: { readonly id: string; readonly name: string; readonly description: string; readonly created: string; readonly author: { readonly id: string; readonly fullName: string }; readonly following: boolean; readonly rights: readonly (string)[]; readonly originalName: string; readonly contentType: string; readonly sizeBytes: number; readonly sha256: string; readonly status: "CREATED" | "UPLOADED" | "PROCESSED" | "ARCHIVED" | "UNKNOWN"; readonly places: readonly ({ readonly dataset: { readonly id: string; readonly name: string }; readonly folder: string | null; readonly path: readonly (string)[] })[]; readonly license: Models['FullLicense']; readonly mayDownload: boolean; readonly tags: readonly ({ readonly id: string; readonly name: string })[]; readonly thumbnail: string | null; readonly statistics: Models['FullStatistics']; readonly showPreviews: string; readonly scan?: string; readonly damaged?: string; readonly resource_type: "file" }
  FullLicense: { readonly type: string; readonly text: string; readonly url: string; readonly rightsHolder: string; readonly allowDownload: boolean }
  FullSearchResult: { readonly results: readonly (Models['SearchHit'])[]; readonly count: number; readonly size: number; readonly scanned_size: number; readonly from: number; readonly total_size: number; readonly newest_first?: boolean; readonly first?: string; readonly prev?: string; readonly next?: string; readonly last?: string; readonly facets?: Models['SearchFacets'] }
  FullSpace: { readonly id: string; readonly name: string; readonly description: string; readonly created: string; readonly author: { readonly id: string; readonly fullName: string }; readonly following: boolean; readonly rights: readonly (string)[]; readonly modified: string; readonly access: "PUBLIC" | "PRIVATE" | "TRIAL"; readonly isPublic: boolean; readonly homePage: readonly (string)[]; readonly logoUrl: string | null; readonly bannerUrl: string | null; readonly timeToLive: { readonly isEnabled: boolean; readonly hours: number }; readonly counts: { readonly datasets: number; readonly collections: number; readonly members: number }; readonly roles: readonly (string)[]; readonly requested: boolean; readonly requests?: number; readonly resource_type: "space" }
  FullStatistics: { readonly views: number; readonly downloads: number; readonly lastViewed: string | null; readonly lastDownloaded: string | null }
  GeostreamCounts: { readonly sensors: number; readonly streams: number; readonly datapoints: number }
  GeostreamSettings: { readonly userAgreement: string; readonly sensorsTitle: string; readonly sensorTitle: string; readonly parametersTitle: string; readonly parameterTitle: string }
  Group: { readonly id: string; readonly name: string; readonly description: string; readonly source: string; readonly created: string; readonly external?: string | null; readonly spaces?: number }
  HeldPermissions: { readonly type: string; readonly id: string; readonly permissions: readonly (string)[] }
  IdentityLink: { readonly email: string; readonly provider: string; readonly label: string; readonly expires: string }
  Invitation: { readonly id: string; readonly email: string; readonly role: { readonly id: string; readonly name: string }; readonly author: Models['UserSummary']; readonly created: string; readonly expires: string }
  InvitationResult: { readonly email?: string; readonly userId?: string; readonly status: "added" | "member" | "invited" | "unknown" | "invalid" }
  Job: { readonly job_id: string; readonly extractor_id: string; readonly state: "waiting" | "running" | "dead"; readonly attempts: number }
  License: { readonly licenseType: string; readonly rightsHolder: string; readonly licenseText: string; readonly licenseUrl: string; readonly allowDownload: ("true" | "false" | "True" | "False" | boolean) }
  ListedExtraction: ({ readonly file_id: string; readonly resource_type: string } & Models['Extraction'])
  ListedFile: { readonly id: string; readonly filename: string; readonly contentType: string; readonly "date-created": string; readonly size: string; readonly folders?: { readonly id: string; readonly name: string }; readonly filepath?: string }
  ListedFolder: { readonly id: string; readonly name: string }
  Logo: { readonly id: string; readonly length: number; readonly path: string; readonly name: string; readonly "content-type": string; readonly created: string; readonly author: string; readonly showText: boolean }
  MailTest: { readonly status: string; readonly sent: boolean; readonly to: string; readonly message: string }
  Member: { readonly "@context": Readonly<Record<string, string>>; readonly id: string; readonly firstName: string; readonly lastName: string; readonly fullName: string; readonly email: string | null; readonly avatar: string; readonly identityProvider: string }
  Metadata: { readonly "@context"?: (string | Readonly<Record<string, unknown>> | readonly (unknown)[]); readonly id: string; readonly attached_to: { readonly resource_type: string; readonly url: string }; readonly created_at: string; readonly agent: { readonly "@type": string; readonly name: string; readonly extractor_id?: string; readonly user_id?: string; readonly attributed_to?: string }; readonly content: unknown }
  MetadataDefinition: { readonly id: string; readonly spaceId?: string; readonly json: { readonly label: string; readonly uri: string; readonly type: string; readonly description?: string; readonly definitions_url?: string; readonly query_parameter?: string } }
  MetadataDefinitionChange: { readonly label: string; readonly type: string; readonly uri: string; readonly description?: string | null; readonly definitions_url?: string | null; readonly query_parameter?: string | null }
  MetadataOfFiles: { readonly files: readonly (string)[]; readonly metadata: Models['NewMetadata'] }
  MetadataReport: { readonly status: "success"; readonly message: string; readonly added: readonly (string)[]; readonly refused: readonly ({ readonly id: string; readonly code: string; readonly message: string })[] }
  NamedFacetValue: { readonly value: string; readonly name: string; readonly count: number }
  NamedResource: { readonly id: string; readonly name: string }
  NamedResources: { readonly spaces: readonly (Models['NamedResource'])[]; readonly collections: readonly (Models['NamedResource'])[]; readonly datasets: readonly (Models['NamedResource'])[]; readonly files: readonly (Models['NamedResource'])[]; readonly people: readonly (Models['NamedResource'])[] }
  NewApiKey: { readonly name: string; readonly key: string }
  NewArchive: { readonly resources: readonly ({ readonly type: "file" | "folder" | "dataset"; readonly id: string })[]; readonly dataset?: string; readonly name?: string }
  NewBulkJob: { readonly act: "delete" | "move" | "copy" | "tag" | "untag" | "describe" | "license" | "submit"; readonly resources?: readonly ({ readonly type: "file" | "folder" | "dataset" | "collection"; readonly id: string })[]; readonly select?: { readonly dataset: string; readonly folder?: string; readonly recursive?: boolean; readonly filter?: string; readonly except?: readonly (string)[] }; readonly to?: { readonly dataset: string; readonly folder?: string }; readonly from?: { readonly dataset: string; readonly folder?: string }; readonly tags?: readonly (string)[]; readonly addedSince?: string; readonly description?: string; readonly license?: Models['License']; readonly extractor?: string; readonly parameters?: Readonly<Record<string, unknown>> }
  NewChildCollection: { readonly name: string; readonly description?: string | null; readonly space?: (string | readonly (string)[] | null); readonly parentId?: (string | readonly (string)[] | null) }
  NewCollection: { readonly name: string; readonly description?: string | null; readonly space?: (string | readonly (string)[] | null) }
  NewDatapoint: { readonly start_time: string; readonly end_time?: string | null; readonly type: string; readonly geometry: Readonly<Record<string, unknown>>; readonly properties: Readonly<Record<string, unknown>>; readonly stream_id: (string | number) }
  NewDataset: { readonly name: string; readonly description?: string | null; readonly space?: (string | readonly (string)[] | null); readonly collection?: (string | readonly (string)[] | null); readonly access?: "PUBLIC" | "PRIVATE" | "DEFAULT" | null; readonly existingfiles?: string | null }
  NewDatasetOfFile: { readonly name: string; readonly file_id: string; readonly description?: string | null; readonly space?: string | null }
  NewDownloadLink: { readonly link: string; readonly expire: string; readonly id: string }
  NewExtractorLabel: { readonly name: string; readonly category?: string | null; readonly extractors: readonly (string)[] }
  NewFolder: { readonly name: string; readonly parentId: string; readonly parentType: "dataset" | "folder" }
  NewFolderPath: { readonly path: string; readonly parentId?: string }
  NewGroup: { readonly name: string; readonly description?: string; readonly source?: string; readonly external?: string }
  NewInvitation: { readonly emails?: readonly (string)[]; readonly userIds?: readonly (string)[]; readonly role?: string; readonly message?: string }
  NewMetadata: { readonly "@context"?: (string | Readonly<Record<string, unknown>> | readonly (unknown)[] | null); readonly agent: { readonly "@type": string; readonly name?: string | null; readonly extractor_id?: string | null; readonly user_id?: string | null }; readonly content: (Readonly<Record<string, unknown>> | readonly (unknown)[]); readonly created_at?: unknown }
  NewMetadataDefinition: { readonly label: string; readonly type: string; readonly uri?: string | null; readonly description?: string | null; readonly definitions_url?: string | null; readonly query_parameter?: string | null }
  NewPasskey: { readonly enrolment: string; readonly name: string; readonly passkey: Models['PasskeyRegistration'] }
  NewRelation: { readonly source: { readonly id: string; readonly resourceType: string }; readonly target: { readonly id: string; readonly resourceType: string }; readonly rdfType?: string | null }
  NewRole: { readonly name: string; readonly description?: string; readonly permissions: readonly (string)[] }
  NewSavedSearch: { readonly name: string; readonly query: string }
  NewSection: { readonly file_id?: string; readonly area?: (Models['Area'] | null); readonly startTime?: number | null; readonly endTime?: number | null; readonly order?: number | null; readonly description?: string | null }
  NewSensor: { readonly name: string; readonly type: string; readonly geometry: Readonly<Record<string, unknown>>; readonly properties: Readonly<Record<string, unknown>>; readonly spaces?: readonly (string)[] }
  NewSpace: { readonly name: string; readonly description: string }
  NewStream: { readonly name: string; readonly type: string; readonly geometry: Readonly<Record<string, unknown>>; readonly properties: Readonly<Record<string, unknown>>; readonly sensor_id: (string | number) }
  NewUser: { readonly email: string; readonly password?: string; readonly firstName: string; readonly lastName: string }
  NewUserMetadata: { readonly "@context"?: (string | Readonly<Record<string, unknown>> | readonly (unknown)[] | null); readonly file_id?: string | null; readonly dataset_id?: string | null; readonly collection_id?: string | null; readonly space_id?: string | null; readonly content: (Readonly<Record<string, unknown>> | readonly (unknown)[]) }
  NewVocabulary: { readonly name: string; readonly description?: string | null; readonly keys?: string | null; readonly tags?: string | null; readonly terms?: readonly (Models['NewVocabularyTerm'])[] | null }
  NewVocabularyTerm: { readonly key: string; readonly units?: string | null; readonly default_value?: string | null; readonly description?: string | null }
  NewWebhook: { readonly url: string; readonly description?: string; readonly filter?: Models['EventFilter'] }
  Notification: { readonly id: string; readonly kind: "mention" | "reply" | "invitation" | "request" | "role-change" | "extraction-failed" | "share" | "followed" | "webhook-paused"; readonly title: string; readonly text?: string; readonly url: string; readonly actor?: string; readonly about?: { readonly kind: string; readonly id: string }; readonly created: string; readonly read: boolean }
  NotificationPreferences: { readonly mention: "inbox" | "mail" | "digest" | "off"; readonly reply: "inbox" | "mail" | "digest" | "off"; readonly invitation: "inbox" | "mail" | "digest" | "off"; readonly request: "inbox" | "mail" | "digest" | "off"; readonly "role-change": "inbox" | "mail" | "digest" | "off"; readonly "extraction-failed": "inbox" | "mail" | "digest" | "off"; readonly share: "inbox" | "mail" | "digest" | "off"; readonly followed: "inbox" | "mail" | "digest" | "off"; readonly "webhook-paused": "inbox" | "mail" | "digest" | "off" }
  NotificationPreferencesUpdate: { readonly mention?: "inbox" | "mail" | "digest" | "off"; readonly reply?: "inbox" | "mail" | "digest" | "off"; readonly invitation?: "inbox" | "mail" | "digest" | "off"; readonly request?: "inbox" | "mail" | "digest" | "off"; readonly "role-change"?: "inbox" | "mail" | "digest" | "off"; readonly "extraction-failed"?: "inbox" | "mail" | "digest" | "off"; readonly share?: "inbox" | "mail" | "digest" | "off"; readonly followed?: "inbox" | "mail" | "digest" | "off"; readonly "webhook-paused"?: "inbox" | "mail" | "digest" | "off" }
  PasskeyAssertion: { readonly id: string; readonly rawId: string; readonly type: "public-key"; readonly response: { readonly clientDataJSON: string; readonly authenticatorData: string; readonly signature: string; readonly userHandle?: string } }
  PasskeyRegistration: { readonly id: string; readonly rawId: string; readonly type: "public-key"; readonly response: { readonly clientDataJSON: string; readonly attestationObject: string; readonly transports?: readonly (string)[] } }
  PasswordChange: { readonly password: string; readonly newPassword: string; readonly revokeKeys?: boolean }
  PasswordReset: { readonly token: string; readonly password: string; readonly revokeKeys?: boolean }
  Permission: { readonly name: string; readonly description: string; readonly verb: string }
  PermissionCheck: { readonly resources: readonly ({ readonly type: string; readonly id: string })[]; readonly permissions?: readonly (string)[] }
  PermissionExplanation: { readonly user: { readonly id: string; readonly fullName: string } | null; readonly permission: string; readonly verb: string; readonly resource: { readonly type: string; readonly id: string } | null; readonly verdict: "yes" | "no" | "unseen" | "frozen"; readonly because: readonly (string)[] }
  Plugin: { readonly id: string; readonly summary: string; readonly version?: string; readonly source: string; readonly switchable: boolean; readonly refusal?: string; readonly enabled: boolean; readonly state: "on" | "off"; readonly restartRequired: boolean; readonly healthy: boolean; readonly message?: string; readonly waitingEvents: number }
  Preview: { readonly id: string; readonly filename: string; readonly contentType: string }
  PreviewInfo: { readonly id: string; readonly contentType: string; readonly title: string | null }
  PreviewsByExtractor: { readonly extractor_id: string; readonly values: readonly ({ readonly preview_id: string; readonly contentType: string; readonly url: string })[] }
  Problem: { readonly status: "error"; readonly message: string; readonly code: string; readonly requestId: string }
  ProblemDetails: { readonly type: string; readonly title: string; readonly status: number; readonly detail: string; readonly code: string; readonly requestId: string }
  Profile: { readonly biography?: string; readonly institution?: string; readonly orcidId?: string; readonly position?: string; readonly currentprojects?: readonly (string)[]; readonly pastprojects?: readonly (string)[] }
  ProfileChange: { readonly firstName?: string; readonly lastName?: string; readonly biography?: string | null; readonly institution?: string | null; readonly orcidId?: string | null; readonly position?: string | null; readonly currentprojects?: readonly (string)[] | null; readonly pastprojects?: readonly (string)[] | null; readonly avatarUrl?: string | null; readonly notifications?: "none" | "direct" | "hourly" | "daily" }
  QuarantinedFile: { readonly id: string; readonly filename: string; readonly size: number; readonly sha256: string; readonly signature: string; readonly date: string; readonly authorId: string; readonly author: string; readonly datasets: readonly (string)[] }
  QueryConditions: { readonly join: "and" | "or"; readonly conditions: readonly ({ readonly not: boolean; readonly field: string | null; readonly operator: ":" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "exists" | "missing"; readonly values: readonly ({ readonly is: "words" | "phrase" | "expression"; readonly text: string })[] })[] | null }
  Queue: { readonly queue: string; readonly waiting: number; readonly running: number; readonly consumers: number; readonly dead: number }
  Quota: { readonly usedBytes: number; readonly maxBytes: number; readonly usedFiles: number; readonly maxFiles: number; readonly isEnforced: boolean }
  QuotaLimits: { readonly maxBytes?: number | null; readonly maxFiles?: number | null }
  ReadAccess: { readonly private: boolean; readonly origin: "configuration" | "admin" | "pending" | "default" }
  ReadAccessChange: { readonly private: boolean }
  Readiness: { readonly ready: boolean; readonly plugins?: readonly ({ readonly id: string; readonly ok: boolean; readonly message?: string })[]; readonly waiting?: number; readonly parked?: number; readonly absentConsumers?: readonly ({ readonly consumer: string; readonly waiting: number; readonly oldest: string | null })[] }
  ReceivedInvitation: { readonly id: string; readonly space: { readonly id: string; readonly name: string }; readonly role: { readonly id: string; readonly name: string }; readonly message: string; readonly author: Models['UserSummary']; readonly created: string; readonly expires: string }
  ReindexProgress: { readonly state: "never" | "queued" | "running" | "done" | "failed"; readonly count: number; readonly total: number | null; readonly reason: string | null; readonly requested: string | null; readonly started: string | null; readonly ended: string | null; readonly problem: string | null }
  Relation: { readonly id: string; readonly source: { readonly id: string; readonly resourceType: string }; readonly target: { readonly id: string; readonly resourceType: string }; readonly rdfType?: string }
  RelationResult: { readonly status: string; readonly message: string; readonly id?: string }
  ResendDeliveries: { readonly since: string; readonly until?: string; readonly state?: "delivered" | "failed" | "all" }
  ResentDeliveries: { readonly resent: number; readonly hasMore: boolean }
  ResourceExtraction: (Models['Extraction'] & { readonly state: "processing" | "done" | "failed" | "cancelled" })
  ResourceReport: { readonly type: "collection" | "dataset" | "file"; readonly id: string; readonly name: string; readonly owner: string; readonly owner_id: string; readonly size_kb: number | null; readonly location: string | null; readonly parent_datasets: readonly (string)[] | null; readonly status: string | null; readonly views: number | null; readonly last_viewed: string | null; readonly downloads: number | null; readonly last_downloaded: string | null; readonly parent_collections: readonly (string)[]; readonly parent_spaces: readonly (string)[]; readonly "uploaded/created": string | null }
  Role: { readonly id: string; readonly name: string; readonly description: string; readonly permissions: readonly (string)[] }
  RoleChange: { readonly name?: string; readonly description?: string; readonly permissions?: readonly (string)[] }
  SavedSearch: { readonly id: string; readonly name: string; readonly query: string; readonly created: string }
  SearchFacets: { readonly exact: boolean; readonly type?: readonly ({ readonly value: string; readonly count: number })[]; readonly media_type?: readonly ({ readonly value: string; readonly count: number })[]; readonly tag?: readonly ({ readonly value: string; readonly count: number })[]; readonly space?: readonly (Models['NamedFacetValue'])[]; readonly creator?: readonly (Models['NamedFacetValue'])[]; readonly year?: readonly ({ readonly value: string; readonly count: number })[] }
  SearchHit: { readonly kind: string; readonly id: string; readonly name: string; readonly description: string; readonly author: { readonly id: string; readonly name: string }; readonly created: string; readonly place: readonly ({ readonly kind: string; readonly id: string; readonly name: string })[]; readonly type?: string; readonly size?: number; readonly thumbnail?: string; readonly tags: readonly (string)[]; readonly matched: readonly ({ readonly field: string; readonly text: string; readonly marks: readonly ({ readonly start: number; readonly end: number })[] })[] }
  SearchResult: { readonly results: readonly ((Models['FileSummary'] | Models['Dataset'] | Models['Collection'] | Models['SensorHit'] | Models['StreamHit']))[]; readonly count: number; readonly size: number; readonly scanned_size: number; readonly from: number; readonly total_size: number; readonly newest_first?: boolean; readonly first?: string; readonly prev?: string; readonly next?: string; readonly last?: string; readonly facets?: Models['SearchFacets'] }
  SecondFactorLogin: { readonly challenge: string; readonly code?: string; readonly recoveryCode?: string; readonly passkey?: Models['PasskeyAssertion'] }
  SecondFactors: { readonly isRequired: boolean; readonly totp: { readonly created: string; readonly lastUsed: string | null } | null; readonly passkeys: readonly ({ readonly id: string; readonly name: string; readonly created: string; readonly lastUsed: string | null; readonly isBackedUp: boolean })[]; readonly recoveryCodesLeft: number }
  Section: { readonly id: string; readonly file_id: string; readonly startTime: string; readonly tags: readonly (string)[]; readonly area: (Models['Area'] | null); readonly description: string; readonly endTime: number | null; readonly order: number | null; readonly thumbnail: string | null; readonly more?: Readonly<Record<string, unknown>> }
  SectionTags: { readonly id: string; readonly file_id: string; readonly tags: readonly (string)[]; readonly items: readonly ({ readonly id: string; readonly name: string })[] }
  SelectionReport: { readonly success: string; readonly datasets: readonly ({ readonly id: string; readonly status: string; readonly message?: string })[] }
  Sensor: { readonly id: number; readonly name: string; readonly created: string; readonly type: "Feature"; readonly properties: Readonly<Record<string, unknown>>; readonly geometry: Readonly<Record<string, unknown>>; readonly min_start_time: string | null; readonly max_end_time: string | null; readonly parameters: readonly (string | null)[]; readonly spaces?: readonly (string)[] }
  SensorBins: { readonly sensor_name: string; readonly sensor_id: string; readonly properties: Readonly<Record<string, readonly (Models['Bin'])[]>> }
  SensorChange: { readonly properties?: Readonly<Record<string, unknown>>; readonly geometry?: Readonly<Record<string, unknown>>; readonly spaces?: readonly (string)[] }
  SensorHit: { readonly id: string; readonly name: string; readonly created: string; readonly resource_type: "sensor" }
  SensorStatistics: { readonly range: { readonly min_start_time: string | null; readonly max_end_time: string | null }; readonly parameters: readonly (string | null)[] }
  SensorTitles: { readonly sensors: string; readonly sensor: string; readonly parameters: string; readonly parameter: string }
  Session: { readonly id: string; readonly created: string; readonly lastUsed: string; readonly expires: string; readonly address: string; readonly userAgent: string; readonly isCurrent: boolean }
  SessionSite: { readonly name: string; readonly welcome: string; readonly terms: boolean; readonly termsChanged: string | null; readonly sensors: string; readonly sensor: string; readonly parameters: string; readonly parameter: string; readonly version: string }
  SessionState: { readonly user: (Models['SessionUser'] | null); readonly site: Models['SessionSite']; readonly capabilities: Models['Capabilities']; readonly preferences: Models['ClientPreferences']; readonly time: string }
  SessionUser: { readonly id: string; readonly firstName: string; readonly lastName: string; readonly fullName: string; readonly email: string; readonly avatar: string; readonly status: "Active" | "Inactive" | "ReadOnly" | "Admin"; readonly superAdmin: boolean; readonly via: string; readonly isLimited: boolean; readonly termsPending: boolean; readonly secondFactorPending: boolean; readonly rights: readonly (string)[]; readonly storage: { readonly usedBytes: number; readonly maxBytes: number; readonly usedFiles: number; readonly maxFiles: number } | null; readonly counts: { readonly invitations?: number; readonly requests?: number; readonly notifications?: number } }
  SetUpLink: { readonly isOpen: boolean; readonly private: boolean | null }
  SignInProvider: { readonly id: string; readonly label: string; readonly kind: "password" | "site"; readonly url: string }
  SignUp: { readonly token: string; readonly firstName: string; readonly lastName: string; readonly password: string; readonly acceptTerms?: boolean }
  SiteSettings: { readonly theme: string; readonly displayName: string; readonly welcomeMessage: string; readonly googleAnalytics: string; readonly amplitudeApikey: string; readonly sensors: string; readonly sensor: string; readonly parameters: string; readonly parameter: string; readonly tosText: string; readonly tosHtml: boolean; readonly tosChanged: string | null }
  SiteSettingsChange: { readonly theme?: string | null; readonly displayName?: string | null; readonly welcomeMessage?: string | null; readonly googleAnalytics?: string | null; readonly amplitudeApikey?: string | null; readonly sensors?: string | null; readonly sensor?: string | null; readonly parameters?: string | null; readonly parameter?: string | null; readonly tosText?: string | null; readonly tosHtml?: boolean | null }
  Space: { readonly id: string; readonly name: string; readonly description: string; readonly created: string }
  SpaceChange: { readonly name: string; readonly description: string; readonly timetolive?: (string | number); readonly enabled?: boolean; readonly access?: "PUBLIC" | "PRIVATE" }
  SpaceMember: { readonly type: "user" | "group"; readonly id: string; readonly name: string; readonly email?: string; readonly avatarURL?: string; readonly role: { readonly id: string; readonly name: string } }
  SpaceReport: { readonly type: "space"; readonly id: string; readonly name: string; readonly description: string; readonly creator_id: string; readonly created: string | null; readonly datasets: number; readonly collections: number; readonly users: number }
  SpaceRequest: { readonly user: Models['UserSummary']; readonly created: string; readonly message?: string }
  StandardVocabulary: { readonly id: string; readonly created: string; readonly lastModified: string; readonly url: string; readonly terms: readonly (string)[] }
  Status: { readonly instance: string; readonly version: Models['Version']; readonly counts: { readonly spaces: number; readonly collections: number; readonly datasets: number; readonly files: number; readonly bytes: number; readonly users: number }; readonly plugins: Readonly<Record<string, unknown>>; readonly storage: Readonly<Record<string, unknown>>; readonly extractors: readonly (string)[] }
  StepUp: { readonly password?: string; readonly challenge?: string; readonly code?: string; readonly recoveryCode?: string; readonly passkey?: Models['PasskeyAssertion'] }
  Stream: { readonly id: number; readonly name: string; readonly created: string; readonly type: "Feature"; readonly properties: Readonly<Record<string, unknown>>; readonly geometry: Readonly<Record<string, unknown>>; readonly sensor_id: string; readonly start_time: string | null; readonly end_time: string | null; readonly params: readonly (string)[] | null }
  StreamHit: { readonly id: string; readonly name: string; readonly created: string; readonly sensor_id: string; readonly resource_type: "stream" }
  SubmittedJob: { readonly status: "OK"; readonly job_id: string }
  Success: { readonly status: "success" }
  Tag: { readonly name: string; readonly count: number }
  Tags: { readonly id: string; readonly name: string; readonly tags: readonly (string)[]; readonly items: readonly ({ readonly id: string; readonly name: string })[] }
  TagsByExtractor: { readonly extractor_id?: string; readonly userId?: string; readonly values: readonly (string)[] }
  Thumbnail: { readonly id: string; readonly filename: string; readonly "content-type": string; readonly "date-created": string; readonly size: string }
  TotpEnrolment: { readonly enrolment: string; readonly secret: string; readonly uri: string }
  TreeNode: { readonly id: string; readonly name: string; readonly text: string; readonly children: boolean; readonly type?: string; readonly data: Readonly<Record<string, unknown>>; readonly icon?: string; readonly authorId?: string; readonly spaces?: readonly (string)[] }
  Upload: { readonly id: string; readonly filename: string; readonly dataset: string | null; readonly folder: string | null; readonly path?: string; readonly length: number; readonly received: number; readonly started: string; readonly expires: string; readonly state: "open" | "finished"; readonly file: string | null }
  UploadCheck: { readonly dataset: string; readonly folder?: string; readonly files: readonly ({ readonly path: string; readonly size: number; readonly sha256?: string })[] }
  UploadFailure: { readonly url: string; readonly code: string; readonly message: string }
  UploadSource: { readonly fileurl?: string; readonly weburl?: string; readonly url?: string; readonly path?: string; readonly md?: unknown; readonly metadata?: unknown }
  User: { readonly "@context": Readonly<Record<string, string>>; readonly id: string; readonly firstName: string; readonly lastName: string; readonly fullName: string; readonly email: string | null; readonly avatar: string; readonly profile: Models['Profile']; readonly identityProvider: string }
  UserMetadata: { readonly cards: string; readonly table: string; readonly document: Models['Metadata'] }
  UserReport: { readonly type: "user"; readonly id: string; readonly name: string; readonly email: string; readonly provider: string; readonly last_login: string | null; readonly days_since_last_login: number | null; readonly active: boolean | null; readonly admin: boolean | null; readonly admin_spaces: number | null; readonly member_spaces: number | null }
  UserStorageReport: { readonly type: "user"; readonly id: string; readonly name: string; readonly email: string; readonly files: number; readonly size_kb: number }
  UserSummary: { readonly id: string; readonly fullName: string; readonly avatarURL: string; readonly email?: string }
  Version: { readonly number: string; readonly build: string; readonly branch: string; readonly gitsha1: string }
  Vocabulary: { readonly id: string; readonly author: string; readonly name: string; readonly terms: readonly (Models['VocabularyTerm'])[]; readonly keys: string; readonly tags: string; readonly description: string; readonly isPublic: string; readonly spaces: string }
  VocabularyChange: { readonly name?: string | null; readonly description?: string | null; readonly keys?: string | null; readonly tags?: string | null; readonly terms?: readonly (Models['NewVocabularyTerm'])[] | null }
  VocabularySummary: { readonly id: string; readonly author: string; readonly name: string; readonly keys: readonly (string)[]; readonly description: string; readonly spaces: readonly (string)[] }
  VocabularyTerm: { readonly vocab_term_id: string; readonly key: string; readonly default_value: string; readonly units: string; readonly description: string }
  WebContribution: { readonly id: string; readonly plugin: string; readonly kind: string; readonly title: string; readonly module: string; readonly styles: readonly (string)[]; readonly permission?: string; readonly of: readonly (string)[]; readonly order: number; readonly texts: Readonly<Record<string, string>>; readonly viewer?: { readonly mediaTypes: readonly (string)[]; readonly extensions: readonly (string)[]; readonly maxBytes: number; readonly trust: "page" | "frame"; readonly asks?: boolean; readonly rank: number } }
  Webhook: { readonly id: string; readonly scope: "person" | "space" | "server"; readonly space?: string; readonly owner: string; readonly url: string; readonly description: string; readonly filter: Models['EventFilter']; readonly created: string; readonly active: boolean; readonly pauseReason?: string; readonly failingSince?: string; readonly retryAt?: string }
  WebhookAttempt: { readonly at: string; readonly durationMs: number; readonly status?: number; readonly response?: string; readonly error?: string }
  WebhookDelivery: { readonly id: string; readonly messageId: string; readonly type: string; readonly state: "waiting" | "delivered" | "failed"; readonly created: string; readonly dueAt?: string; readonly tries: number; readonly event?: unknown; readonly attempts: readonly (Models['WebhookAttempt'])[] }
  WebhookTest: { readonly delivered: boolean; readonly messageId: string; readonly attempt: Models['WebhookAttempt'] }
  WebhookUpdate: { readonly url?: string; readonly description?: string; readonly filter?: Models['EventFilter']; readonly active?: boolean }
  WebhookWithSecret: { readonly id: string; readonly scope: "person" | "space" | "server"; readonly space?: string; readonly owner: string; readonly url: string; readonly description: string; readonly filter: Models['EventFilter']; readonly created: string; readonly active: boolean; readonly pauseReason?: string; readonly failingSince?: string; readonly retryAt?: string; readonly secret: string }
}

/** Every operation, by method and path. */
export interface Operations {
  'PUT /api/admin/access': { path: Record<never, never>; query: Record<never, never>; body: Models['ReadAccessChange']; answer: Models['ReadAccess'] }
  'POST /api/users/acceptTerms': { path: Record<never, never>; query: Record<never, never>; body: { readonly tosChanged?: string }; answer: Models['Success'] }
  'POST /api/password': { path: Record<never, never>; query: Record<never, never>; body: Models['PasswordChange']; answer: Models['Success'] }
  'DELETE /api/sessions': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: undefined }
  'GET /api/sessions': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Session'])[] }
  'DELETE /api/sessions/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'DELETE /api/users/{id}/sessions': { path: { id: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'GET /api/me': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['CurrentUser'] }
  'POST /api/login': { path: Record<never, never>; query: Record<never, never>; body: { readonly email: string; readonly password: string }; answer: Models['CurrentUser'] }
  'POST /api/logout': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'GET /api/session': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['SessionState'] }
  'PUT /api/me/preferences': { path: Record<never, never>; query: Record<never, never>; body: Models['ClientPreferences']; answer: Models['ClientPreferences'] }
  'POST /api/users': { path: Record<never, never>; query: Record<never, never>; body: Models['NewUser']; answer: { readonly id: string } }
  'GET /api/users': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['User'])[] }
  'POST /api/users/follow': { path: Record<never, never>; query: { followeeUUID: string }; body: undefined; answer: Models['FollowResult'] }
  'GET /api/avatars/{picture}': { path: { picture: string }; query: Record<never, never>; body: undefined; answer: Blob }
  'GET /api/users/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['User'] }
  'PUT /api/users/{id}': { path: { id: string }; query: Record<never, never>; body: Models['ProfileChange']; answer: Models['User'] }
  'DELETE /api/users/{id}': { path: { id: string }; query: { heir?: string | undefined }; body: undefined; answer: Models['Success'] }
  'GET /api/users/email/{email}': { path: { email: string }; query: Record<never, never>; body: undefined; answer: Models['User'] }
  'GET /api/admin/users': { path: Record<never, never>; query: { status?: "Active" | "Inactive" | "ReadOnly" | "Admin" | undefined; text?: string | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly ((Models['User'] & { readonly status: string; readonly provider: string; readonly created: string; readonly lastLogin: string | null; readonly termsAccepted: string | null; readonly hasSecondFactor: boolean }))[] }
  'POST /api/admin/users': { path: Record<never, never>; query: Record<never, never>; body: Models['AccountLists']; answer: Models['Success'] }
  'POST /api/users/{id}/updateName': { path: { id: string }; query: { firstName: string; lastName: string }; body: undefined; answer: Models['Success'] }
  'POST /api/users/unfollow': { path: Record<never, never>; query: { followeeUUID: string }; body: undefined; answer: Models['Success'] }
  'GET /api/people': { path: Record<never, never>; query: { prefix?: string | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['UserSummary'])[] }
  'GET /api/me/following': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['FollowedResource'])[] }
  'POST /api/second-factors/passkeys': { path: Record<never, never>; query: Record<never, never>; body: Models['NewPasskey']; answer: { readonly id: string; readonly recoveryCodes?: readonly (string)[] } }
  'POST /api/second-factors/passkeys/options': { path: Record<never, never>; query: Record<never, never>; body: { readonly password?: string }; answer: { readonly enrolment: string; readonly publicKey: Readonly<Record<string, unknown>> } }
  'POST /api/second-factors/totp': { path: Record<never, never>; query: Record<never, never>; body: { readonly password?: string }; answer: Models['TotpEnrolment'] }
  'DELETE /api/second-factors/totp': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/second-factors/totp/confirm': { path: Record<never, never>; query: Record<never, never>; body: { readonly enrolment: string; readonly code: string }; answer: { readonly recoveryCodes?: readonly (string)[] } }
  'GET /api/second-factors': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['SecondFactors'] }
  'DELETE /api/second-factors/passkeys/{passkey}': { path: { passkey: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'PUT /api/second-factors/passkeys/{passkey}': { path: { passkey: string }; query: Record<never, never>; body: { readonly name: string }; answer: Models['Success'] }
  'POST /api/second-factors/recovery-codes': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly recoveryCodes: readonly (string)[] } }
  'DELETE /api/users/{id}/second-factors': { path: { id: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'POST /api/login/passkey/options': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly challenge: string; readonly publicKey: Readonly<Record<string, unknown>> } }
  'POST /api/sessions/step-up/passkey': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly challenge: string; readonly publicKey: Readonly<Record<string, unknown>> } }
  'POST /api/login/second-factor': { path: Record<never, never>; query: Record<never, never>; body: Models['SecondFactorLogin']; answer: Models['CurrentUser'] }
  'POST /api/login/passkey': { path: Record<never, never>; query: Record<never, never>; body: { readonly challenge: string; readonly passkey: Models['PasskeyAssertion'] }; answer: Models['CurrentUser'] }
  'POST /api/sessions/step-up': { path: Record<never, never>; query: Record<never, never>; body: Models['StepUp']; answer: { readonly status: "success"; readonly authenticated: string } }
  'POST /api/users/keys': { path: Record<never, never>; query: { name: string; scope?: "full" | "extraction" | undefined; verbs?: string | undefined; spaces?: string | undefined; expires?: string | undefined }; body: undefined; answer: Models['NewApiKey'] }
  'GET /api/users/keys': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['ApiKey'])[] }
  'DELETE /api/users/keys/{name}': { path: { name: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'GET /api/users/keys/{name}': { path: { name: string }; query: Record<never, never>; body: undefined; answer: Models['ApiKey'] }
  'POST /api/roles': { path: Record<never, never>; query: Record<never, never>; body: Models['NewRole']; answer: { readonly id: string } }
  'GET /api/roles': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['Role'])[] }
  'DELETE /api/roles/{id}': { path: { id: string }; query: { successor?: string | undefined }; body: undefined; answer: Models['Success'] }
  'GET /api/roles/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Role'] }
  'PUT /api/roles/{id}': { path: { id: string }; query: Record<never, never>; body: Models['RoleChange']; answer: Models['Success'] }
  'POST /api/login/link': { path: Record<never, never>; query: Record<never, never>; body: { readonly token: string }; answer: Models['Success'] }
  'GET /api/login/link': { path: Record<never, never>; query: { token: string }; body: undefined; answer: Models['IdentityLink'] }
  'GET /api/login/{provider}/callback': { path: { provider: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'GET /api/login/providers': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['SignInProvider'])[] }
  'GET /api/login/{provider}': { path: { provider: string }; query: { returnTo?: string | undefined }; body: undefined; answer: undefined }
  'GET /api/setup': { path: Record<never, never>; query: { token: string }; body: undefined; answer: Models['SetUpLink'] }
  'POST /api/setup': { path: Record<never, never>; query: Record<never, never>; body: Models['FirstAdmin']; answer: { readonly id: string } }
  'GET /setup': { path: Record<never, never>; query: { token: string }; body: undefined; answer: string }
  'POST /setup': { path: Record<never, never>; query: Record<never, never>; body: Models['FirstAdmin']; answer: { readonly id: string } }
  'POST /api/password/reset': { path: Record<never, never>; query: Record<never, never>; body: { readonly email: string }; answer: Models['Success'] }
  'POST /api/password/reset/finish': { path: Record<never, never>; query: Record<never, never>; body: Models['PasswordReset']; answer: Models['Success'] }
  'GET /api/password/reset/finish': { path: Record<never, never>; query: { token: string }; body: undefined; answer: { readonly email: string; readonly expires: string } }
  'POST /api/signup/finish': { path: Record<never, never>; query: Record<never, never>; body: Models['SignUp']; answer: { readonly id: string; readonly isActive: boolean } }
  'GET /api/signup/finish': { path: Record<never, never>; query: { token: string }; body: undefined; answer: { readonly email: string; readonly expires: string } }
  'POST /api/signup': { path: Record<never, never>; query: Record<never, never>; body: { readonly email: string }; answer: Models['Success'] }
  'POST /api/groups/{id}/members': { path: { id: string }; query: Record<never, never>; body: { readonly users: readonly (string)[] }; answer: Models['Success'] }
  'GET /api/groups/{id}/members': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['UserSummary'])[] }
  'POST /api/groups': { path: Record<never, never>; query: Record<never, never>; body: Models['NewGroup']; answer: { readonly id: string } }
  'GET /api/groups': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Group'])[] }
  'DELETE /api/groups/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'GET /api/groups/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Group'] }
  'PUT /api/groups/{id}': { path: { id: string }; query: Record<never, never>; body: { readonly name?: string; readonly description?: string }; answer: Models['Success'] }
  'GET /api/groups/{id}/spaces': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly ({ readonly space: string; readonly role: { readonly id: string; readonly name: string } })[] }
  'DELETE /api/groups/{id}/members/{user}': { path: { id: string; user: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'DELETE /api/spaces/{id}/groups/{group}': { path: { id: string; group: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'PUT /api/spaces/{id}/groups/{group}': { path: { id: string; group: string }; query: Record<never, never>; body: { readonly role?: string }; answer: Models['Success'] }
  'POST /api/spaces': { path: Record<never, never>; query: Record<never, never>; body: Models['NewSpace']; answer: { readonly id: string } }
  'GET /api/spaces': { path: Record<never, never>; query: { when?: string | undefined; date?: string | undefined; title?: string | undefined; limit?: number | undefined; after?: string | undefined; sort?: "name" | "created" | "modified" | undefined; order?: "asc" | "desc" | undefined; whose?: "mine" | "shared" | "public" | undefined; total?: boolean | undefined; view?: "full" | undefined }; body: undefined; answer: readonly ((Models['Space'] | Models['FullSpace']))[] }
  'DELETE /api/spaces/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'GET /api/spaces/{id}': { path: { id: string }; query: { view?: "full" | undefined }; body: undefined; answer: (Models['Space'] | Models['FullSpace']) }
  'POST /api/spaces/{id}/follow': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['FollowResult'] }
  'GET /api/spaces/canEdit': { path: Record<never, never>; query: { when?: string | undefined; date?: string | undefined; title?: string | undefined; limit?: number | undefined; after?: string | undefined; sort?: "name" | "created" | "modified" | undefined; order?: "asc" | "desc" | undefined; whose?: "mine" | "shared" | "public" | undefined; total?: boolean | undefined; view?: "full" | undefined }; body: undefined; answer: readonly ((Models['Space'] | Models['FullSpace']))[] }
  'POST /api/spaces/{id}/unfollow': { path: { id: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'POST /api/spaces/{id}/update': { path: { id: string }; query: Record<never, never>; body: Models['SpaceChange']; answer: Models['Success'] }
  'PUT /api/spaces/{id}/verify': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/spaces/{id}/acceptRequest': { path: { id: string }; query: { user: string; role?: string | undefined }; body: undefined; answer: Models['Success'] }
  'POST /api/spaces/{id}/request': { path: { id: string }; query: Record<never, never>; body: { readonly message?: string }; answer: Models['Success'] }
  'DELETE /api/spaces/{id}/request': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/spaces/{id}/leave': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'GET /api/spaces/{id}/members': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['SpaceMember'])[] }
  'GET /api/spaces/{id}/requests': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['SpaceRequest'])[] }
  'POST /api/spaces/{id}/rejectRequest': { path: { id: string }; query: { user: string }; body: undefined; answer: Models['Success'] }
  'DELETE /api/spaces/{id}/members/{user}': { path: { id: string; user: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'PUT /api/spaces/{id}/members/{user}': { path: { id: string; user: string }; query: Record<never, never>; body: { readonly role: string }; answer: Models['Success'] }
  'POST /api/spaces/{id}/removeUser': { path: { id: string }; query: { removeUser: string }; body: undefined; answer: Models['Success'] }
  'POST /api/spaces/{id}/updateUsers': { path: { id: string }; query: Record<never, never>; body: { readonly rolesandusers: Readonly<Record<string, string>> }; answer: Models['Success'] }
  'POST /api/invitations/{id}/accept': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/invitations/{id}/decline': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/spaces/{id}/invite': { path: { id: string }; query: Record<never, never>; body: Models['NewInvitation']; answer: readonly (Models['InvitationResult'])[] }
  'GET /api/invitations': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['ReceivedInvitation'])[] }
  'GET /api/spaces/{id}/invitations': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Invitation'])[] }
  'DELETE /api/spaces/{id}/invitations/{invitation}': { path: { id: string; invitation: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'DELETE /api/collections/clearOldCollectionsTrash': { path: Record<never, never>; query: { days?: number | undefined }; body: undefined; answer: string }
  'POST /api/collections': { path: Record<never, never>; query: Record<never, never>; body: Models['NewCollection']; answer: { readonly id: string } }
  'GET /api/collections': { path: Record<never, never>; query: { when?: string | undefined; date?: string | undefined; title?: string | undefined; exact?: boolean | undefined; limit?: number | undefined; after?: string | undefined; sort?: "name" | "created" | "modified" | undefined; order?: "asc" | "desc" | undefined; whose?: "mine" | "shared" | "public" | undefined; total?: boolean | undefined; view?: "full" | undefined }; body: undefined; answer: readonly ((Models['Collection'] | Models['FullCollection']))[] }
  'POST /api/collections/newCollectionWithParent': { path: Record<never, never>; query: Record<never, never>; body: Models['NewChildCollection']; answer: { readonly id: string } }
  'DELETE /api/collections/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'GET /api/collections/{id}': { path: { id: string }; query: { view?: "full" | undefined }; body: undefined; answer: (Models['CollectionDetails'] | Models['FullCollection']) }
  'POST /api/collections/{id}/remove': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'PUT /api/collections/{id}/description': { path: { id: string }; query: Record<never, never>; body: { readonly description: string }; answer: Models['Success'] }
  'DELETE /api/collections/emptyTrash': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: string }
  'POST /api/collections/{id}/follow': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['FollowResult'] }
  'GET /api/collections/listTrash': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined; view?: "full" | undefined }; body: undefined; answer: readonly ((Models['CollectionDetails'] | Models['FullCollection']))[] }
  'PUT /api/collections/{id}/title': { path: { id: string }; query: Record<never, never>; body: { readonly name: string }; answer: Models['Success'] }
  'PUT /api/collections/restore/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/collections/{id}/unfollow': { path: { id: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'GET /api/collections/allCollections': { path: Record<never, never>; query: { limit?: number | undefined; showAll?: boolean | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['CollectionDetails'])[] }
  'GET /api/collections/list': { path: Record<never, never>; query: { when?: string | undefined; date?: string | undefined; title?: string | undefined; exact?: boolean | undefined; limit?: number | undefined; after?: string | undefined; sort?: "name" | "created" | "modified" | undefined; order?: "asc" | "desc" | undefined; whose?: "mine" | "shared" | "public" | undefined; total?: boolean | undefined; view?: "full" | undefined }; body: undefined; answer: readonly ((Models['Collection'] | Models['FullCollection']))[] }
  'GET /api/collections/canEdit': { path: Record<never, never>; query: { when?: string | undefined; date?: string | undefined; title?: string | undefined; exact?: boolean | undefined; limit?: number | undefined; after?: string | undefined; whose?: "mine" | "shared" | "public" | undefined; view?: "full" | undefined }; body: undefined; answer: readonly ((Models['Collection'] | Models['FullCollection']))[] }
  'GET /api/collections/possibleParents': { path: Record<never, never>; query: { when?: string | undefined; date?: string | undefined; title?: string | undefined; exact?: boolean | undefined; limit?: number | undefined; after?: string | undefined; currentCollectionId: string }; body: undefined; answer: readonly (Models['Collection'])[] }
  'GET /api/collections/datasetPossibleParents/{dataset}': { path: { dataset: string }; query: { when?: string | undefined; date?: string | undefined; title?: string | undefined; exact?: boolean | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Collection'])[] }
  'GET /api/collections/rootCollections': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['CollectionDetails'])[] }
  'GET /api/spaces/{id}/collections': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined; title?: string | undefined; sort?: "name" | "created" | "modified" | undefined; order?: "asc" | "desc" | undefined; whose?: "mine" | "shared" | "public" | undefined; total?: boolean | undefined; view?: "full" | undefined }; body: undefined; answer: readonly ((Models['Collection'] | Models['FullCollection']))[] }
  'GET /api/collections/topLevelCollections': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['CollectionDetails'])[] }
  'POST /api/spaces/{id}/addCollectionToSpace/{collection}': { path: { id: string; collection: string }; query: Record<never, never>; body: undefined; answer: { readonly collectionInSpace: string } }
  'POST /api/collections/{id}/addSubCollection/{child}': { path: { id: string; child: string }; query: Record<never, never>; body: undefined; answer: Models['CollectionDetails'] }
  'GET /api/collections/{id}/getChildCollectionIds': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (string)[] }
  'GET /api/collections/{id}/getChildCollections': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined; title?: string | undefined; sort?: "name" | "created" | "modified" | undefined; order?: "asc" | "desc" | undefined; whose?: "mine" | "shared" | "public" | undefined; total?: boolean | undefined; view?: "full" | undefined }; body: undefined; answer: readonly ((Models['CollectionDetails'] | Models['FullCollection']))[] }
  'GET /api/collections/{id}/getParentCollectionIds': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (string)[] }
  'GET /api/collections/{id}/getParentCollections': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['CollectionDetails'])[] }
  'POST /api/spaces/{id}/removeCollection/{collection}': { path: { id: string; collection: string }; query: { removeDatasets: boolean }; body: undefined; answer: string }
  'GET /api/collections/{id}/removeFromSpaceAllowed/{space}': { path: { id: string; space: string }; query: Record<never, never>; body: undefined; answer: boolean }
  'POST /api/collections/{id}/removeSubCollection/{child}': { path: { id: string; child: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/collections/{id}/rootFlag/{space}': { path: { id: string; space: string }; query: Record<never, never>; body: undefined; answer: Models['CollectionDetails'] }
  'POST /api/collections/{id}/unsetRootFlag/{space}': { path: { id: string; space: string }; query: Record<never, never>; body: undefined; answer: Models['CollectionDetails'] }
  'DELETE /api/datasets/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'GET /api/datasets/{id}': { path: { id: string }; query: { view?: "full" | undefined }; body: undefined; answer: (Models['Dataset'] | Models['FullDataset']) }
  'POST /api/datasets/{id}/follow': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['FollowResult'] }
  'GET /api/datasets': { path: Record<never, never>; query: { when?: string | undefined; date?: string | undefined; title?: string | undefined; exact?: boolean | undefined; limit?: number | undefined; after?: string | undefined; sort?: "name" | "created" | "modified" | undefined; order?: "asc" | "desc" | undefined; whose?: "mine" | "shared" | "public" | undefined; total?: boolean | undefined; view?: "full" | undefined }; body: undefined; answer: readonly ((Models['Dataset'] | Models['FullDataset']))[] }
  'POST /api/datasets': { path: Record<never, never>; query: Record<never, never>; body: Models['NewDatasetOfFile']; answer: { readonly id: string } }
  'GET /api/datasets/listOutsideCollection/{collection}': { path: { collection: string }; query: { when?: string | undefined; date?: string | undefined; title?: string | undefined; exact?: boolean | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Dataset'])[] }
  'GET /api/datasets/canEdit': { path: Record<never, never>; query: { when?: string | undefined; date?: string | undefined; title?: string | undefined; exact?: boolean | undefined; limit?: number | undefined; after?: string | undefined; sort?: "name" | "created" | "modified" | undefined; order?: "asc" | "desc" | undefined; whose?: "mine" | "shared" | "public" | undefined; total?: boolean | undefined; view?: "full" | undefined }; body: undefined; answer: readonly ((Models['Dataset'] | Models['FullDataset']))[] }
  'GET /api/datasets/moveFileToDataset': { path: Record<never, never>; query: { when?: string | undefined; date?: string | undefined; title?: string | undefined; exact?: boolean | undefined; limit?: number | undefined; after?: string | undefined; file_id: string }; body: undefined; answer: readonly (Models['Dataset'])[] }
  'POST /api/datasets/{id}/unfollow': { path: { id: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'POST /api/datasets/{id}/creator': { path: { id: string }; query: Record<never, never>; body: { readonly creator: string }; answer: Models['Success'] }
  'DELETE /api/datasets/clearOldDatasetsTrash': { path: Record<never, never>; query: { days?: number | undefined }; body: undefined; answer: string }
  'PUT /api/datasets/{id}/description': { path: { id: string }; query: Record<never, never>; body: { readonly description: string }; answer: Models['Success'] }
  'POST /api/datasets/{id}/editing': { path: { id: string }; query: Record<never, never>; body: { readonly name: string; readonly description: string }; answer: Models['Success'] }
  'DELETE /api/datasets/emptyTrash': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: string }
  'POST /api/datasets/{id}/license': { path: { id: string }; query: Record<never, never>; body: Models['License']; answer: Models['Success'] }
  'GET /api/datasets/listTrash': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined; view?: "full" | undefined }; body: undefined; answer: readonly ((Models['Dataset'] | Models['FullDataset']))[] }
  'PUT /api/datasets/{id}/creator/reorder': { path: { id: string }; query: { creator: string; newPos: number }; body: undefined; answer: Models['Success'] }
  'DELETE /api/datasets/{id}/creator/remove': { path: { id: string }; query: { creator: string }; body: undefined; answer: Models['Success'] }
  'PUT /api/datasets/{id}/title': { path: { id: string }; query: Record<never, never>; body: { readonly name: string }; answer: Models['Success'] }
  'PUT /api/datasets/restore/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'PUT /api/datasets/{id}/access': { path: { id: string }; query: { access?: "PUBLIC" | "PRIVATE" | "DEFAULT" | undefined; aceess?: "PUBLIC" | "PRIVATE" | "DEFAULT" | undefined }; body: undefined; answer: Models['Success'] }
  'POST /api/collections/{id}/datasets/{dataset}': { path: { id: string; dataset: string }; query: Record<never, never>; body: undefined; answer: { readonly datasetsInCollection: number } }
  'DELETE /api/collections/{id}/datasets/{dataset}': { path: { id: string; dataset: string }; query: { ignoreNotFound?: boolean | undefined }; body: undefined; answer: Models['Success'] }
  'POST /api/spaces/{id}/addDatasetToSpace/{dataset}': { path: { id: string; dataset: string }; query: Record<never, never>; body: undefined; answer: { readonly datasetsInSpace: string } }
  'GET /api/collections/{id}/datasets': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined; title?: string | undefined; sort?: "name" | "created" | "modified" | undefined; order?: "asc" | "desc" | undefined; whose?: "mine" | "shared" | "public" | undefined; total?: boolean | undefined; view?: "full" | undefined }; body: undefined; answer: readonly ((Models['Dataset'] | Models['FullDataset']))[] }
  'GET /api/collections/{id}/getDatasets': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined; title?: string | undefined; sort?: "name" | "created" | "modified" | undefined; order?: "asc" | "desc" | undefined; whose?: "mine" | "shared" | "public" | undefined; total?: boolean | undefined; view?: "full" | undefined }; body: undefined; answer: readonly ((Models['Dataset'] | Models['FullDataset']))[] }
  'GET /api/spaces/{id}/datasets': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined; title?: string | undefined; sort?: "name" | "created" | "modified" | undefined; order?: "asc" | "desc" | undefined; whose?: "mine" | "shared" | "public" | undefined; total?: boolean | undefined; view?: "full" | undefined }; body: undefined; answer: readonly ((Models['Dataset'] | Models['FullDataset']))[] }
  'POST /api/collections/{id}/datasetsRemove/{dataset}/{ignoreNotFound}': { path: { id: string; dataset: string; ignoreNotFound: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/spaces/{id}/removeDataset/{dataset}': { path: { id: string; dataset: string }; query: Record<never, never>; body: undefined; answer: { readonly isTrial: string } }
  'POST /api/datasets/{id}/newFolder': { path: { id: string }; query: Record<never, never>; body: Models['NewFolder']; answer: Models['Folder'] }
  'DELETE /api/datasets/{id}/deleteFolder/{folder}': { path: { id: string; folder: string }; query: Record<never, never>; body: undefined; answer: { readonly status: string; readonly folderId: string } }
  'POST /api/datasets/{id}/folders': { path: { id: string }; query: Record<never, never>; body: Models['NewFolderPath']; answer: Models['FolderPlace'] }
  'GET /api/datasets/{id}/folders': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['ListedFolder'])[] }
  'POST /api/datasets/{id}/moveFolder/{folder}': { path: { id: string; folder: string }; query: { to?: string | undefined; into?: string | undefined }; body: undefined; answer: Models['FolderMove'] }
  'PUT /api/datasets/{id}/updateName/{folder}': { path: { id: string; folder: string }; query: Record<never, never>; body: { readonly name: string }; answer: { readonly status: string; readonly newname: string } }
  'POST /api/collections/{id}/metadata.jsonld': { path: { id: string }; query: Record<never, never>; body: Models['NewMetadata']; answer: string }
  'GET /api/collections/{id}/metadata.jsonld': { path: { id: string }; query: { extractor?: string | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Metadata'])[] }
  'DELETE /api/collections/{id}/metadata.jsonld': { path: { id: string }; query: { extractor?: string | undefined }; body: undefined; answer: { readonly status: "success"; readonly count: string } }
  'POST /api/datasets/{id}/metadata.jsonld': { path: { id: string }; query: Record<never, never>; body: Models['NewMetadata']; answer: string }
  'GET /api/datasets/{id}/metadata.jsonld': { path: { id: string }; query: { extractor?: string | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Metadata'])[] }
  'DELETE /api/datasets/{id}/metadata.jsonld': { path: { id: string }; query: { extractor?: string | undefined }; body: undefined; answer: { readonly status: "success"; readonly count: string } }
  'POST /api/files/{id}/metadata.jsonld': { path: { id: string }; query: Record<never, never>; body: Models['NewMetadata']; answer: string }
  'GET /api/files/{id}/metadata.jsonld': { path: { id: string }; query: { extractor?: string | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Metadata'])[] }
  'DELETE /api/files/{id}/metadata.jsonld': { path: { id: string }; query: { extractor?: string | undefined }; body: undefined; answer: { readonly status: "success"; readonly count: string } }
  'POST /api/files/metadata.jsonld': { path: Record<never, never>; query: Record<never, never>; body: Models['MetadataOfFiles']; answer: (string | Models['MetadataReport']) }
  'GET /api/files/metadata.jsonld': { path: Record<never, never>; query: { id: readonly (string)[] }; body: undefined; answer: Readonly<Record<string, readonly (Models['Metadata'])[]>> }
  'POST /api/datasets/{id}/metadata': { path: { id: string }; query: Record<never, never>; body: (Readonly<Record<string, unknown>> | readonly (unknown)[]); answer: Models['Success'] }
  'GET /api/datasets/{id}/metadata': { path: { id: string }; query: { space?: string | undefined }; body: undefined; answer: readonly (Models['MetadataDefinition'])[] }
  'POST /api/files/{id}/metadata': { path: { id: string }; query: Record<never, never>; body: (Readonly<Record<string, unknown>> | readonly (unknown)[]); answer: string }
  'GET /api/files/{id}/metadata': { path: { id: string }; query: { view?: "full" | undefined }; body: undefined; answer: (Models['File'] | Models['FullFile']) }
  'POST /api/spaces/{id}/metadata.jsonld': { path: { id: string }; query: Record<never, never>; body: Models['NewMetadata']; answer: string }
  'GET /api/spaces/{id}/metadata.jsonld': { path: { id: string }; query: { extractor?: string | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Metadata'])[] }
  'DELETE /api/spaces/{id}/metadata.jsonld': { path: { id: string }; query: { extractor?: string | undefined }; body: undefined; answer: { readonly status: "success"; readonly count: string } }
  'GET /api/datasets/{id}/technicalmetadatajson': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (unknown)[] }
  'GET /api/files/{id}/technicalmetadatajson': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (unknown)[] }
  'POST /api/metadata.jsonld': { path: Record<never, never>; query: Record<never, never>; body: Models['NewUserMetadata']; answer: Models['UserMetadata'] }
  'GET /api/metadata.jsonld/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Metadata'] }
  'DELETE /api/metadata.jsonld/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: { readonly status: "ok" } }
  'POST /api/contexts': { path: Record<never, never>; query: Record<never, never>; body: { readonly context_name: string; readonly "@context": (string | Readonly<Record<string, unknown>> | readonly (unknown)[]) }; answer: { readonly id: string } }
  'GET /contexts/metadata.jsonld': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly "@context": unknown } }
  'GET /api/contexts/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: { readonly "@context": unknown } }
  'DELETE /api/contexts/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: string }
  'GET /api/contexts/{name}/context.json': { path: { name: string }; query: Record<never, never>; body: undefined; answer: { readonly "@context": unknown } }
  'DELETE /api/files/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'GET /api/files/{id}': { path: { id: string }; query: { tracking?: boolean | undefined }; body: undefined; answer: Blob }
  'POST /api/files/{id}/remove': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'PUT /api/files/{id}/updateDescription': { path: { id: string }; query: Record<never, never>; body: { readonly description?: string | null }; answer: Models['Success'] }
  'POST /api/files/{id}/follow': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['FollowResult'] }
  'GET /api/files/{id}/blob': { path: { id: string }; query: { tracking?: boolean | undefined }; body: undefined; answer: Blob }
  'GET /files/{id}/blob': { path: { id: string }; query: { tracking?: boolean | undefined }; body: undefined; answer: Blob }
  'GET /api/files/{id}/paths': { path: { id: string }; query: Record<never, never>; body: undefined; answer: { readonly paths: readonly (readonly (string)[])[] } }
  'GET /api/datasets/{id}/files': { path: { id: string }; query: { max?: number | undefined }; body: undefined; answer: readonly (Models['ListedFile'])[] }
  'POST /api/datasets/{id}/files': { path: { id: string }; query: Record<never, never>; body: FormData; answer: ({ readonly id: string } | { readonly ids: readonly (Models['FileSummary'])[] }) }
  'GET /api/datasets/{id}/listAllFiles': { path: { id: string }; query: { max?: number | undefined }; body: undefined; answer: readonly (Models['ListedFile'])[] }
  'GET /api/files/{id}/versions': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['FileVersion'])[] }
  'GET /api/datasets/{id}/listFiles': { path: { id: string }; query: { count?: boolean | undefined }; body: undefined; answer: (readonly (Models['ListedFile'])[] | number) }
  'PUT /api/files/{id}/filename': { path: { id: string }; query: Record<never, never>; body: { readonly name: string }; answer: Models['Success'] }
  'POST /api/files/{id}/unfollow': { path: { id: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'POST /api/files': { path: Record<never, never>; query: { showPreviews?: "DatasetLevel" | "FileLevel" | "None" | undefined; originalZipFile?: string | undefined; flags?: string | undefined; extract?: boolean | undefined }; body: FormData; answer: ({ readonly id: string } | { readonly ids: readonly (Models['FileSummary'])[] }) }
  'POST /api/extractions/upload_file': { path: Record<never, never>; query: { showPreviews?: "DatasetLevel" | "FileLevel" | "None" | undefined; originalZipFile?: string | undefined; flags?: string | undefined; extract?: boolean | undefined }; body: FormData; answer: ({ readonly id: string } | { readonly ids: readonly (Models['FileSummary'])[] }) }
  'POST /api/files/uploadToDataset': { path: Record<never, never>; query: { showPreviews?: "DatasetLevel" | "FileLevel" | "None" | undefined; originalZipFile?: string | undefined; flags?: string | undefined; extract?: boolean | undefined; folder_id?: string | undefined; dataset_id?: string | undefined }; body: FormData; answer: ({ readonly id: string } | { readonly ids: readonly (Models['FileSummary'])[] }) }
  'POST /api/uploadToDataset/{id}': { path: { id: string }; query: { showPreviews?: "DatasetLevel" | "FileLevel" | "None" | undefined; originalZipFile?: string | undefined; flags?: string | undefined; extract?: boolean | undefined; folder_id?: string | undefined; batch?: string | undefined; path?: string | undefined }; body: FormData; answer: ({ readonly id: string } | { readonly ids: readonly (Models['FileSummary'])[] }) }
  'POST /api/extractions/upload_url': { path: Record<never, never>; query: Record<never, never>; body: (Models['UploadSource'] | readonly (Models['UploadSource'])[]); answer: ({ readonly id: string } | { readonly ids: readonly (Models['FileSummary'])[]; readonly failed?: readonly (Models['UploadFailure'])[] }) }
  'POST /api/datasets/{id}/urls': { path: { id: string }; query: { folder_id?: string | undefined }; body: (Models['UploadSource'] | readonly (Models['UploadSource'])[]); answer: ({ readonly id: string } | { readonly ids: readonly (Models['FileSummary'])[]; readonly failed?: readonly (Models['UploadFailure'])[] }) }
  'POST /api/files/bulkRemove': { path: Record<never, never>; query: Record<never, never>; body: { readonly fileIds?: readonly (string)[] | null }; answer: Models['FileRemoval'] }
  'GET /api/files/bulkRemove': { path: Record<never, never>; query: { fileIds?: readonly (string)[] | undefined }; body: undefined; answer: Models['FileRemoval'] }
  'POST /api/files/{id}/license': { path: { id: string }; query: Record<never, never>; body: Models['License']; answer: Models['Success'] }
  'GET /api/datasets/{id}/users': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['Member'])[] }
  'GET /api/files/{id}/users': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['Member'])[] }
  'POST /files/{id}/links': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['NewDownloadLink'] }
  'GET /files/links/{link}': { path: { link: string }; query: Record<never, never>; body: undefined; answer: Blob }
  'GET /api/files/{id}/links': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['DownloadLink'])[] }
  'GET /api/users/{id}/links': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['DownloadLink'])[] }
  'DELETE /api/users/{id}/links': { path: { id: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'GET /api/users/links': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['DownloadLink'])[] }
  'DELETE /api/users/links': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: undefined }
  'DELETE /api/files/{id}/links/{link}': { path: { id: string; link: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'DELETE /api/users/links/{link}': { path: { link: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'DELETE /api/admin/quarantine/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'GET /api/admin/quarantine': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['QuarantinedFile'])[] }
  'POST /api/admin/quarantine/{id}/release': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'PATCH /api/uploads/{id}': { path: { id: string }; query: Record<never, never>; body: Blob; answer: undefined }
  'DELETE /api/uploads/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'GET /api/uploads/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Upload'] }
  'POST /api/uploads/{id}': { path: { id: string }; query: Record<never, never>; body: Blob; answer: undefined }
  'POST /api/uploads': { path: Record<never, never>; query: Record<never, never>; body: Blob; answer: undefined }
  'GET /api/uploads': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Upload'])[] }
  'POST /api/uploads/check': { path: Record<never, never>; query: Record<never, never>; body: Models['UploadCheck']; answer: readonly (Models['CheckedUpload'])[] }
  'GET /api/me/quota': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['Quota'] }
  'GET /api/admin/quotas/{kind}/{id}': { path: { kind: "user" | "space"; id: string }; query: Record<never, never>; body: undefined; answer: Models['Quota'] }
  'PUT /api/admin/quotas/{kind}/{id}': { path: { kind: "user" | "space"; id: string }; query: Record<never, never>; body: Models['QuotaLimits']; answer: Models['Quota'] }
  'GET /api/spaces/{id}/quota': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Quota'] }
  'POST /api/datasets/attachmultiple': { path: Record<never, never>; query: Record<never, never>; body: { readonly datasetid: string; readonly existingfiles: string }; answer: { readonly id: string } }
  'POST /api/datasets/createempty': { path: Record<never, never>; query: Record<never, never>; body: Models['NewDataset']; answer: { readonly id: string } }
  'POST /api/datasets/{id}/detachdelete': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/datasets/{dataset}/files/{file}': { path: { dataset: string; file: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'DELETE /api/datasets/{dataset}/{file}': { path: { dataset: string; file: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/datasets/{dataset}/filesRemove/{file}/{ignoreNotFound}': { path: { dataset: string; file: string; ignoreNotFound: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/datasets/{dataset}/moveBetweenDatasets/{to}/{file}': { path: { dataset: string; to: string; file: string }; query: { fromFolder?: string | undefined; toFolder?: string | undefined }; body: undefined; answer: Models['Success'] }
  'POST /api/datasets/{dataset}/moveFile/{toFolder}/{file}': { path: { dataset: string; toFolder: string; file: string }; query: Record<never, never>; body: { readonly folderId?: string | null }; answer: Models['FileMove'] }
  'POST /api/datasets/{dataset}/moveToDataset/{fromFolder}/{file}': { path: { dataset: string; fromFolder: string; file: string }; query: Record<never, never>; body: undefined; answer: { readonly status: string; readonly fileName: string } }
  'POST /api/datasets/{id}/copyDatasetToSpace/{space}': { path: { id: string; space: string }; query: Record<never, never>; body: undefined; answer: { readonly newDatasetId: string } }
  'GET /api/collections/{id}/download': { path: { id: string }; query: { bagit?: boolean | undefined; compression?: number | undefined }; body: undefined; answer: Blob }
  'GET /api/datasets/{id}/download': { path: { id: string }; query: { bagit?: boolean | undefined; compression?: number | undefined; tracking?: boolean | undefined }; body: undefined; answer: Blob }
  'GET /api/datasets/{id}/downloadFolder': { path: { id: string }; query: { folderId: string; bagit?: boolean | undefined }; body: undefined; answer: Blob }
  'GET /api/datasets/{id}/downloadPartial': { path: { id: string }; query: { fileList: string; bagit?: boolean | undefined }; body: undefined; answer: Blob }
  'POST /api/archives': { path: Record<never, never>; query: Record<never, never>; body: Models['NewArchive']; answer: Models['ChosenArchive'] }
  'GET /api/archives/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Blob }
  'POST /api/datasets/createfrombag': { path: Record<never, never>; query: Record<never, never>; body: FormData; answer: string }
  'POST /api/vocabularies/{id}/addToSpace/{space}': { path: { id: string; space: string }; query: Record<never, never>; body: undefined; answer: Models['Vocabulary'] }
  'POST /api/vocabularies/createVocabularyFromJson': { path: Record<never, never>; query: { isPublic?: boolean | undefined }; body: Models['NewVocabulary']; answer: { readonly id: string } }
  'POST /api/vocabularies/createVocabulary': { path: Record<never, never>; query: Record<never, never>; body: FormData; answer: { readonly id: string } }
  'PUT /api/editVocabulary/{id}': { path: { id: string }; query: Record<never, never>; body: Models['VocabularyChange']; answer: string }
  'GET /api/vocabularies/{name}/getByNameAuthor': { path: { name: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['VocabularySummary'])[] }
  'GET /api/vocabularies/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Vocabulary'] }
  'GET /api/vocabterms/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: { readonly id: string; readonly key: string } }
  'GET /api/vocabularies/getByAuthor': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['VocabularySummary'])[] }
  'GET /api/vocabularies/getPublic': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['Vocabulary'])[] }
  'GET /api/vocabularies/list': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['Vocabulary'])[] }
  'GET /api/vocabterms/list': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['VocabularyTerm'])[] }
  'POST /api/vocabuliaries/{id}/removeFromSpace/{space}': { path: { id: string; space: string }; query: Record<never, never>; body: undefined; answer: Models['Vocabulary'] }
  'POST /api/vocabularies/{id}/removeFromSpace/{space}': { path: { id: string; space: string }; query: Record<never, never>; body: undefined; answer: Models['Vocabulary'] }
  'POST /api/standardvocab': { path: Record<never, never>; query: Record<never, never>; body: readonly (string)[]; answer: Models['StandardVocabulary'] }
  'GET /api/standardvocab': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['StandardVocabulary'])[] }
  'DELETE /api/standardvocab/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['StandardVocabulary'] }
  'GET /api/standardvocab/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['StandardVocabulary'] }
  'PUT /api/standardvocab/{id}': { path: { id: string }; query: Record<never, never>; body: readonly (string)[]; answer: Models['StandardVocabulary'] }
  'GET /api/standardvocab/{id}/terms': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (string)[] }
  'POST /api/metadata/definitions': { path: Record<never, never>; query: Record<never, never>; body: Models['NewMetadataDefinition']; answer: { readonly status: "ok" } }
  'GET /api/metadata/definitions': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['MetadataDefinition'])[] }
  'POST /api/spaces/{id}/metadata': { path: { id: string }; query: Record<never, never>; body: Models['NewMetadataDefinition']; answer: { readonly status: "ok" } }
  'GET /api/spaces/{id}/metadata': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['MetadataDefinition'])[] }
  'DELETE /admin/metadata/definitions/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: { readonly status: "ok" } }
  'DELETE /api/metadata/definitions/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: { readonly status: "ok" } }
  'GET /api/metadata/definitions/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: unknown }
  'PUT /api/metadata/definitions/{id}': { path: { id: string }; query: { spaceId?: string | undefined }; body: Models['MetadataDefinitionChange']; answer: { readonly status: "ok" } }
  'GET /api/metadata/definition/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['MetadataDefinition'] }
  'GET /api/metadata/distinctdefinitions': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['MetadataDefinition'])[] }
  'GET /api/files/{id}/metadataDefinitions': { path: { id: string }; query: { space?: string | undefined }; body: undefined; answer: readonly (Models['MetadataDefinition'])[] }
  'POST /api/relations': { path: Record<never, never>; query: Record<never, never>; body: Models['NewRelation']; answer: Models['RelationResult'] }
  'GET /api/relations': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['Relation'])[] }
  'DELETE /api/relations/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: { readonly status: string } }
  'GET /api/relations/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Relation'] }
  'GET /api/relations/search': { path: Record<never, never>; query: { sourceId: string; sourceType: string; targetType: string }; body: undefined; answer: readonly (string)[] }
  'POST /api/geostreams/sensors': { path: Record<never, never>; query: Record<never, never>; body: Models['NewSensor']; answer: Models['Sensor'] }
  'GET /api/geostreams/sensors': { path: Record<never, never>; query: { geocode?: string | undefined; geojson?: string | undefined; sensor_name?: string | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Sensor'])[] }
  'DELETE /api/geostreams/sensors/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: { readonly status: "ok" } }
  'GET /api/geostreams/sensors/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Sensor'] }
  'PUT /api/geostreams/sensors/{id}': { path: { id: string }; query: Record<never, never>; body: Models['SensorChange']; answer: Models['Sensor'] }
  'GET /api/geostreams/sensors/{id}/stats': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['SensorStatistics'] }
  'POST /api/geostreams/streams': { path: Record<never, never>; query: Record<never, never>; body: Models['NewStream']; answer: Models['Stream'] }
  'GET /api/geostreams/streams': { path: Record<never, never>; query: { geocode?: string | undefined; geojson?: string | undefined; stream_name?: string | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: (readonly (Models['Stream'])[] | { readonly status: "No data found" }) }
  'DELETE /api/geostreams/streams/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: { readonly status: "ok" } }
  'GET /api/geostreams/streams/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Stream'] }
  'PUT /api/geostreams/streams/{id}': { path: { id: string }; query: Record<never, never>; body: Readonly<Record<string, unknown>>; answer: Models['Stream'] }
  'GET /api/geostreams/sensors/{id}/streams': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: (readonly ({ readonly stream_id: number; readonly name: string })[] | { readonly status: "No data found" }) }
  'GET /api/geostreams/stream': { path: Record<never, never>; query: { geocode?: string | undefined; geojson?: string | undefined; stream_name?: string | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Stream'])[] }
  'GET /api/geostreams/counts': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['GeostreamCounts'] }
  'DELETE /api/geostreams/dropall': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly status: "ok" } }
  'GET /api/geostreams/config': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['GeostreamSettings'] }
  'GET /api/geostreams/sensors/{id}/update': { path: { id: string }; query: Record<never, never>; body: undefined; answer: { readonly status: "updated" } }
  'GET /api/geostreams/sensors/update': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly status: "updated" } }
  'GET /api/geostreams/streams/{id}/update': { path: { id: string }; query: Record<never, never>; body: undefined; answer: { readonly status: "updated" } }
  'GET /api/geostreams/streams/update': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly status: "updated" } }
  'POST /api/geostreams/datapoints': { path: Record<never, never>; query: { invalidateCache?: string | undefined }; body: Models['NewDatapoint']; answer: Models['Datapoint'] }
  'GET /api/geostreams/datapoints': { path: Record<never, never>; query: { since?: string | undefined; until?: string | undefined; geocode?: string | undefined; geojson?: string | undefined; stream_id?: string | undefined; sensor_id?: string | undefined; sources?: readonly (string)[] | undefined; attributes?: readonly (string)[] | undefined; semi?: string | undefined; onlyCount?: boolean | undefined; format?: "json" | "geojson" | "csv" | undefined; sort?: "start_time" | "stream" | undefined; order?: "asc" | "desc" | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: (readonly (Models['Datapoint'])[] | { readonly datapointsLength: number }) | { readonly type: "FeatureCollection"; readonly features: readonly (Models['Datapoint'])[] } | string }
  'POST /api/geostreams/datapoints/bulk': { path: Record<never, never>; query: { stream_id?: string | undefined; invalidateCache?: string | undefined }; body: Blob; answer: number | Models['BulkReport'] }
  'DELETE /api/geostreams/datapoints/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: { readonly status: "ok" } }
  'GET /api/geostreams/datapoints/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Datapoint'] }
  'GET /api/geostreams/datapoints/bin/{time}/{depth}': { path: { time: string; depth: string }; query: { since?: string | undefined; until?: string | undefined; geocode?: string | undefined; geojson?: string | undefined; stream_id?: string | undefined; sensor_id?: string | undefined; sources?: readonly (string)[] | undefined; attributes?: readonly (string)[] | undefined; semi?: string | undefined; window_start?: string | undefined; window_end?: string | undefined; aggregates?: readonly (string)[] | undefined; raw?: boolean | undefined; format?: "json" | "geojson" | "csv" | undefined; origin?: string | undefined }; body: undefined; answer: readonly (Models['SensorBins'])[] | { readonly type: "FeatureCollection"; readonly features: readonly (Models['Feature'])[] } | string }
  'GET /api/geostreams/datapoints/averages': { path: Record<never, never>; query: { since?: string | undefined; until?: string | undefined; geocode?: string | undefined; geojson?: string | undefined; stream_id?: string | undefined; sensor_id?: string | undefined; sources?: readonly (string)[] | undefined; attributes?: readonly (string)[] | undefined; semi?: string | undefined; window_start?: string | undefined; window_end?: string | undefined; aggregates?: readonly (string)[] | undefined; format?: "json" | "geojson" | "csv" | undefined }; body: undefined; answer: readonly (Models['DatapointStatistics'])[] | { readonly type: "FeatureCollection"; readonly features: readonly (Models['DatapointStatistics'])[] } | string }
  'GET /api/geostreams/datapoints/trends': { path: Record<never, never>; query: { since?: string | undefined; until?: string | undefined; geocode?: string | undefined; geojson?: string | undefined; stream_id?: string | undefined; sensor_id?: string | undefined; sources?: readonly (string)[] | undefined; attributes?: readonly (string)[] | undefined; semi?: string | undefined; window_start?: string | undefined; window_end?: string | undefined; format?: "json" | "geojson" | "csv" | undefined; binning?: string | undefined }; body: undefined; answer: readonly (Models['DatapointStatistics'])[] | { readonly type: "FeatureCollection"; readonly features: readonly (Models['DatapointStatistics'])[] } | string }
  'GET /api/geostreams/cache/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: unknown | { readonly type: "FeatureCollection"; readonly features: readonly (unknown)[] } | string }
  'GET /api/geostreams/cache/invalidate': { path: Record<never, never>; query: { sensor_id?: string | undefined; stream_id?: string | undefined }; body: undefined; answer: { readonly files: readonly (string)[]; readonly errors: readonly (string)[] } }
  'GET /api/geostreams/cache': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly files: Readonly<Record<string, Models['CacheEntry']>>; readonly size: number } }
  'GET /api/sensorthings/v1.1/{entity}/{link}/{property}/$value': { path: { entity: string; link: string; property: string }; query: Record<never, never>; body: undefined; answer: string }
  'GET /api/sensorthings/v1.1/{resource}': { path: { resource: string }; query: { $filter?: string | undefined; $expand?: string | undefined; $orderby?: string | undefined; $select?: string | undefined; $top?: number | undefined; $skip?: number | undefined; $count?: boolean | undefined; $resultFormat?: "dataArray" | undefined; $skiptoken?: string | undefined }; body: undefined; answer: Readonly<Record<string, unknown>> }
  'GET /api/sensorthings/v1.1/{entity}/{property}/$value': { path: { entity: string; property: string }; query: Record<never, never>; body: undefined; answer: string }
  'GET /api/sensorthings/v1.1': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly value: readonly ({ readonly name: string; readonly url: string })[]; readonly serverSettings: { readonly conformance: readonly (string)[] } } }
  'POST /api/sections': { path: Record<never, never>; query: Record<never, never>; body: Models['NewSection']; answer: { readonly id: string } }
  'DELETE /api/sections/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'GET /api/sections/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Section'] }
  'POST /api/sections/{id}/description': { path: { id: string }; query: Record<never, never>; body: { readonly description: string }; answer: Models['Success'] }
  'GET /api/files/{id}/sections': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (string)[] }
  'POST /api/collections/{id}/tags': { path: { id: string }; query: Record<never, never>; body: { readonly tags: (readonly (string)[] | string); readonly extractor_id?: unknown }; answer: { readonly status: "success"; readonly tags: readonly ({ readonly id: string; readonly name: string })[] } }
  'GET /api/collections/{id}/tags': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Tags'] }
  'DELETE /api/collections/{id}/tags': { path: { id: string }; query: Record<never, never>; body: { readonly tags: (readonly (string)[] | string) }; answer: Models['Success'] }
  'POST /api/datasets/{id}/tags': { path: { id: string }; query: Record<never, never>; body: { readonly tags: (readonly (string)[] | string); readonly extractor_id?: unknown }; answer: { readonly status: "success"; readonly tags: readonly ({ readonly id: string; readonly name: string })[] } }
  'GET /api/datasets/{id}/tags': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Tags'] }
  'DELETE /api/datasets/{id}/tags': { path: { id: string }; query: Record<never, never>; body: { readonly tags: (readonly (string)[] | string) }; answer: Models['Success'] }
  'POST /api/files/{id}/tags': { path: { id: string }; query: Record<never, never>; body: { readonly tags: (readonly (string)[] | string); readonly extractor_id?: unknown }; answer: { readonly status: "success"; readonly tags: readonly ({ readonly id: string; readonly name: string })[] } }
  'GET /api/files/{id}/tags': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['FileTags'] }
  'DELETE /api/files/{id}/tags': { path: { id: string }; query: Record<never, never>; body: { readonly tags: (readonly (string)[] | string) }; answer: Models['Success'] }
  'POST /api/sections/{id}/tags': { path: { id: string }; query: Record<never, never>; body: { readonly tags: (readonly (string)[] | string); readonly extractor_id?: unknown }; answer: { readonly status: "success"; readonly tags: readonly ({ readonly id: string; readonly name: string })[] } }
  'GET /api/sections/{id}/tags': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['SectionTags'] }
  'DELETE /api/sections/{id}/tags': { path: { id: string }; query: Record<never, never>; body: { readonly tags: (readonly (string)[] | string) }; answer: Models['Success'] }
  'POST /api/collections/{id}/tags/remove_all': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/datasets/{id}/tags/remove_all': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/files/{id}/tags/remove_all': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/sections/{id}/tags/remove_all': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/collections/{id}/tags/remove': { path: { id: string }; query: Record<never, never>; body: { readonly tags: (readonly (string)[] | string) }; answer: Models['Success'] }
  'POST /api/datasets/{id}/removeTag': { path: { id: string }; query: Record<never, never>; body: { readonly tagId: string }; answer: "" }
  'POST /api/datasets/{id}/tags/remove': { path: { id: string }; query: Record<never, never>; body: { readonly tags: (readonly (string)[] | string) }; answer: Models['Success'] }
  'POST /api/files/{id}/tags/remove': { path: { id: string }; query: Record<never, never>; body: { readonly tags: (readonly (string)[] | string) }; answer: Models['Success'] }
  'POST /api/sections/{id}/tags/remove': { path: { id: string }; query: Record<never, never>; body: { readonly tags: (readonly (string)[] | string) }; answer: Models['Success'] }
  'POST /api/datasets/{id}/comment': { path: { id: string }; query: Record<never, never>; body: { readonly text?: string | null }; answer: string }
  'POST /api/files/{id}/comment': { path: { id: string }; query: Record<never, never>; body: { readonly text?: string | null }; answer: string }
  'POST /api/sections/{id}/comments': { path: { id: string }; query: Record<never, never>; body: { readonly text?: string | null }; answer: string }
  'GET /api/sections/{id}/comments': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Comment'])[] }
  'POST /api/comment/{id}/editComment': { path: { id: string }; query: Record<never, never>; body: { readonly commentText: string }; answer: Models['Success'] }
  'GET /api/datasets/{id}/comments': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Comment'])[] }
  'GET /api/files/{id}/comments': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Comment'])[] }
  'POST /api/comment/mention': { path: Record<never, never>; query: { userID: string; resourceID: string; resourceName?: string | undefined; resourceType: "file" | "dataset"; commenterId: string }; body: undefined; answer: string }
  'DELETE /api/comment/{id}/removeComment': { path: { id: string }; query: Record<never, never>; body: unknown; answer: Models['Success'] }
  'POST /api/comment/{id}': { path: { id: string }; query: Record<never, never>; body: { readonly text: string }; answer: string }
  'POST /api/collections/{id}/previews/{preview}': { path: { id: string; preview: string }; query: Record<never, never>; body: Readonly<Record<string, unknown>>; answer: Models['Success'] }
  'POST /api/files/{id}/previews/{preview}': { path: { id: string; preview: string }; query: Record<never, never>; body: Readonly<Record<string, unknown>>; answer: Models['Success'] }
  'DELETE /api/previews/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'GET /api/previews/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Blob }
  'POST /api/previews/{id}/metadata': { path: { id: string }; query: Record<never, never>; body: Readonly<Record<string, unknown>>; answer: Models['Success'] }
  'GET /api/previews/{id}/metadata': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['PreviewInfo'] }
  'GET /api/datasets/{id}/getPreviews': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['FilePreviews'])[] }
  'GET /api/files/{id}/getPreviews': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['FilePreviews'])[] }
  'GET /api/files/{id}/listpreviews': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['Preview'])[] }
  'GET /api/previews': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Preview'])[] }
  'POST /api/previews': { path: Record<never, never>; query: { iipKey?: string | undefined }; body: FormData; answer: { readonly id: string } }
  'POST /api/previews/{id}/title': { path: { id: string }; query: Record<never, never>; body: { readonly title: string }; answer: Models['Success'] }
  'POST /api/sections/{id}/thumbnails/{thumbnail}': { path: { id: string; thumbnail: string }; query: Record<never, never>; body: unknown; answer: Models['Success'] }
  'POST /api/files/{id}/thumbnails/{thumbnail}': { path: { id: string; thumbnail: string }; query: Record<never, never>; body: unknown; answer: Models['Success'] }
  'POST /api/previews/{id}/tiles/{tile}/{level}': { path: { id: string; tile: string; level: number }; query: Record<never, never>; body: Readonly<Record<string, unknown>>; answer: Models['Success'] }
  'DELETE /api/thumbnails/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'GET /api/thumbnails/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Blob }
  'GET /api/thumbnails/{id}/blob': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Blob }
  'GET /api/previews/{folder}/{level}/{filename}': { path: { folder: string; level: number; filename: string }; query: Record<never, never>; body: undefined; answer: Blob }
  'GET /api/thumbnails': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Thumbnail'])[] }
  'POST /api/fileThumbnail': { path: Record<never, never>; query: Record<never, never>; body: FormData; answer: { readonly id: string } }
  'POST /api/tiles': { path: Record<never, never>; query: Record<never, never>; body: FormData; answer: { readonly id: string } }
  'DELETE /api/extractions/{name}/delete': { path: { name: string }; query: { extractor_key?: string | undefined }; body: undefined; answer: Models['Success'] }
  'GET /api/extractors/{name}': { path: { name: string }; query: { extractor_key?: string | undefined }; body: undefined; answer: Models['Extractor'] }
  'GET /api/extractions/extractors_names': { path: Record<never, never>; query: { categories?: readonly (string)[] | undefined }; body: undefined; answer: { readonly Extractors: readonly (string)[] } }
  'GET /api/extractors': { path: Record<never, never>; query: { categories?: readonly (string)[] | undefined; space?: string | undefined }; body: undefined; answer: readonly (Models['Extractor'])[] }
  'POST /api/extractors': { path: Record<never, never>; query: { extractor_key?: string | undefined; user?: string | undefined }; body: Readonly<Record<string, unknown>>; answer: { readonly status: "OK"; readonly message: string } }
  'GET /api/extractors/enabled': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly enabled: readonly (string)[] } }
  'POST /api/extractors/enabled': { path: Record<never, never>; query: Record<never, never>; body: { readonly enabled: readonly (string)[] }; answer: { readonly enabled: readonly (string)[] } }
  'GET /api/spaces/{id}/extractors': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['ExtractorSelection'] }
  'PUT /api/spaces/{id}/extractors': { path: { id: string }; query: Record<never, never>; body: Models['ExtractorSelection']; answer: Models['ExtractorSelection'] }
  'POST /api/extractors/labels': { path: Record<never, never>; query: Record<never, never>; body: Models['NewExtractorLabel']; answer: Models['ExtractorLabel'] }
  'GET /api/extractors/labels': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['ExtractorLabel'])[] }
  'DELETE /api/extractors/labels/{label}': { path: { label: string }; query: Record<never, never>; body: undefined; answer: Models['ExtractorLabel'] }
  'PUT /api/extractors/labels/{label}': { path: { label: string }; query: Record<never, never>; body: Models['NewExtractorLabel']; answer: Models['ExtractorLabel'] }
  'DELETE /api/datasets/{id}/extractions/{job}': { path: { id: string; job: string }; query: Record<never, never>; body: { readonly extractor?: string }; answer: { readonly status: "OK" } }
  'DELETE /api/files/{id}/extractions/{job}': { path: { id: string; job: string }; query: Record<never, never>; body: { readonly extractor?: string }; answer: { readonly status: "OK" } }
  'GET /api/extractions/{id}/status': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Readonly<Record<string, string>> | string }
  'GET /api/datasets/{id}/isBeingProcessed': { path: { id: string }; query: Record<never, never>; body: undefined; answer: { readonly isBeingProcessed: string } }
  'GET /api/files/{id}/isBeingProcessed': { path: { id: string }; query: Record<never, never>; body: undefined; answer: { readonly isBeingProcessed: string } }
  'GET /api/datasets/{id}/extractions': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['ResourceExtraction'])[] }
  'POST /api/datasets/{id}/extractions': { path: { id: string }; query: Record<never, never>; body: Models['ExtractionRequest']; answer: Models['SubmittedJob'] }
  'POST /api/extractions/states': { path: Record<never, never>; query: Record<never, never>; body: Models['ExtractionTargets']; answer: readonly (Models['ExtractionState'])[] }
  'GET /api/files/{id}/extractions': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['ResourceExtraction'])[] }
  'POST /api/files/{id}/extractions': { path: { id: string }; query: Record<never, never>; body: Models['ExtractionRequest']; answer: Models['SubmittedJob'] }
  'GET /api/datasets/{id}/extractions/pending': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['Job'])[] }
  'GET /api/files/{id}/extractions/pending': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['Job'])[] }
  'POST /api/selected/submit/{dataset}/{file_ids}': { path: { dataset: string; file_ids: string }; query: Record<never, never>; body: Models['ExtractionRequest']; answer: { readonly status: "success"; readonly jobs: Readonly<Record<string, string>> } }
  'POST /api/datasets/{id}/filesetUploadEvent': { path: { id: string }; query: { fileids?: readonly (string)[] | undefined }; body: undefined; answer: "added new event" }
  'GET /api/files/{id}/extracted_metadata': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['ExtractedMetadata'] }
  'GET /api/extractions/{id}/metadata': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['ExtractedMetadataAndStatus'] }
  'GET /api/extractors/{name}/metrics': { path: { name: string }; query: Record<never, never>; body: undefined; answer: Models['ExtractorMetrics'] }
  'GET /api/extractions/requests': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['ExtractionLogEntry'])[] }
  'GET /api/extractions/extractors_details': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['ExtractorInstances'])[] }
  'GET /api/extractions/servers_ips': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly Servers: readonly (string)[] } }
  'GET /api/extractions/failed': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['ListedExtraction'])[] }
  'GET /api/extractions/supported_input_types': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly InputTypes: readonly (string)[] } }
  'GET /api/extractions': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['ListedExtraction'])[] }
  'GET /api/extractions/pending': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['ListedExtraction'])[] }
  'GET /api/extractions/queues': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['Queue'])[] }
  'POST /api/extractions/jobs/{job}/rerun': { path: { job: string }; query: Record<never, never>; body: undefined; answer: { readonly status: "OK"; readonly job_id: string } }
  'POST /api/files/{id}/archive': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'POST /api/datasets/{id}/queueArchival': { path: { id: string }; query: Record<never, never>; body: { readonly parameters?: Readonly<Record<string, unknown>> | null }; answer: Models['Success'] }
  'POST /api/datasets/{id}/queueUnarchival': { path: { id: string }; query: Record<never, never>; body: { readonly parameters?: Readonly<Record<string, unknown>> | null }; answer: Models['Success'] }
  'POST /api/files/{id}/sendArchiveRequest': { path: { id: string }; query: Record<never, never>; body: { readonly parameters?: Readonly<Record<string, unknown>> | null }; answer: Models['Success'] }
  'POST /api/files/{id}/sendUnarchiveRequest': { path: { id: string }; query: Record<never, never>; body: { readonly parameters?: Readonly<Record<string, unknown>> | null }; answer: Models['Success'] }
  'POST /api/files/{id}/unarchive': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'GET /api/search': { path: Record<never, never>; query: { query?: string | undefined; resource_type?: string | undefined; datasetid?: string | undefined; collectionid?: string | undefined; spaceid?: string | undefined; folderid?: string | undefined; field?: string | undefined; tag?: string | undefined; created?: string | undefined; from?: number | undefined; size?: number | undefined; page?: number | undefined; facets?: string | undefined; sort?: string | undefined; order?: string | undefined; view?: "full" | undefined }; body: undefined; answer: (Models['SearchResult'] | Models['FullSearchResult']) }
  'GET /api/search/json': { path: Record<never, never>; query: { query: string; grouping?: "AND" | "OR" | undefined; from?: number | undefined; size?: number | undefined; page?: number | undefined }; body: undefined; answer: Models['SearchResult'] }
  'GET /api/metadata/autocompletenames': { path: Record<never, never>; query: { filter?: string | undefined }; body: undefined; answer: readonly (string)[] }
  'GET /api/tags': { path: Record<never, never>; query: { prefix?: string | undefined; limit?: number | undefined; kind?: "file" | "dataset" | "collection" | undefined }; body: undefined; answer: readonly (Models['Tag'])[] }
  'GET /api/search/conditions': { path: Record<never, never>; query: { query: string }; body: undefined; answer: Models['QueryConditions'] }
  'GET /api/search/quick': { path: Record<never, never>; query: { prefix: string }; body: undefined; answer: Models['NamedResources'] }
  'GET /api/search/fields': { path: Record<never, never>; query: { prefix?: string | undefined; limit?: number | undefined }; body: undefined; answer: readonly ({ readonly field: string; readonly count: number })[] }
  'GET /api/search/values': { path: Record<never, never>; query: { field: string; prefix?: string | undefined; limit?: number | undefined }; body: undefined; answer: readonly ({ readonly value: (string | number); readonly count: number })[] }
  'GET /api/collections/{id}/reindex': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['ReindexProgress'] }
  'POST /api/collections/{id}/reindex': { path: { id: string }; query: { recursive?: boolean | undefined }; body: undefined; answer: { readonly status: string } }
  'GET /api/datasets/{id}/reindex': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['ReindexProgress'] }
  'POST /api/datasets/{id}/reindex': { path: { id: string }; query: { recursive?: boolean | undefined }; body: undefined; answer: { readonly status: string } }
  'POST /api/deleteindex': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly status: string } }
  'GET /api/files/{id}/reindex': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['ReindexProgress'] }
  'POST /api/files/{id}/reindex': { path: { id: string }; query: { recursive?: boolean | undefined }; body: undefined; answer: { readonly status: string } }
  'POST /api/reindex': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly status: string } }
  'GET /api/reindex': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['ReindexProgress'] }
  'DELETE /api/me/searches/{search}': { path: { search: string }; query: Record<never, never>; body: undefined; answer: Models['Success'] }
  'GET /api/me/searches': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['SavedSearch'])[] }
  'POST /api/me/searches': { path: Record<never, never>; query: Record<never, never>; body: Models['NewSavedSearch']; answer: Models['SavedSearch'] }
  'POST /api/datasets/{id}/addFileEvent': { path: { id: string }; query: { inFolder?: boolean | undefined; fileCount: number }; body: undefined; answer: string }
  'GET /api/events': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Event'])[] }
  'GET /api/users/{id}/activity': { path: { id: string }; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Event'])[] }
  'GET /api/live': { path: Record<never, never>; query: { kind?: readonly (string)[] | undefined; id?: readonly (string)[] | undefined; space?: readonly (string)[] | undefined; type?: readonly (string)[] | undefined; mine?: boolean | undefined; since?: string | undefined }; body: undefined; answer: string }
  'POST /api/webhooks': { path: Record<never, never>; query: Record<never, never>; body: Models['NewWebhook']; answer: Models['WebhookWithSecret'] }
  'GET /api/webhooks': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['Webhook'])[] }
  'POST /api/admin/webhooks': { path: Record<never, never>; query: Record<never, never>; body: Models['NewWebhook']; answer: Models['WebhookWithSecret'] }
  'GET /api/admin/webhooks': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['Webhook'])[] }
  'POST /api/spaces/{id}/webhooks': { path: { id: string }; query: Record<never, never>; body: Models['NewWebhook']; answer: Models['WebhookWithSecret'] }
  'GET /api/spaces/{id}/webhooks': { path: { id: string }; query: Record<never, never>; body: undefined; answer: readonly (Models['Webhook'])[] }
  'DELETE /api/webhooks/{webhook}': { path: { webhook: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'GET /api/webhooks/{webhook}': { path: { webhook: string }; query: Record<never, never>; body: undefined; answer: Models['Webhook'] }
  'PUT /api/webhooks/{webhook}': { path: { webhook: string }; query: Record<never, never>; body: Models['WebhookUpdate']; answer: Models['Webhook'] }
  'POST /api/webhooks/{webhook}/rotate': { path: { webhook: string }; query: Record<never, never>; body: undefined; answer: Models['WebhookWithSecret'] }
  'GET /api/webhooks/{webhook}/deliveries/{delivery}': { path: { webhook: string; delivery: string }; query: Record<never, never>; body: undefined; answer: Models['WebhookDelivery'] }
  'GET /api/webhooks/{webhook}/deliveries': { path: { webhook: string }; query: { state?: "waiting" | "delivered" | "failed" | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['WebhookDelivery'])[] }
  'POST /api/webhooks/{webhook}/resend': { path: { webhook: string }; query: Record<never, never>; body: Models['ResendDeliveries']; answer: Models['ResentDeliveries'] }
  'POST /api/webhooks/{webhook}/deliveries/{delivery}/resend': { path: { webhook: string; delivery: string }; query: Record<never, never>; body: undefined; answer: Models['WebhookDelivery'] }
  'POST /api/webhooks/{webhook}/test': { path: { webhook: string }; query: Record<never, never>; body: undefined; answer: Models['WebhookTest'] }
  'GET /api/status': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['Status'] }
  'GET /api/version': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly version: Models['Version'] } }
  'GET /api/tree/getChildrenOfNode': { path: Record<never, never>; query: { nodeType: "root" | "space" | "collection" | "dataset" | "folder"; nodeId?: string | undefined; mine?: boolean | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['TreeNode'])[] }
  'GET /api/datasets/{id}/entries': { path: { id: string }; query: { folder?: string | undefined; recursive?: boolean | undefined; sort?: "name" | "size" | "created" | "type" | undefined; order?: "ascending" | "descending" | undefined; filter?: string | undefined; limit?: number | undefined; skip?: number | undefined; after?: string | undefined }; body: undefined; answer: Models['EntryPage'] }
  'POST /api/changeAppearance': { path: Record<never, never>; query: Record<never, never>; body: Models['Appearance']; answer: Models['Success'] }
  'GET /api/admin/configuration': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['SiteSettings'] }
  'POST /api/admin/configuration': { path: Record<never, never>; query: Record<never, never>; body: Models['SiteSettingsChange']; answer: Models['Success'] }
  'GET /api/configuration': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['SiteSettings'] }
  'GET /api/sensors/config': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['SensorTitles'] }
  'POST /api/sensors/config': { path: Record<never, never>; query: Record<never, never>; body: Models['SensorTitles']; answer: Models['Success'] }
  'POST /api/admin/mail': { path: Record<never, never>; query: Record<never, never>; body: { readonly subject?: string | null; readonly body?: string | null }; answer: Models['Success'] }
  'POST /api/admin/mail/test': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['MailTest'] }
  'GET /api/admin/plugins': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['Plugin'])[] }
  'PUT /api/admin/plugins/{id}': { path: { id: string }; query: Record<never, never>; body: { readonly enabled: boolean }; answer: Models['Plugin'] }
  'GET /api/admin/audit': { path: Record<never, never>; query: { user?: string | undefined; actor?: string | undefined; type?: string | undefined; since?: string | undefined; until?: string | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['AuditEntry'])[] }
  'GET /api/admin/audit/csv': { path: Record<never, never>; query: { user?: string | undefined; actor?: string | undefined; type?: string | undefined; since?: string | undefined; until?: string | undefined }; body: undefined; answer: string }
  'GET /api/admin/audit/verification': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['AuditVerification'] }
  'POST /api/permissions/check': { path: Record<never, never>; query: Record<never, never>; body: Models['PermissionCheck']; answer: readonly (Models['HeldPermissions'])[] }
  'GET /api/permissions/explain': { path: Record<never, never>; query: { permission: string; user?: string | undefined; type?: string | undefined; id?: string | undefined }; body: undefined; answer: Models['PermissionExplanation'] }
  'GET /api/permissions': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (Models['Permission'])[] }
  'DELETE /api/me/notifications/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'GET /api/me/notifications/preferences': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['NotificationPreferences'] }
  'PUT /api/me/notifications/preferences': { path: Record<never, never>; query: Record<never, never>; body: Models['NotificationPreferencesUpdate']; answer: Models['NotificationPreferences'] }
  'GET /api/me/notifications': { path: Record<never, never>; query: { unread?: boolean | undefined; kind?: "mention" | "reply" | "invitation" | "request" | "role-change" | "extraction-failed" | "share" | "followed" | "webhook-paused" | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Notification'])[] }
  'PUT /api/me/notifications/{id}/read': { path: { id: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'DELETE /api/me/notifications/{id}/read': { path: { id: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'PUT /api/me/notifications/read': { path: Record<never, never>; query: { until?: string | undefined }; body: undefined; answer: undefined }
  'POST /api/users/{id}/export': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Blob }
  'GET /api/reports/metrics/collections': { path: Record<never, never>; query: { format?: "csv" | "json" | undefined }; body: undefined; answer: string | readonly (Models['CollectionReport'])[] }
  'GET /api/reports/metrics/datasets': { path: Record<never, never>; query: { since?: string | undefined; until?: string | undefined; format?: "csv" | "json" | undefined }; body: undefined; answer: string | readonly (Models['DatasetReport'])[] }
  'GET /api/reports/metrics': { path: Record<never, never>; query: { format?: "csv" | "json" | undefined }; body: undefined; answer: string | readonly (Models['ResourceReport'])[] }
  'GET /api/reports/metrics/extractors': { path: Record<never, never>; query: { since?: string | undefined; until?: string | undefined; format?: "csv" | "json" | undefined }; body: undefined; answer: string | readonly (Models['ExtractionReport'])[] }
  'GET /api/reports/metrics/files': { path: Record<never, never>; query: { since?: string | undefined; until?: string | undefined; format?: "csv" | "json" | undefined }; body: undefined; answer: string | readonly (Models['FileReport'])[] }
  'GET /api/reports/metrics/spaces': { path: Record<never, never>; query: { format?: "csv" | "json" | undefined }; body: undefined; answer: string | readonly (Models['SpaceReport'])[] }
  'GET /api/reports/storage/spaces': { path: Record<never, never>; query: { space?: string | undefined; since?: string | undefined; until?: string | undefined; format?: "csv" | "json" | undefined }; body: undefined; answer: string | readonly (Models['FileStorageReport'])[] }
  'GET /api/reports/storage/spaces/{id}': { path: { id: string }; query: { since?: string | undefined; until?: string | undefined; format?: "csv" | "json" | undefined }; body: undefined; answer: string | readonly (Models['FileStorageReport'])[] }
  'GET /api/reports/storage/users': { path: Record<never, never>; query: { since?: string | undefined; until?: string | undefined; format?: "csv" | "json" | undefined }; body: undefined; answer: string | readonly (Models['UserStorageReport'])[] }
  'GET /api/reports/metrics/users': { path: Record<never, never>; query: { format?: "csv" | "json" | undefined }; body: undefined; answer: string | readonly (Models['UserReport'])[] }
  'DELETE /api/proxy/{key}': { path: { key: string }; query: Record<never, never>; body: Blob; answer: Models['Problem'] | Models['ProblemDetails'] | Blob }
  'GET /api/proxy/{key}': { path: { key: string }; query: Record<never, never>; body: undefined; answer: Models['Problem'] | Models['ProblemDetails'] | Blob }
  'POST /api/proxy/{key}': { path: { key: string }; query: Record<never, never>; body: Blob; answer: Models['Problem'] | Models['ProblemDetails'] | Blob }
  'PUT /api/proxy/{key}': { path: { key: string }; query: Record<never, never>; body: Blob; answer: Models['Problem'] | Models['ProblemDetails'] | Blob }
  'DELETE /api/proxy/{key}/{path}': { path: { key: string; path: string }; query: Record<never, never>; body: Blob; answer: Models['Problem'] | Models['ProblemDetails'] | Blob }
  'GET /api/proxy/{key}/{path}': { path: { key: string; path: string }; query: Record<never, never>; body: undefined; answer: Models['Problem'] | Models['ProblemDetails'] | Blob }
  'POST /api/proxy/{key}/{path}': { path: { key: string; path: string }; query: Record<never, never>; body: Blob; answer: Models['Problem'] | Models['ProblemDetails'] | Blob }
  'PUT /api/proxy/{key}/{path}': { path: { key: string; path: string }; query: Record<never, never>; body: Blob; answer: Models['Problem'] | Models['ProblemDetails'] | Blob }
  'POST /api/selected/clear': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly success: string } }
  'DELETE /api/selected/files': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['SelectionReport'] }
  'GET /api/selected/files': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Blob }
  'GET /api/selected': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: readonly (string)[] }
  'POST /api/selected': { path: Record<never, never>; query: Record<never, never>; body: { readonly dataset: string }; answer: { readonly selected_count: number } }
  'POST /api/selected/tag': { path: Record<never, never>; query: { tags: readonly (string)[] }; body: undefined; answer: Models['SelectionReport'] }
  'POST /api/selected/remove': { path: Record<never, never>; query: Record<never, never>; body: { readonly dataset: string }; answer: { readonly selected_count: number } }
  'DELETE /api/bulk/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['BulkJob'] }
  'GET /api/bulk/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['BulkJob'] }
  'POST /api/bulk': { path: Record<never, never>; query: Record<never, never>; body: Models['NewBulkJob']; answer: Models['BulkJob'] }
  'GET /api/bulk': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['BulkJob'])[] }
  'GET /api/bulk/{id}/outcomes': { path: { id: string }; query: { state?: "waiting" | "done" | "failed" | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['BulkOutcome'])[] }
  'PUT /api/logos/{id}': { path: { id: string }; query: Record<never, never>; body: { readonly showText: boolean }; answer: Models['Success'] }
  'DELETE /api/logos/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'GET /api/logos/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: Models['Logo'] }
  'PUT /api/logos/{path}/{name}': { path: { path: string; name: string }; query: Record<never, never>; body: { readonly showText: boolean }; answer: Models['Success'] }
  'DELETE /api/logos/{path}/{name}': { path: { path: string; name: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'GET /api/logos/{path}/{name}': { path: { path: string; name: string }; query: Record<never, never>; body: undefined; answer: Models['Logo'] }
  'GET /api/logos/{id}/blob': { path: { id: string }; query: { default?: string | undefined }; body: undefined; answer: Blob }
  'GET /api/logos/{path}/{name}/blob': { path: { path: string; name: string }; query: { default?: string | undefined }; body: undefined; answer: Blob }
  'GET /api/logos': { path: Record<never, never>; query: { path?: string | undefined; name?: string | undefined; limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (Models['Logo'])[] }
  'POST /api/logos': { path: Record<never, never>; query: Record<never, never>; body: FormData; answer: Models['Logo'] }
  'POST /api/institutions/addinstitution': { path: Record<never, never>; query: { institution: string }; body: undefined; answer: string }
  'POST /api/projects/addproject': { path: Record<never, never>; query: { project: string }; body: undefined; answer: string }
  'GET /api/institutions': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (string)[] }
  'GET /api/projects': { path: Record<never, never>; query: { limit?: number | undefined; after?: string | undefined }; body: undefined; answer: readonly (string)[] }
  'GET /collection/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: string }
  'GET /datasets/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: string }
  'GET /files/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: string }
  'GET /': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: string }
  'GET /explore': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: string }
  'GET /signup/{token}': { path: { token: string }; query: Record<never, never>; body: undefined; answer: string }
  'GET /parts/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: string }
  'GET /spaces/{id}': { path: { id: string }; query: Record<never, never>; body: undefined; answer: string }
  'GET /web/assets/{file}': { path: { file: string }; query: Record<never, never>; body: undefined; answer: string | Blob }
  'GET /web/frame': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: string }
  'GET /previewers/{name}/{file}': { path: { name: string; file: string }; query: Record<never, never>; body: undefined; answer: undefined }
  'GET /web/parts/{digest}/{file}': { path: { digest: string; file: string }; query: Record<never, never>; body: undefined; answer: string | Blob }
  'GET /api/web/contributions': { path: Record<never, never>; query: { language?: string | undefined }; body: undefined; answer: readonly (Models['WebContribution'])[] }
  'GET /web/sample/{file}': { path: { file: string }; query: Record<never, never>; body: undefined; answer: string | Blob }
  'GET /healthz': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: string }
  'GET /readyz': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Models['Readiness'] }
  'GET /openapi.json': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly openapi: string } }
  'GET /swagger.json': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly openapi: string } }
  'GET /swagger': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: { readonly openapi: string } }
  'GET /docs': { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Blob }
  'GET /docs/{file}': { path: { file: string }; query: Record<never, never>; body: undefined; answer: Blob }
}
