import {
  type AnyEvent,
  type BatchHandler,
  CommitConflict,
  DocumentStore,
  eq,
  event,
  Files,
  type Job,
  NotFound,
  namedBy,
  type Ref,
  type StoredEvent,
  wire,
} from 'pounce/sdk'
import { extractions } from './collections.ts'
import { EnabledExtractors } from './enabled-extractors.ts'
import { ExtractionTriggers } from './extraction-triggers.ts'
import { StoredExtractions, type Target } from './stored-extractions.ts'
import { TransportRouter } from './transport-router.ts'

/** As many jobs as a transport takes at once. */
const batch = 1000

const publish = async (carriers: TransportRouter, jobs: readonly Job[]): Promise<void> => {
  for (let at = 0; at < jobs.length; at += batch) await carriers.publish(jobs.slice(at, at + batch))
}

/** A new file in a dataset wakes the extractors that take its media type, after its scan for malware where one is due. */
export class EnqueueJobsOnFileCreated {
  #files: Files
  #waking: ExtractionTriggers
  #carriers: TransportRouter

  constructor(files: Files, waking: ExtractionTriggers, carriers: TransportRouter) {
    this.#files = files
    this.#waking = waking
    this.#carriers = carriers
  }

  async handle({ subject, actor, data }: StoredEvent<'file.created' | 'file.scanned'>): Promise<void> {
    // `file.scanned` follows once the bytes may be used, and `file.quarantined` otherwise.
    if ('awaitsScan' in data && data.awaitsScan) return
    const file = data.extract ? await this.#files.get(subject.id) : undefined
    if (!file) return
    const jobs = data.dataset === null ? [] : await this.#waking.uploaded(file, data.dataset, actor)
    // The runs are recorded, and this event has them published however often that fails: the file does not wait for a bus that is unavailable.
    if (file.status === 'CREATED') await this.#submitted(file.id)
    await publish(this.#carriers, jobs)
  }

  async #submitted(id: string): Promise<void> {
    const change = { set: { status: 'PROCESSED' }, where: eq('status', 'CREATED') }
    try {
      await this.#files.change(id, change, [event('file.updated', { kind: 'file', id }, { fields: ['status'] })])
    } catch (error) {
      // Archived, in quarantine, or gone meanwhile.
      if (!(error instanceof CommitConflict || error instanceof NotFound)) throw error
    }
  }
}
wire(EnqueueJobsOnFileCreated, Files, ExtractionTriggers, TransportRouter)

/** A file that leaves datasets wakes the extractors that want to know. */
export class EnqueueJobsOnFileRemoved implements BatchHandler {
  #waking: ExtractionTriggers
  #carriers: TransportRouter

  constructor(waking: ExtractionTriggers, carriers: TransportRouter) {
    this.#waking = waking
    this.#carriers = carriers
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    for (const event of events) {
      if (event.type !== 'file.removed') continue
      const { subject, actor, data } = event
      const file = { id: subject.id, name: data.name, contentType: data.contentType, sizeBytes: data.sizeBytes }
      for (const dataset of data.datasets) await publish(this.#carriers, await this.#waking.removed(file, dataset, actor))
    }
  }
}
wire(EnqueueJobsOnFileRemoved, ExtractionTriggers, TransportRouter)

const isTarget = (ref: Ref): ref is Target => ref.kind === 'file' || ref.kind === 'dataset'

/** Metadata that comes or goes wakes the extractors that want to know: few, so that hardly any event gives work. */
export class EnqueueJobsOnMetadataChanged implements BatchHandler {
  #waking: ExtractionTriggers
  #carriers: TransportRouter

  constructor(waking: ExtractionTriggers, carriers: TransportRouter) {
    this.#waking = waking
    this.#carriers = carriers
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    for (const event of events) {
      if (event.type !== 'metadata.added' && event.type !== 'metadata.removed') continue
      const { type, subject, actor, data } = event
      if (!isTarget(data.target)) continue
      const wake = type === 'metadata.added' ? this.#waking.metadataAdded : this.#waking.metadataRemoved
      await publish(this.#carriers, await wake.call(this.#waking, subject.id, data.target, actor))
    }
  }
}
wire(EnqueueJobsOnMetadataChanged, ExtractionTriggers, TransportRouter)

/** Runs are forgotten with what they ran on. */
export class DeleteRunsOnTargetRemoved implements BatchHandler {
  #documents: DocumentStore
  #extractions: StoredExtractions

  constructor(documents: DocumentStore, stored: StoredExtractions) {
    this.#documents = documents
    this.#extractions = stored
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const gone = events.map(({ subject }) => subject.id)
    const run = await namedBy(this.#documents, extractions, { using: 'byTarget', field: 'target.id', of: one => one.target.id }, gone)
    for (const { subject } of events) if (run.has(subject.id)) await this.#extractions.forget(subject)
  }
}
wire(DeleteRunsOnTargetRemoved, DocumentStore, StoredExtractions)

/** What a space said of extractors is forgotten with it. */
export class DeleteExtractorChoicesOnSpaceRemoved {
  #choices: EnabledExtractors

  constructor(choices: EnabledExtractors) {
    this.#choices = choices
  }

  async handle({ subject }: StoredEvent<'space.removed'>): Promise<void> {
    await this.#choices.forget(subject.id)
  }
}
wire(DeleteExtractorChoicesOnSpaceRemoved, EnabledExtractors)
