import { collection, type ExtractorInfo, type Json, type Ref, type Time } from 'pounce/sdk'

/** An extractor that said it exists. */
export interface ExtractorRecord {
  /** Its queue: the name, or `private.<key>.<name>`. The same extractor registers again under it. */
  readonly identity: string
  readonly name: string
  /** The key that makes it private; null for public ones. */
  readonly key: string | null
  readonly info: ExtractorInfo
  readonly updated: Time
  /** Who registered it over HTTP, or whose private one it is. */
  readonly owner: string | null
  /** Pounce runs it itself. */
  readonly isBuiltIn: boolean
  /** Who may see and use a private one. */
  readonly permissions: readonly string[]
}
export const extractors = collection<ExtractorRecord>()('extractors', {
  byIdentity: { on: ['identity'], unique: true },
  byName: { on: ['name'] },
  byOwner: { on: ['owner'] },
})

/** Which extractors run by themselves: everywhere (under the id `global`, where nothing is disabled), or in the space of the id. */
export interface ChoiceRecord {
  readonly enabled: readonly string[]
  readonly disabled: readonly string[]
}
export const choices = collection<ChoiceRecord>()('extractor-choices')

/** A word for extractors, in a category. */
export interface LabelRecord {
  readonly name: string
  readonly category: string | null
  readonly extractors: readonly string[]
}
export const labels = collection<LabelRecord>()('extractor-labels', { byName: { on: ['name'], unique: true } })

/** One status message. */
export interface StatusLine {
  readonly status: string
  /** By the clock of its extractor. */
  readonly at: Time
  /** When it arrived here; absent in old ones and in our own. */
  readonly heard?: Time
}

/** `open` until there is a last word. */
export type RunState = 'open' | 'done' | 'failed' | 'cancelled'
/** The cause of a run: an upload, another event, a person, or a request to archive. */
export type Trigger = 'upload' | 'event' | 'manual' | 'archive'

/** One requested run, with its status messages; the id is the job's. Kept when the job is done. */
export interface ExtractionRecord {
  readonly target: Ref
  /** The extractor's name, without what makes it private. */
  readonly extractor: string
  readonly queue: string
  /** Account in whose name it runs. */
  readonly user: string | null
  readonly state: RunState
  readonly status: string
  /** The newest hundred lines, in the order of their time. */
  readonly lines: readonly StatusLine[]
  readonly start: Time
  readonly end: Time | null
  /** When this server received the end; `end` is the time of the extractor's clock. Null while it is open. */
  readonly endHeard?: Time | null
  /** No key of the job is valid from then on: the key with which it was submitted is not, either. */
  readonly keysUntil?: Time
  readonly trigger: Trigger
  /** Extractors whose metadata led to this run, the first one first: none of them is woken by what comes of it. */
  readonly chain: readonly string[]
}
export const extractions = collection<ExtractionRecord>()('extractions', {
  byTarget: { on: ['target.id', 'start'] },
  byState: { on: ['state', 'start'] },
  byQueue: { on: ['queue', 'start'] },
  byStart: { on: ['start'] },
})

/** A request to archive or restore all files of a dataset; deleted when all are submitted. */
export interface ArchivalRecord {
  readonly dataset: string
  readonly operation: 'archive' | 'unarchive'
  readonly parameters: Readonly<Record<string, Json>>
  readonly user: string | null
}
export const archivals = collection<ArchivalRecord>()('archival-requests')
