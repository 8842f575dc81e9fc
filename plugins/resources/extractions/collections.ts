import { collection, type ExtractorInfo, type Json, type Ref, type Time } from 'pounce/sdk'

/** A registered extractor. */
export interface ExtractorRecord {
  /** Its queue: the name, or `private.<key>.<name>`. An extractor that registers again has the same one. */
  readonly identity: string
  readonly name: string
  /** The key of a private extractor; null for public ones. */
  readonly key: string | null
  readonly info: ExtractorInfo
  readonly updated: Time
  /** The account that registered it over HTTP, or the owner of a private one. */
  readonly owner: string | null
  /** Built into Pounce. */
  readonly isBuiltIn: boolean
  /** Accounts that may see and use a private one. */
  readonly permissions: readonly string[]
}
export const extractors = collection<ExtractorRecord>()('extractors', {
  byIdentity: { on: ['identity'], unique: true },
  byName: { on: ['name'] },
  byOwner: { on: ['owner'] },
})

/** The extractors that run automatically: by default (under the id `global`, where nothing is disabled), or in the space with the id. */
export interface ChoiceRecord {
  readonly enabled: readonly string[]
  readonly disabled: readonly string[]
}
export const choices = collection<ChoiceRecord>()('extractor-choices')

/** A label for extractors, in a category. */
export interface LabelRecord {
  readonly name: string
  readonly category: string | null
  readonly extractors: readonly string[]
}
export const labels = collection<LabelRecord>()('extractor-labels', { byName: { on: ['name'], unique: true } })

/** One status message. */
export interface StatusLine {
  readonly status: string
  /** According to the extractor's clock. */
  readonly at: Time
  /** Time of arrival; absent in old lines and in our own. */
  readonly heard?: Time
}

/** `open` until a final status arrives. */
export type RunState = 'open' | 'done' | 'failed' | 'cancelled'
/** The cause of a run: an upload, another event, a user, or an archival request. */
export type Trigger = 'upload' | 'event' | 'manual' | 'archive'

/** A requested run with its status messages; the id is that of the job. Kept after the job has ended. */
export interface ExtractionRecord {
  readonly target: Ref
  /** The extractor's name, without the parts that make it private. */
  readonly extractor: string
  readonly queue: string
  /** The account on whose behalf it runs. */
  readonly user: string | null
  readonly state: RunState
  readonly status: string
  /** The latest hundred lines, in chronological order. */
  readonly lines: readonly StatusLine[]
  readonly start: Time
  readonly end: Time | null
  /** When this server received the final status; `end` is the time according to the extractor's clock. Null while the run is open. */
  readonly endHeard?: Time | null
  /** Upper bound for the validity of the job's keys, because the key with which it was submitted expires then. */
  readonly keysUntil?: Time
  readonly trigger: Trigger
  /** Extractors whose metadata led to this run, the first one first: none of them is triggered by its results. */
  readonly chain: readonly string[]
}
export const extractions = collection<ExtractionRecord>()('extractions', {
  byTarget: { on: ['target.id', 'start'] },
  byState: { on: ['state', 'start'] },
  byQueue: { on: ['queue', 'start'] },
  byStart: { on: ['start'] },
})

/** A request to archive or restore all files of a dataset; deleted once all are submitted. */
export interface ArchivalRecord {
  readonly dataset: string
  readonly operation: 'archive' | 'unarchive'
  readonly parameters: Readonly<Record<string, Json>>
  readonly user: string | null
  /** Whether the request was sent in superadmin mode. */
  readonly isSuperAdmin?: boolean
}
export const archivals = collection<ArchivalRecord>()('archival-requests')
