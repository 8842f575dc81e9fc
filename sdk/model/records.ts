import type { Json } from '../ports/document-store.ts'
import type { LifeState, Ref } from './kind.ts'

/** ISO 8601 in UTC with milliseconds, so that string order is time order. */
export type Time = string

/** A keyword on a resource. At most 1,000 per resource. */
export interface Tag {
  readonly id: string
  readonly name: string
  readonly user: string | null
  readonly extractor: string | null
  readonly created: Time
}

/** License of a file or dataset (reference, api-data §1b). */
export interface License {
  readonly type: string
  readonly url: string
  readonly text: string
  readonly rightsHolder: string
  readonly allowDownload: boolean
}

/** View and download counts of a resource. */
export interface Statistics {
  readonly views: number
  readonly downloads: number
  readonly lastViewed: Time | null
  readonly lastDownloaded: Time | null
}
/** Initial statistics of a resource. */
export const noStatistics: Statistics = { views: 0, downloads: 0, lastViewed: null, lastDownloaded: null }

/** `TRIAL` is treated as `PRIVATE` until an admin verifies the space. */
export type SpaceAccess = 'TRIAL' | 'PRIVATE' | 'PUBLIC'
/** `DEFAULT` follows the dataset's spaces. */
export type DatasetAccess = 'PUBLIC' | 'PRIVATE' | 'DEFAULT' | 'TRIAL'
/** `CREATED`: the bytes are durable, but the extraction jobs of the upload have not been submitted. For the progress of extractors see their runs. */
export type FileStatus = 'CREATED' | 'UPLOADED' | 'PROCESSED' | 'ARCHIVED' | 'UNKNOWN'

/** A space as stored. */
export interface SpaceRecord extends Sorted {
  readonly name: string
  readonly description: string
  readonly author: string
  readonly created: Time
  readonly homePage: readonly string[]
  readonly logoUrl: string | null
  readonly bannerUrl: string | null
  readonly access: SpaceAccess
  readonly isPublic: boolean
  readonly timeToLiveMs: number
  readonly isTimeToLiveEnabled: boolean
  /** Requests to join, at most 1,000. `settling`: when acceptance of the request began. */
  readonly requests: readonly { readonly user: string; readonly at: Time; readonly message?: string; readonly settling?: Time }[]
  readonly state: LifeState
}

/** Fields that lists are sorted by. Absent in records of older versions. */
interface Sorted {
  /** `naturalKey` of the name. */
  readonly nameKey?: string
  readonly modified?: Time
}

/** A collection as stored. */
export interface CollectionRecord extends Sorted {
  readonly name: string
  readonly description: string
  readonly author: string
  readonly created: Time
  /** Its parent collections; no cycles. */
  readonly parents: readonly string[]
  readonly spaces: readonly string[]
  /** Spaces in which it is at the top level. */
  readonly rootSpaces: readonly string[]
  readonly thumbnail: string | null
  /** True when it is in a public space. */
  readonly isPublic: boolean
  /** True when it has no parent outside the trash or is at the top level of a space; lists show these. */
  readonly isTopLevel: boolean
  readonly tags: readonly Tag[]
  readonly state: LifeState
  readonly trashedAt: Time | null
}

/** A dataset as stored. */
export interface DatasetRecord extends Omit<Sorted, 'modified'> {
  readonly name: string
  readonly description: string
  readonly author: string
  readonly created: Time
  readonly modified: Time
  readonly access: DatasetAccess
  /** PUBLIC, or DEFAULT in a public space. Maintained by the datasets plugin. */
  readonly isPublic: boolean
  readonly spaces: readonly string[]
  readonly collections: readonly string[]
  readonly thumbnail: string | null
  readonly creators: readonly string[]
  readonly license: License
  readonly tags: readonly Tag[]
  readonly statistics: Statistics
  readonly state: LifeState
  readonly trashedAt: Time | null
}

/** A folder as stored. */
export interface FolderRecord {
  /** The requested name. */
  readonly name: string
  /** Unique within its parent: `name`, `name (1)` … */
  readonly displayName: string
  readonly author: string
  readonly created: Time
  readonly dataset: string
  readonly parent: { readonly kind: 'dataset' | 'folder'; readonly id: string }
}

/** The location of a file. `in` is the folder, or the dataset for its root; listings query it. */
export interface Place {
  readonly dataset: string
  readonly folder: string | null
  readonly in: string
}

/** The malware scan state of a file. */
export interface FileScan {
  /** `released`: a server admin declared the finding harmless. `skipped`: not scanned, but usable. */
  readonly state: 'pending' | 'clean' | 'infected' | 'skipped' | 'released'
  /** For infected or released files: the name of the malware. */
  readonly signature?: string
  /** Extraction was requested and starts once the bytes may be used. */
  readonly extract?: boolean
}

/** A file as stored. Its bytes are in the blob store. */
export interface FileRecord {
  readonly name: string
  /** The original name; kept on rename. */
  readonly originalName: string
  readonly description: string
  readonly author: string
  readonly created: Time
  readonly contentType: string
  readonly sizeBytes: number
  /** Hex; digest of the stored bytes. */
  readonly sha256: string
  /** Key in the `BlobStore`. */
  readonly blob: string
  readonly status: FileStatus
  readonly places: readonly Place[]
  readonly thumbnail: string | null
  readonly showPreviews: 'DatasetLevel' | 'FileLevel' | 'None'
  readonly license: License
  readonly tags: readonly Tag[]
  readonly statistics: Statistics
  /** For archived files: the last day, such as `2026-01-31`, on which an admin was notified of a request for the file. */
  readonly wantedOn?: string
  /** For imported files, until `file.created` is emitted: the content of that event. */
  readonly untold?: { readonly extract: boolean; readonly key: string | null }
  /** Absent when no scanner was installed at the time of the upload. */
  readonly scan?: FileScan
  /** Its id is derived from its upload, so that a repetition of the upload finds it. */
  readonly hasDerivedId?: true
}

/** One JSON-LD document on a resource. Context and content are stored unchanged. */
export interface MetadataRecord {
  readonly target: Ref
  /** Absent if none was sent. */
  readonly context?: Json
  readonly agent: {
    readonly kind: 'extractor' | 'user'
    readonly name: string
    /** Absolute URLs. */
    readonly extractorId: string | null
    readonly userId: string | null
    /** The author according to the imported bag: unverified text, not an identity. */
    readonly attributedTo?: string
  }
  readonly content: Json
  readonly created: Time
  /** Account that submitted it, if any. */
  readonly author: string | null
}

/** A section of a file: a region of an image, a time range of a recording. */
export interface SectionRecord {
  readonly file: string
  /** Account that created it; rights are derived from the file alone. */
  readonly author: string | null
  readonly created: Time
  /** Seconds from the start of the file. */
  readonly startTime: number | null
  readonly endTime: number | null
  readonly order: number | null
  readonly area: { readonly x: number; readonly y: number; readonly w: number; readonly h: number } | null
  readonly description: string
  readonly thumbnail: string | null
  readonly tags: readonly Tag[]
  /** Additional members as sent, stored unchanged. */
  readonly more: Readonly<Record<string, Json>>
}

/** A comment as stored. */
export interface CommentRecord {
  readonly target: Ref
  /** The comment it replies to. */
  readonly parent: string | null
  /** That comment and its ancestors, topmost first. Absent in comments older than this feature. */
  readonly above?: readonly string[]
  readonly author: string
  readonly text: string
  readonly posted: Time
}

/** A derived image, text, … of a file, dataset, collection or section; initially not attached to anything. */
export interface PreviewRecord {
  readonly blob: string
  readonly sizeBytes: number
  readonly contentType: string
  readonly filename: string
  readonly title: string | null
  readonly target: Ref | null
  readonly extractor: string
  readonly metadata: Readonly<Record<string, Json>>
  readonly author: string | null
  /** The job whose key was used for the upload. */
  readonly job?: string
  readonly created: Time
}

/** A thumbnail as stored. Its bytes are in the blob store. */
export interface ThumbnailRecord {
  readonly blob: string
  readonly sizeBytes: number
  readonly contentType: string
  readonly filename: string
  readonly target: Ref | null
  /** Later than that of all thumbnails attached to the target before; null until it is attached. */
  readonly attached: Time | null
  readonly author: string | null
  /** The job whose key was used for the upload. */
  readonly job?: string
  readonly created: Time
}
