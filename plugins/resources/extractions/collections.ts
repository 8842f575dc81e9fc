import { collection, type ExtractorInfo, type Ref, type Time } from 'pounce/sdk'

/** An extractor that said it exists. */
export interface ExtractorRecord {
  /** Name, or name and private key: the same extractor registers again under it. */
  readonly identity: string
  readonly name: string
  readonly info: ExtractorInfo
  readonly updated: Time
  /** Who registered it; null for those that Pounce runs itself. Nobody else can change it. */
  readonly owner: string | null
  /** Runs by itself on what it says it processes. */
  readonly isEnabled: boolean
}
export const extractors = collection<ExtractorRecord>('extractors', {
  byIdentity: { on: ['identity'], unique: true },
  byName: { on: ['name'] },
})

/** One line of news. */
export interface StatusLine {
  readonly status: string
  readonly at: Time
}

/** One run that was asked for, with its news; the id is the job's. Kept when the job is done. */
export interface ExtractionRecord {
  readonly target: Ref
  readonly extractor: string
  /** Account in whose name it runs. */
  readonly user: string | null
  readonly isFinished: boolean
  readonly status: string
  /** The newest hundred lines. */
  readonly lines: readonly StatusLine[]
  readonly start: Time
  readonly end: Time | null
  readonly trigger: 'upload' | 'manual'
}
export const extractions = collection<ExtractionRecord>('extractions', {
  byTarget: { on: ['target.id', 'start'] },
})
