import {
  Clock,
  CommitConflict,
  DocumentStore,
  eq,
  event,
  type JobStatus,
  type Kind,
  type Page,
  port,
  type Ref,
  type Stored,
  type Update,
  wire,
} from 'pounce/sdk'
import { type ExtractionRecord, extractions } from './collections.ts'

type Extraction = ExtractionRecord & Stored

const keptLines = 100

/** Nothing more comes after these: any form of done, pyclowder's error, our own words for a cancelled run. */
export const isFinal = (status: string): boolean =>
  status === 'DONE' || status.includes('StatusMessage.error') || status === 'Cancel Success'

/** As v1 stores it: anything with "done" in it is exactly DONE; keys that slipped into an error text are masked. */
export const tidyStatus = (status: string): string =>
  status.toUpperCase().includes('DONE') ? 'DONE' : status.replace(/key=[^&\s]+/g, 'key=…').slice(0, 2000)

/** The runs that were asked for, and what became of them. */
export class StoredExtractions {
  #documents: DocumentStore
  #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  get(id: string): Promise<Extraction | undefined> {
    return this.#documents.get(extractions, id)
  }

  /** The newest thousand runs on a thing, newest first. */
  of(target: Ref): Promise<Page<Extraction>> {
    const sort = { by: 'start', order: 'descending' } as const
    return this.#documents.find(extractions, { using: 'byTarget', where: eq('target.id', target.id), sort, limit: 1000 })
  }

  /** Notes that a run was asked for; true when it is not finished yet. A repeat changes nothing. */
  async submitted(
    id: string,
    run: { target: Ref; extractor: string; user: string | null; trigger: 'upload' | 'manual' },
  ): Promise<boolean> {
    const at = this.#clock.now().toISOString()
    const record = { ...run, isFinished: false, status: 'SUBMITTED', lines: [{ status: 'SUBMITTED', at }], start: at, end: null }
    const { target, extractor } = run
    try {
      await this.#documents.commit({ insert: { id, ...record }, into: extractions }, [
        event('extraction.submitted', { kind: 'job', id }, { target, extractor }, run.user ?? undefined),
      ])
      return true
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
      return (await this.get(id))?.isFinished === false
    }
  }

  /** Takes in news. Repeats and wrong order do no harm: a finished run stays finished. News of unknown jobs is dropped. */
  async heard({ jobId, status: raw, at }: JobStatus): Promise<void> {
    const run = jobId === undefined ? undefined : await this.get(jobId)
    if (!run || run.isFinished) return
    const status = tidyStatus(raw)
    const isFinished = isFinal(status)
    const line = { status, at: at.toISOString() }
    const update: Update = {
      set: { status, ...(isFinished ? { isFinished, end: line.at } : {}) },
      push: { lines: { values: [line], keepLast: keptLines } },
    }
    const news = event('extraction.status', { kind: 'job', id: run.id }, { target: run.target, extractor: run.extractor })
    try {
      await this.#documents.commit({ update: run.id, in: extractions, where: eq('isFinished', false), ...update }, isFinished ? [news] : [])
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  /** Ends a run in our own words, such as `Cancel Success`. */
  async ended(id: string, status: string): Promise<void> {
    const run = await this.get(id)
    if (run) await this.heard({ jobId: id, targetId: run.target.id, extractor: run.extractor, status, at: this.#clock.now() })
  }

  /** Forgets the runs on a thing that is gone. */
  async forget(target: { readonly kind: Kind; readonly id: string }): Promise<void> {
    for (;;) {
      const { items } = await this.of(target)
      if (items.length === 0) return
      const outcome = await this.#documents.commitEach(items.map(({ id }) => ({ change: { tombstone: id, in: extractions } })))
      for (const each of outcome) if (!each.ok && !(each.error instanceof CommitConflict)) throw each.error
    }
  }
}
wire(StoredExtractions, DocumentStore, Clock)

export const Extractions = port<StoredExtractions>('extractions.runs')
