import { type AnyEvent, type BatchHandler, DocumentStore, Files, type Job, namedBy, type Ref, type StoredEvent, wire } from 'pounce/sdk'
import { AllTransports, type Carriers } from './carriers.ts'
import { extractions } from './collections.ts'
import { Choices, type StoredChoices } from './stored-choices.ts'
import { Extractions, type StoredExtractions, type Target } from './stored-extractions.ts'
import { type Waking, WakingExtractors } from './waking.ts'

/** As many jobs as a transport takes at once. */
const batch = 1000

const publish = async (carriers: Carriers, jobs: readonly Job[]): Promise<void> => {
  for (let at = 0; at < jobs.length; at += batch) await carriers.publish(jobs.slice(at, at + batch))
}

/** A new file in a dataset wakes the extractors that take its media type. */
export class WakeExtractors {
  #files: Files
  #waking: Waking
  #carriers: Carriers

  constructor(files: Files, waking: Waking, carriers: Carriers) {
    this.#files = files
    this.#waking = waking
    this.#carriers = carriers
  }

  async handle({ subject, actor, data }: StoredEvent<'file.created'>): Promise<void> {
    const file = data.extract && data.dataset !== null ? await this.#files.get(subject.id) : undefined
    if (!file || data.dataset === null) return
    const jobs = await this.#waking.uploaded(file, data.dataset, actor)
    // Extractors elsewhere may be away for hours: as in v1, the file does not wait for them.
    const here = jobs.filter(({ queue, target }) => target.kind === 'file' && this.#carriers.runsHere(queue))
    await this.#files.jobsChanged(file.id, { add: here.map(job => job.id) })
    await publish(this.#carriers, jobs)
  }
}
wire(WakeExtractors, Files, WakingExtractors, AllTransports)

/** A file that leaves datasets wakes the extractors that want to know. */
export class WakeOnRemoval implements BatchHandler {
  #waking: Waking
  #carriers: Carriers

  constructor(waking: Waking, carriers: Carriers) {
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
wire(WakeOnRemoval, WakingExtractors, AllTransports)

const isTarget = (ref: Ref): ref is Target => ref.kind === 'file' || ref.kind === 'dataset'

/** Metadata that comes or goes wakes the extractors that want to know: few, so that hardly any event gives work. */
export class WakeOnMetadata implements BatchHandler {
  #waking: Waking
  #carriers: Carriers

  constructor(waking: Waking, carriers: Carriers) {
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
wire(WakeOnMetadata, WakingExtractors, AllTransports)

/** When the last run of an upload has ended, the file is PROCESSED. */
export class FinishUpload {
  #files: Files
  #extractions: StoredExtractions

  constructor(files: Files, extractions: StoredExtractions) {
    this.#files = files
    this.#extractions = extractions
  }

  async handle({ subject, data: { target } }: StoredEvent<'extraction.status'>): Promise<void> {
    const run = await this.#extractions.get(subject.id)
    if (run && run.state !== 'open' && run.trigger === 'upload' && target.kind === 'file') {
      await this.#files.jobsChanged(target.id, { done: [run.id] })
    }
  }
}
wire(FinishUpload, Files, Extractions)

/** Runs are forgotten with what they ran on. */
export class FollowTarget implements BatchHandler {
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
wire(FollowTarget, DocumentStore, Extractions)

/** What a space said of extractors is forgotten with it. */
export class FollowSpace {
  #choices: StoredChoices

  constructor(choices: StoredChoices) {
    this.#choices = choices
  }

  async handle({ subject }: StoredEvent<'space.removed'>): Promise<void> {
    await this.#choices.forget(subject.id)
  }
}
wire(FollowSpace, Choices)
