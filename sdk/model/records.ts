import type { Json } from '../ports/document-store.ts'
import type { LifeState, Ref } from './kind.ts'

/** ISO 8601 in UTC with milliseconds, so that text order is time order. */
export type Time = string

/** A word or short phrase that someone put on a resource. At most 1,000 on one resource. */
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

/** How often a resource was looked at and fetched. */
export interface Statistics {
  readonly views: number
  readonly downloads: number
  readonly lastViewed: Time | null
  readonly lastDownloaded: Time | null
}
/** Of a resource that no one has viewed or downloaded. */
export const noStatistics: Statistics = { views: 0, downloads: 0, lastViewed: null, lastDownloaded: null }

/** `TRIAL` counts as `PRIVATE` until an admin has verified the space. */
export type SpaceAccess = 'TRIAL' | 'PRIVATE' | 'PUBLIC'
/** `DEFAULT` follows the dataset's spaces. */
export type DatasetAccess = 'PUBLIC' | 'PRIVATE' | 'DEFAULT' | 'TRIAL'
/** `CREATED`: the bytes are durable, and the jobs of the upload are not submitted yet. How far extractors are is said by their runs. */
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
  /** People who requested to join, at most 1,000. `settling`: since when their request is being accepted. */
  readonly requests: readonly { readonly user: string; readonly at: Time; readonly message?: string; readonly settling?: Time }[]
  readonly state: LifeState
}

/** What lists are sorted by. Absent in records of older versions. */
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
  /** Collections it is in; no cycles. */
  readonly parents: readonly string[]
  readonly spaces: readonly string[]
  /** Spaces in which it stands at the top. */
  readonly rootSpaces: readonly string[]
  readonly thumbnail: string | null
  /** In a public space. */
  readonly isPublic: boolean
  /** True when nothing outside of the trash contains it, or it stands at the top of a space: what lists show. */
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
  /** PUBLIC, or DEFAULT in a public space. Kept up to date by the datasets plugin. */
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
  /** As requested. */
  readonly name: string
  /** Unique in its parent: `name`, `name (1)` … */
  readonly displayName: string
  readonly author: string
  readonly created: Time
  readonly dataset: string
  readonly parent: { readonly kind: 'dataset' | 'folder'; readonly id: string }
}

/** Where a file lies. `in` is the folder, or the dataset for its root: what a listing requests. */
export interface Place {
  readonly dataset: string
  readonly folder: string | null
  readonly in: string
}

/** What is known of malware in a file. */
export interface FileScan {
  /** `released`: a server admin says that the signature found nothing bad. `skipped`: not scanned, and usable. */
  readonly state: 'pending' | 'clean' | 'infected' | 'skipped' | 'released'
  /** Of an infected or released file: what was found. */
  readonly signature?: string
  /** Extraction was requested and waits until the bytes may be used. */
  readonly extract?: boolean
}

/** A file as stored. Its bytes are in the blob store. */
export interface FileRecord {
  readonly name: string
  /** The name it came with; kept on rename. */
  readonly originalName: string
  readonly description: string
  readonly author: string
  readonly created: Time
  readonly contentType: string
  readonly sizeBytes: number
  /** Hex; of the bytes as stored. */
  readonly sha256: string
  /** Key in the BlobStore. */
  readonly blob: string
  readonly status: FileStatus
  readonly places: readonly Place[]
  readonly thumbnail: string | null
  readonly showPreviews: 'DatasetLevel' | 'FileLevel' | 'None'
  readonly license: License
  readonly tags: readonly Tag[]
  readonly statistics: Statistics
  /** Of an archived file: the last day, as `2026-01-31`, on which an admin was notified of a request for it. */
  readonly wantedOn?: string
  /** Of a file that came with an import, until its `file.created` is out: what that will say. */
  readonly untold?: { readonly extract: boolean; readonly key: string | null }
  /** What is known of malware in it; absent where no scanner ran when it came. */
  readonly scan?: FileScan
}

/** One JSON-LD document on a resource. Context and content are kept verbatim. */
export interface MetadataRecord {
  readonly target: Ref
  /** Absent member when none was given. */
  readonly context?: Json
  readonly agent: {
    readonly kind: 'extractor' | 'user'
    readonly name: string
    /** Absolute URLs. */
    readonly extractorId: string | null
    readonly userId: string | null
    /** Whom the bag that it came in named as its author: text that no one has verified, and no identity. */
    readonly attributedTo?: string
  }
  readonly content: Json
  readonly created: Time
  /** Account that sent it, if any. */
  readonly author: string | null
}

/** A part of a file: of a picture, a stretch of a recording. */
export interface SectionRecord {
  readonly file: string
  /** Account that made it; rights are the file's alone. */
  readonly author: string | null
  readonly created: Time
  /** Seconds from the beginning of the file. */
  readonly startTime: number | null
  readonly endTime: number | null
  readonly order: number | null
  readonly area: { readonly x: number; readonly y: number; readonly w: number; readonly h: number } | null
  readonly description: string
  readonly thumbnail: string | null
  readonly tags: readonly Tag[]
  /** Members that were sent besides, kept verbatim. */
  readonly more: Readonly<Record<string, Json>>
}

/** A comment as stored. */
export interface CommentRecord {
  readonly target: Ref
  /** The comment that this one answers. */
  readonly parent: string | null
  /** That comment and all above it, the topmost first. Absent in those that were written before there were replies. */
  readonly above?: readonly string[]
  readonly author: string
  readonly text: string
  readonly posted: Time
}

/** A derived picture, text, … of a file, dataset, collection or section; attached to nothing at first. */
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
  /** The job whose key uploaded it. */
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
  readonly author: string | null
  /** The job whose key uploaded it. */
  readonly job?: string
  readonly created: Time
}
